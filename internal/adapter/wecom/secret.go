package wecom

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a string that no formatter prints: an app's secret or an access
// token. The zero value is the empty secret.
//
// The text is behind a pointer because fmt calls no method on an unexported
// field: a struct that holds a Secret shows an address there.
type Secret struct{ text *string }

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the text. Its only uses are the wire and a store.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is no text.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// Equal compares two secrets in constant time for texts of equal length.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String hides the text.
func (s Secret) String() string { return redacted }

// GoString hides the text from %#v.
func (s Secret) GoString() string { return redacted }

// Format hides the text from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue hides the text from log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON hides the text from encoding/json.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText hides the text from encoders that ask for text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
