package wecomsim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

// Corp is a company and what its console says. The zero value of every field
// but ID is a working one.
type Corp struct {
	ID   string `json:"id"`
	Apps []App  `json:"apps,omitempty"`
	// TrustedIPs, when there are any, are the only ones that may call.
	TrustedIPs []string `json:"trusted_ips,omitempty"`
	// OpenRoster makes every user ID a member in good standing unless SetStaff
	// says otherwise, which spares seeding them.
	OpenRoster bool     `json:"open_roster,omitempty"`
	Callback   Callback `json:"callback,omitzero"`
}

// App is one secret of a corp; each has a token of its own.
type App struct {
	Secret     string `json:"secret"`
	Disabled   bool   `json:"disabled,omitempty"`    // its calls get 50003
	NotAllowed bool   `json:"not_allowed,omitempty"` // its calls get 48002
}

// Callback is where the corp's events go. With Deliver they go there as a
// value; else with a URL encrypted and POSTed; else nowhere.
type Callback struct {
	URL            string `json:"url,omitempty"`
	Token          string `json:"token,omitempty"`
	EncodingAESKey string `json:"encoding_aes_key,omitempty"`
	ReceiveID      string `json:"receive_id,omitempty"` // "" is the corp's ID
	// Deliver takes an event; an error counts as an answer other than 200.
	Deliver func(ctx context.Context, e Event) error `json:"-"`
}

// Staff is one member of a corp. The zero value of every field but UserID is
// a member who may be listed on a contact way.
type Staff struct {
	UserID       string `json:"user_id"`
	Departments  []int  `json:"departments,omitempty"`
	NotActivated bool   `json:"not_activated,omitempty"` // 41054
	NotVerified  bool   `json:"not_verified,omitempty"`  // 40098
	NoPermission bool   `json:"no_permission,omitempty"` // 84074
	NotVisible   bool   `json:"not_visible,omitempty"`   // 60011
}

// refusal is the code with which the member is refused; 0 is none.
func (m Staff) refusal() int {
	switch {
	case m.NotActivated:
		return codeNotActivated
	case m.NotVerified:
		return codeNotVerified
	case m.NoPermission:
		return codeNoPermission
	case m.NotVisible:
		return codeNotVisible
	}
	return codeOK
}

// corp is a company with its staff and contact ways.
type corp struct {
	mu     sync.RWMutex
	prefix string // of its config_ids
	conf   Corp
	codec  *wecomcrypto.Codec // nil without a callback URL
	staff  map[string]Staff
	depts  map[int]map[string]bool
	ways   map[string]*way
	order  []*way // in the order of their creation, deleted ones included
	nextID uint64
}

// SetCorp adds a corp or replaces its settings; staff and ways stay. It fails
// when the ID is empty or the callback's key is malformed.
func (s *Sim) SetCorp(conf Corp) error {
	if conf.ID == "" {
		return fmt.Errorf("set corp: no ID")
	}
	var codec *wecomcrypto.Codec
	if conf.Callback.URL != "" {
		var err error
		receiver := orDefault(conf.Callback.ReceiveID, conf.ID)
		if codec, err = wecomcrypto.New(conf.Callback.Token, conf.Callback.EncodingAESKey, receiver); err != nil {
			return fmt.Errorf("set corp %s: %w", conf.ID, err)
		}
	}
	conf.Apps, conf.TrustedIPs = slices.Clone(conf.Apps), slices.Clone(conf.TrustedIPs)
	c := s.corpOrNew(conf.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conf, c.codec = conf, codec
	return nil
}

// Corps returns the settings of all corps, sorted by ID.
func (s *Sim) Corps() []Corp {
	s.mu.RLock()
	corps := slices.Collect(maps.Values(s.corps))
	s.mu.RUnlock()
	out := make([]Corp, 0, len(corps))
	for _, c := range corps {
		out = append(out, c.settings())
	}
	slices.SortFunc(out, func(a, b Corp) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// RemoveCorp forgets a corp with all it has, its tokens included, and reports
// whether there was one of that ID.
func (s *Sim) RemoveCorp(id string) bool {
	s.mu.Lock()
	_, ok := s.corps[id]
	delete(s.corps, id)
	s.mu.Unlock()
	s.tokens.invalidate(id)
	return ok
}

// SetStaff adds members to a corp or replaces those of the same user ID. It
// fails with ErrUnknownCorp, or when a user ID is empty.
func (s *Sim) SetStaff(corpID string, staff ...Staff) error {
	c, ok := s.corp(corpID)
	if !ok {
		return fmt.Errorf("set staff of %s: %w", corpID, ErrUnknownCorp)
	}
	if slices.ContainsFunc(staff, func(m Staff) bool { return m.UserID == "" }) {
		return fmt.Errorf("set staff of %s: a user ID is empty", corpID)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range staff {
		c.forgetStaff(m.UserID)
		m.Departments = slices.Clone(m.Departments)
		c.staff[m.UserID] = m
		for _, d := range m.Departments {
			if c.depts[d] == nil {
				c.depts[d] = map[string]bool{}
			}
			c.depts[d][m.UserID] = true
		}
	}
	return nil
}

// RemoveStaff takes a member out (he resigned; contact ways keep listing him,
// new lists may not) and reports whether there was one.
func (s *Sim) RemoveStaff(corpID, userID string) bool {
	c, ok := s.corp(corpID)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forgetStaff(userID)
}

// Staff returns the members of a corp, sorted by user ID.
func (s *Sim) Staff(corpID string) []Staff {
	c, ok := s.corp(corpID)
	if !ok {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.SortedFunc(maps.Values(c.staff), func(a, b Staff) int { return strings.Compare(a.UserID, b.UserID) })
}

func (s *Sim) corp(id string) (*corp, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.corps[id]
	return c, ok
}

func (s *Sim) corpOrNew(id string) *corp {
	if c, ok := s.corp(id); ok {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.corps[id]; ok {
		return c
	}
	c := &corp{
		prefix: idPrefix(id), conf: Corp{ID: id},
		staff: map[string]Staff{}, depts: map[int]map[string]bool{}, ways: map[string]*way{},
	}
	s.corps[id] = c
	return c
}

func (c *corp) settings() Corp {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.conf
}

// forgetStaff removes a member from staff and departments. The caller holds mu.
func (c *corp) forgetStaff(userID string) bool {
	old, ok := c.staff[userID]
	for _, d := range old.Departments {
		delete(c.depts[d], userID)
		if len(c.depts[d]) == 0 {
			delete(c.depts, d)
		}
	}
	delete(c.staff, userID)
	return ok
}
