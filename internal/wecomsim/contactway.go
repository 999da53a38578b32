package wecomsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxCharacters is the longest remark and state (page 96348).
const maxCharacters = 30

// wayRequest holds the parameters of all contact-way calls. A nil pointer is a
// field that was not sent.
type wayRequest struct {
	ConfigID   string   `json:"config_id"`
	Type       int      `json:"type"`
	Scene      int      `json:"scene"`
	Style      *int     `json:"style"`
	Remark     string   `json:"remark"`
	SkipVerify *bool    `json:"skip_verify"`
	State      *string  `json:"state"`
	User       []string `json:"user"`
	Party      []int    `json:"party"`
	Extras

	StartTime int64  `json:"start_time"`
	EndTime   int64  `json:"end_time"`
	Cursor    string `json:"cursor"`
	Limit     int    `json:"limit"`
}

// first reads the first JSON document of a body and ignores the rest.
func (q *wayRequest) first(body []byte) error {
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(q); err != nil {
		return fmt.Errorf("read parameters: %w", err)
	}
	return nil
}

// wireWay is a contact way as get_contact_way tells it.
type wireWay struct {
	ConfigID   string   `json:"config_id"`
	Type       int      `json:"type"`
	Scene      int      `json:"scene"`
	Style      int      `json:"style"`
	Remark     string   `json:"remark"`
	SkipVerify bool     `json:"skip_verify"`
	State      string   `json:"state"`
	QRCode     string   `json:"qr_code"`
	User       []string `json:"user"`
	Party      []int    `json:"party"`
	Extras
}

func onWire(w Way) wireWay {
	out := wireWay{
		ConfigID: w.ConfigID, Type: w.Type, Scene: w.Scene, Style: w.Style, Remark: w.Remark,
		SkipVerify: w.SkipVerify, State: w.State, QRCode: w.QRCodeURL(), User: w.Users, Party: w.Parties,
	}
	if out.Party == nil {
		out.Party = []int{}
	}
	if w.Extras != nil {
		out.Extras = *w.Extras
	}
	return out
}

func (s *Sim) addContactWay(x *exchange) answer {
	if code := x.ask.badForm(); code != codeOK {
		return refuse(code)
	}
	now, q := s.now(), s.Quirks()
	c := x.corp
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ways) >= q.MaxWays {
		return refuse(codeTooManyWays)
	}
	if code := c.refuseMembers(x.ask.Type, x.ask.User, x.ask.Party, q); code != codeOK {
		return refuse(code)
	}
	w := Way{Type: x.ask.Type, Scene: x.ask.Scene, Extras: x.ask.extras()}
	x.ask.overwrite(&w)
	added := c.add(now, w)
	x.entry.ConfigID, x.entry.Applied, x.entry.Version = added.ConfigID, now, added.Version
	return &addedAnswer{ConfigID: added.ConfigID, QRCode: added.QRCodeURL()}
}

func (s *Sim) getContactWay(x *exchange) answer {
	c := x.corp
	c.mu.RLock()
	defer c.mu.RUnlock()
	w, refused := c.find(x.ask.ConfigID, s.Quirks())
	if refused != nil {
		return refused
	}
	x.entry.Version = w.Version
	return &wayAnswer{ContactWay: onWire(w.Way)}
}

// updateContactWay overwrites remark, user and party whatever was sent of
// them; style, state and skip_verify change only when sent.
func (s *Sim) updateContactWay(x *exchange) answer {
	now, q := s.now(), s.Quirks()
	c := x.corp
	c.mu.Lock()
	defer c.mu.Unlock()
	w, refused := c.find(x.ask.ConfigID, q)
	if refused != nil {
		return refused
	}
	if code := x.ask.badText(); code != codeOK {
		return refuse(code)
	}
	if code := c.refuseMembers(w.Type, x.ask.User, x.ask.Party, q); code != codeOK {
		return refuse(code)
	}
	w.write(now, q.Propagation, x.ask.overwrite)
	x.entry.Applied, x.entry.Version = now, w.Version
	return refuse(codeOK)
}

func (s *Sim) delContactWay(x *exchange) answer {
	now := s.now()
	c := x.corp
	c.mu.Lock()
	defer c.mu.Unlock()
	w, refused := c.find(x.ask.ConfigID, s.Quirks())
	if refused != nil {
		return refused
	}
	c.remove(w.ConfigID)
	x.entry.Applied, x.entry.Version = now, w.Version+1
	return refuse(codeOK)
}

// The paging of list_contact_way.
const (
	defaultPage   = 100
	maxPage       = 1000
	defaultWindow = 90 * 24 * time.Hour
)

func (s *Sim) listContactWay(x *exchange) answer {
	limit := orDefault(x.ask.Limit, defaultPage)
	after, ok := parseCursor(x.ask.Cursor)
	if !ok || limit < 0 || limit > maxPage {
		return refuse(codeBadParameter)
	}
	to := s.now()
	if x.ask.EndTime > 0 {
		to = time.Unix(x.ask.EndTime, 0)
	}
	from := to.Add(-defaultWindow)
	if x.ask.StartTime > 0 {
		from = time.Unix(x.ask.StartTime, 0)
	}
	c := x.corp
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := &listAnswer{ContactWay: []listedWay{}}
	for _, w := range c.order[c.place(after):] {
		if w.deleted || w.CreatedAt.Before(from) || w.CreatedAt.After(to) {
			continue
		}
		if len(out.ContactWay) == limit {
			out.NextCursor = strconv.FormatUint(after, 36)
			break
		}
		out.ContactWay = append(out.ContactWay, listedWay{w.ConfigID})
		after = w.seq
	}
	return out
}

func parseCursor(cursor string) (after uint64, ok bool) {
	if cursor == "" {
		return 0, true
	}
	after, err := strconv.ParseUint(cursor, 36, 63)
	return after, err == nil
}

// find returns a way or the answer that there is none. The caller holds mu.
func (c *corp) find(configID string, q Quirks) (*way, *status) {
	if configID == "" {
		return nil, refuse(codeConfigIDMissing)
	}
	w, ok := c.ways[configID]
	if !ok {
		return nil, &status{ErrCode: q.GoneCode, ErrMsg: q.GoneText}
	}
	return w, nil
}

// badForm checks what an addition must name.
func (q *wayRequest) badForm() int {
	switch {
	case q.Type == 0:
		return codeTypeMissing
	case q.Scene == 0:
		return codeSceneMissing
	case q.Type != SingleUser && q.Type != MultiUser:
		return codeBadType
	case q.Scene != MiniProgram && q.Scene != QRCode:
		return codeBadScene
	}
	return q.badText()
}

func (q *wayRequest) badText() int {
	switch {
	case q.Style != nil && (*q.Style < 0 || *q.Style > 3):
		return codeBadStyle
	case utf8.RuneCountInString(q.Remark) > maxCharacters:
		return codeBadParameter
	case q.State != nil && utf8.RuneCountInString(*q.State) > maxCharacters:
		return codeBadParameter
	}
	return codeOK
}

// overwrite puts what was sent into a way.
func (q *wayRequest) overwrite(w *Way) {
	w.Remark, w.Users, w.Parties = q.Remark, q.User, q.Party
	if q.Style != nil {
		w.Style = *q.Style
	}
	if q.SkipVerify != nil {
		w.SkipVerify = *q.SkipVerify
	}
	if q.State != nil {
		w.State = *q.State
	}
}

// extras returns the rarely used fields, nil when none was sent.
func (q *wayRequest) extras() *Extras {
	e := q.Extras
	if !e.IsTemp && e.ExpiresIn == 0 && e.ChatExpiresIn == 0 && e.UnionID == "" &&
		!e.IsExclusive && e.MarkSource == nil && e.Conclusions == nil {
		return nil
	}
	return &e
}
