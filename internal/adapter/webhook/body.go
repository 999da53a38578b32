package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

// bodyVersion is what is counted up when a receiver has to be changed. Fields
// that are added do not.
const bodyVersion = 1

// body is what a receiver reads. It is the same at every try.
type body struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Tenant  string    `json:"tenant"`
	Code    string    `json:"code,omitempty"`
	Staff   string    `json:"staff,omitempty"`
	Day     string    `json:"day,omitempty"`
	Count   int       `json:"count,omitempty"`
	Limit   int       `json:"limit,omitempty"`
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
}

func encode(m notify.Message) ([]byte, error) {
	n := m.Notice
	raw, err := json.Marshal(body{
		Version: bodyVersion, ID: m.ID, Kind: n.Kind.String(), Tenant: n.Tenant, Code: n.Code, Staff: n.Staff,
		Day: string(n.Day), Count: n.Count, Limit: n.Limit, At: n.At.UTC(), Text: n.Text(),
	})
	if err != nil {
		return nil, fmt.Errorf("encode notice %s: %w", m.ID, err)
	}
	return raw, nil
}
