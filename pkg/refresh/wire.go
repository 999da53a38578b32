package refresh

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

const (
	// Version is the wire format that Encode writes and Decode reads.
	Version = 1
	// MaxPayload is the largest payload in bytes that Decode looks at.
	MaxPayload = 4096
)

// UndecodableError is a payload that is not the documented JSON.
type UndecodableError struct{ Err error }

// Error says what is wrong with the payload.
func (e *UndecodableError) Error() string { return "undecodable event: " + e.Err.Error() }

// Unwrap returns the cause, an *InvalidError where a field is outside its limits.
func (e *UndecodableError) Unwrap() error { return e.Err }

// VersionError is a payload of a version that this build does not read.
type VersionError struct{ Got int }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("event of version %d: this build reads version %d", e.Got, Version)
}

// SizeError is a payload beyond MaxPayload; nothing of it was parsed.
type SizeError struct{ Size int }

// Error names the size and the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("event of %d bytes: at most %d are allowed", e.Size, MaxPayload)
}

// Encode returns the payload of an event, or the *InvalidError of Validate.
func Encode(e Event) ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	b := make([]byte, 0, 128+len(e.Tenant)+len(e.Code)+len(e.Reason)+len(e.Note))
	b = append(b, `{"v":1,"tenant":"`...)
	b = append(b, e.Tenant...) // the alphabet needs no escape
	b = append(b, `","code":"`...)
	b = append(b, e.Code...)
	b = append(b, `","reason":`...)
	b = appendString(b, e.Reason)
	b = append(b, `,"occurred_at":"`...)
	b = e.OccurredAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.Note != "" {
		b = append(b, `,"note":`...)
		b = appendString(b, e.Note)
	}
	return append(b, '}'), nil
}

// appendString writes valid UTF-8 as a JSON string. It escapes what RFC 8259
// demands and nothing else.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// wire is what Decode takes from a payload; other fields are ignored.
type wire struct {
	V          *int   `json:"v"`
	Tenant     string `json:"tenant"`
	Code       string `json:"code"`
	Reason     string `json:"reason"`
	OccurredAt string `json:"occurred_at"`
	Note       string `json:"note"`
}

// Decode reads a payload. Its errors are a *SizeError, a *VersionError or an
// *UndecodableError. It is strict where a mistake would reach the wrong code
// and lenient in what people read: unknown fields are ignored, and a reason or
// a note beyond its limit is cut, for an event with a long note is still a
// reason to recompute the code.
func Decode(payload []byte) (Event, error) {
	if len(payload) > MaxPayload {
		return Event{}, &SizeError{Size: len(payload)}
	}
	var w wire
	err := json.Unmarshal(payload, &w)
	if verr := checkVersion(w.V, err); verr != nil {
		return Event{}, verr
	}
	if err != nil {
		return Event{}, &UndecodableError{Err: err}
	}
	at, err := time.Parse(time.RFC3339Nano, w.OccurredAt)
	if err != nil {
		return Event{}, &UndecodableError{Err: invalid("occurred_at", w.OccurredAt, "RFC 3339")}
	}
	e := Event{
		Tenant: w.Tenant, Code: w.Code, Reason: legible(w.Reason, MaxReason),
		OccurredAt: at.UTC(), Note: legible(w.Note, MaxNote),
	}
	if err := e.Validate(); err != nil {
		return Event{}, &UndecodableError{Err: err}
	}
	return e, nil
}

// checkVersion judges the version before anything else: in a payload of
// another version the other fields may well have another shape.
func checkVersion(v *int, err error) error {
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &shape) && (shape.Field == "v" || shape.Field == ""):
		return &UndecodableError{Err: err}
	case v == nil && err == nil:
		return &UndecodableError{Err: invalid("v", "", "a version number")}
	case v != nil && *v != Version:
		return &VersionError{Got: *v}
	}
	return nil
}

// legible cuts text to its limit. encoding/json has replaced invalid UTF-8 by then.
func legible(text string, most int) string {
	if text = cut(text, most); utf8.ValidString(text) {
		return text
	}
	return ""
}
