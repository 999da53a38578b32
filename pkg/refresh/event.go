package refresh

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Limits of an event's fields, in bytes. With them every valid event stays
// below MaxPayload, whatever a JSON encoder escapes.
const (
	MaxTenant = 128
	MaxCode   = 128
	MaxReason = 64
	MaxNote   = 512
)

// Event is the reason to recompute one code.
type Event struct {
	// Tenant is the company that owns the code: 1 to MaxTenant bytes of
	// letters, digits, '.', '_', ':' and '-' (ASCII).
	Tenant string
	// Code is the ID of the live QR code, and the key of the message: 1 to
	// MaxCode bytes of the same alphabet.
	Code string
	// Reason is the producer's word for what happened, such as
	// "staff_offline": 1 to MaxReason bytes of UTF-8. It is shown to people and
	// decides nothing.
	Reason string
	// OccurredAt is when the fact was written, between the years 1970 and
	// 9999. It becomes the event time of the message.
	OccurredAt time.Time
	// Note is free text for a person: at most MaxNote bytes of UTF-8. It must
	// hold neither secrets nor personal data.
	Note string
}

// Validate reports the first field outside its limits as an *InvalidError.
func (e Event) Validate() error {
	if err := validID("tenant", e.Tenant, MaxTenant); err != nil {
		return err
	}
	if err := validID("code", e.Code, MaxCode); err != nil {
		return err
	}
	if e.Reason == "" {
		return invalid("reason", e.Reason, "not empty")
	}
	if err := validText("reason", e.Reason, MaxReason); err != nil {
		return err
	}
	if err := validText("note", e.Note, MaxNote); err != nil {
		return err
	}
	return validTime(e.OccurredAt)
}

// InvalidError is an event that must not be published as it is. Publishing it
// again fails again.
type InvalidError struct {
	Field string // the field's name on the wire: "tenant", "code", …
	Value string // what it held, cut to 64 bytes
	Want  string // what is allowed there
}

// Error names the field, what it held and what is allowed.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("invalid %s %q: want %s", e.Field, e.Value, e.Want)
}

func invalid(field, value, want string) error {
	return &InvalidError{Field: field, Value: cut(value, 64), Want: want}
}

func validID(field, id string, most int) error {
	if id == "" || len(id) > most {
		return invalid(field, id, fmt.Sprintf("1 to %d bytes", most))
	}
	for i := range len(id) {
		if !idByte(id[i]) {
			return invalid(field, id, "only letters, digits, '.', '_', ':' and '-'")
		}
	}
	return nil
}

func idByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case c == '.', c == '_', c == ':', c == '-':
		return true
	}
	return false
}

func validText(field, text string, most int) error {
	if len(text) > most {
		return invalid(field, text, fmt.Sprintf("at most %d bytes", most))
	}
	if !utf8.ValidString(text) {
		return invalid(field, text, "UTF-8")
	}
	return nil
}

// validTime keeps to the years that RFC 3339 can write and a broker can store.
func validTime(at time.Time) error {
	if at.IsZero() {
		return invalid("occurred_at", "", "the time of the fact")
	}
	if y := at.UTC().Year(); y < 1970 || y > 9999 {
		return invalid("occurred_at", at.UTC().String(), "a year from 1970 to 9999")
	}
	return nil
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
