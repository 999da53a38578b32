package wecomsim

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"iter"
	"slices"
	"time"
)

// The types of a contact way.
const (
	SingleUser = 1
	MultiUser  = 2
)

// The scenes of a contact way.
const (
	MiniProgram = 1
	QRCode      = 2
)

// Way is a contact way as WeCom holds it. Its slices are shared: read them only.
type Way struct {
	ConfigID   string   `json:"config_id"`
	Type       int      `json:"type"`  // SingleUser or MultiUser
	Scene      int      `json:"scene"` // MiniProgram or QRCode
	Style      int      `json:"style,omitempty"`
	Remark     string   `json:"remark,omitempty"`
	SkipVerify bool     `json:"skip_verify"`
	State      string   `json:"state,omitempty"`
	Users      []string `json:"user"`
	Parties    []int    `json:"party,omitempty"`
	Extras     *Extras  `json:"extras,omitempty"`
	// Version counts the writes, the creation included.
	Version   int64     `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Extras are the rarely used fields of a contact way; they are stored and
// given back, nothing else depends on them.
type Extras struct {
	IsTemp        bool            `json:"is_temp,omitempty"`
	ExpiresIn     int             `json:"expires_in,omitempty"`
	ChatExpiresIn int             `json:"chat_expires_in,omitempty"`
	UnionID       string          `json:"unionid,omitempty"`
	IsExclusive   bool            `json:"is_exclusive,omitempty"`
	MarkSource    *bool           `json:"mark_source,omitempty"`
	Conclusions   json.RawMessage `json:"conclusions,omitempty"`
}

// QRCodeURL returns the address of the code's picture.
func (w Way) QRCodeURL() string {
	return "https://open.work.weixin.qq.com/wwopen/userQRCode?vcode=vc" + w.ConfigID
}

// way is a stored contact way with the editions that customers may still meet.
type way struct {
	Way
	seq     uint64 // in the order of creation
	deleted bool
	// editions is empty while customers meet Way itself. Otherwise it is in
	// order of time and ends with Way's own list.
	editions []edition
}

// edition is a list that customers meet from an instant on.
type edition struct {
	from    time.Time
	users   []string
	parties []int
	state   string
	version int64
}

func (w *way) edition(from time.Time) edition {
	return edition{from: from, users: w.Users, parties: w.Parties, state: w.State, version: w.Version}
}

// met returns the edition that a customer meets at now.
func (w *way) met(now time.Time) edition {
	for _, e := range slices.Backward(w.editions) {
		if !e.from.After(now) {
			return e
		}
	}
	return w.edition(w.UpdatedAt)
}

// write applies change at now; customers meet it after the delay.
func (w *way) write(now time.Time, delay time.Duration, change func(*Way)) {
	before := w.met(now)
	later := slices.DeleteFunc(slices.Clone(w.editions), func(e edition) bool {
		return !e.from.After(now) || e.version < before.version // arrived, or overtaken
	})
	change(&w.Way)
	w.Version++
	w.UpdatedAt = now
	w.editions = nil
	if delay > 0 || len(later) > 0 {
		w.editions = append(append([]edition{before}, later...), w.edition(now.Add(delay)))
	}
}

// AddWay stores a contact way without any check and returns its config_id: for
// seeding. A corp that is not known is added; a ConfigID that is set is kept;
// Type, Scene and CreatedAt have defaults.
func (s *Sim) AddWay(corpID string, w Way) string {
	c := s.corpOrNew(corpID)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(s.now(), w).ConfigID
}

// AddWays is AddWay of n contact ways, each as one says, and returns their
// config_ids in that order.
func (s *Sim) AddWays(corpID string, n int, one func(i int) Way) []string {
	ids := []string{}
	for i := range n {
		ids = append(ids, s.AddWay(corpID, one(i)))
	}
	return ids
}

// EditInConsole replaces the users of a contact way, as a person does in WeCom's
// console: without a call, a check or a callback. Whatever else it has stays;
// customers meet the new list after Quirks.Propagation. It reports whether there
// is one.
func (s *Sim) EditInConsole(corpID, configID string, users []string) bool {
	c, ok := s.corp(corpID)
	if !ok {
		return false
	}
	now, delay := s.now(), s.Quirks().Propagation
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.ways[configID]
	if ok {
		w.write(now, delay, func(w *Way) { w.Users = slices.Clone(users) })
	}
	return ok
}

// Way returns a contact way as get_contact_way would tell it.
func (s *Sim) Way(corpID, configID string) (Way, bool) {
	c, ok := s.corp(corpID)
	if !ok {
		return Way{}, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	w, ok := c.ways[configID]
	if !ok {
		return Way{}, false
	}
	return w.Way, true
}

// Ways yields the contact ways of a corp in the order of their creation. Ways
// added or deleted meanwhile may or may not be among them.
func (s *Sim) Ways(corpID string) iter.Seq[Way] {
	return func(yield func(Way) bool) {
		c, ok := s.corp(corpID)
		if !ok {
			return
		}
		for after := uint64(0); ; {
			page := c.page(after, 256)
			for _, w := range page {
				if !yield(w.Way) {
					return
				}
				after = w.seq
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// WayCount returns how many contact ways a corp has.
func (s *Sim) WayCount(corpID string) int {
	c, ok := s.corp(corpID)
	if !ok {
		return 0
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.ways)
}

// RemoveWay deletes a contact way on WeCom's side, without a call, and reports
// whether there was one.
func (s *Sim) RemoveWay(corpID, configID string) bool {
	c, ok := s.corp(corpID)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remove(configID)
}

// add stores a new way, or replaces the one of its ConfigID. The caller holds mu.
func (c *corp) add(now time.Time, w Way) *way {
	c.nextID++
	if w.ConfigID == "" {
		w.ConfigID = c.prefix + hex16(c.nextID)
	}
	w.Type, w.Scene = orDefault(w.Type, MultiUser), orDefault(w.Scene, QRCode)
	w.CreatedAt = orDefault(w.CreatedAt, now)
	w.UpdatedAt, w.Version = w.CreatedAt, 1
	c.remove(w.ConfigID)
	stored := &way{Way: w, seq: c.nextID}
	c.ways[w.ConfigID] = stored
	c.order = append(c.order, stored)
	return stored
}

// remove deletes a way; its place in order is swept when half are deleted. The
// caller holds mu.
func (c *corp) remove(configID string) bool {
	w, ok := c.ways[configID]
	if !ok {
		return false
	}
	w.deleted = true
	delete(c.ways, configID)
	if len(c.order) > 64 && len(c.order) > 2*len(c.ways) {
		c.order = slices.DeleteFunc(c.order, func(w *way) bool { return w.deleted })
	}
	return true
}

// numbered is a copy of a way with its place in the order of creation.
type numbered struct {
	Way
	seq uint64
}

// page copies up to limit ways that were created after the given number.
func (c *corp) page(after uint64, limit int) []numbered {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []numbered
	for _, w := range c.order[c.place(after):] {
		if w.deleted {
			continue
		}
		if out = append(out, numbered{w.Way, w.seq}); len(out) == limit {
			break
		}
	}
	return out
}

// place is the index in order of the first way created after the given number.
func (c *corp) place(after uint64) int {
	i, _ := slices.BinarySearchFunc(c.order, after+1, func(w *way, seq uint64) int {
		return int(int64(w.seq) - int64(seq))
	})
	return i
}

// idPrefix is the first half of a corp's config_ids. These have 32 hexadecimal
// digits, as WeCom's do, tell corps apart and are the same in every run.
func idPrefix(corpID string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(corpID)) // a hash never fails
	return hex16(h.Sum64())
}

func hex16(n uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, n))
}
