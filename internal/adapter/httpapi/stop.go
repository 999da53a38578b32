package httpapi

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// stopBody is what an operator stopped. It is shown until somebody releases it,
// ended or not: until says.
type stopBody struct {
	Since time.Time  `json:"since"`
	Until *time.Time `json:"until,omitempty"`
	By    string     `json:"by"`
	Why   string     `json:"why"`
}

// stopBodyOf leaves out what is not stopped.
func stopBodyOf(s roster.Stop) *stopBody {
	if s.Since.IsZero() {
		return nil
	}
	return &stopBody{Since: s.Since, Until: instant(s.Until), By: s.By, Why: s.Why}
}
