package ledger

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// Entry is one call as the vendor saw it. Members is shared: read it only.
type Entry struct {
	Seq      uint64    `json:"seq"`      // from 1, in the order of the outcomes
	Received time.Time `json:"received"` // when the call arrived
	// Applied is when the effect became true; zero: the call had none.
	Applied  time.Time `json:"applied,omitzero"`
	Corp     string    `json:"corp"` // "" when the token named none
	IP       string    `json:"ip"`
	API      string    `json:"api"` // e.g. "update_contact_way"
	ConfigID string    `json:"config_id,omitempty"`
	Members  []string  `json:"members,omitempty"` // users as sent
	// Version is the number of writes that the contact way has seen, this one
	// included: the order of the effects on one way.
	Version int64 `json:"version,omitempty"`
	ErrCode int   `json:"errcode"`
	// HTTPStatus is the status of the answer; 0: no answer was ever sent.
	HTTPStatus int `json:"http_status"`
	// Fault names the scripted fault that hit the call, e.g.
	// "timeout_after"; "" is none.
	Fault string `json:"fault,omitempty"`
}

// Stamped returns the entry with its number.
func (e Entry) Stamped(seq uint64) Entry { e.Seq = seq; return e }

// Query selects entries; a zero field selects all.
type Query struct {
	Corp     string
	IP       string
	API      string
	ConfigID string
	Fault    string
	ErrCode  *int
	Since    time.Time // received at or after
	Until    time.Time // received before
	After    uint64    // Seq greater than
	Limit    int       // at most so many
}

// Match reports whether the query selects the entry, Limit aside.
func (q Query) Match(e Entry) bool {
	return (q.Corp == "" || q.Corp == e.Corp) &&
		(q.IP == "" || q.IP == e.IP) &&
		(q.API == "" || q.API == e.API) &&
		(q.ConfigID == "" || q.ConfigID == e.ConfigID) &&
		(q.Fault == "" || q.Fault == e.Fault) &&
		(q.ErrCode == nil || *q.ErrCode == e.ErrCode) &&
		(q.Since.IsZero() || !e.Received.Before(q.Since)) &&
		(q.Until.IsZero() || e.Received.Before(q.Until)) &&
		e.Seq > q.After
}

// Select yields what the query asks for, in order.
func (q Query) Select(entries iter.Seq[Entry]) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		n := 0
		for e := range entries {
			if !q.Match(e) {
				continue
			}
			if n++; !yield(e) || n == q.Limit {
				return
			}
		}
	}
}

// WriteNDJSON writes one JSON document a line.
func WriteNDJSON[T any](w io.Writer, items iter.Seq[T]) error {
	enc := json.NewEncoder(w)
	for item := range items {
		if err := enc.Encode(item); err != nil {
			return fmt.Errorf("write line: %w", err)
		}
	}
	return nil
}

// ByReceived returns the entries sorted by the time they were received.
func ByReceived(entries iter.Seq[Entry]) []Entry {
	return slices.SortedStableFunc(entries, func(a, b Entry) int { return a.Received.Compare(b.Received) })
}
