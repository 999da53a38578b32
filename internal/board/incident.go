package board

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Severity is how soon a person has to look.
type Severity string

// The severities, those of the alerts.
const (
	Page   Severity = "page"   // now
	Ticket Severity = "ticket" // today
)

// Incident is something that is wrong now.
type Incident struct {
	Severity Severity      `json:"severity"`
	Reason   reason.Reason `json:"reason,omitempty"` // where one of the vocabulary fits
	Text     string        `json:"text"`             // what it means, in one line
	Since    time.Time     `json:"since,omitzero"`   // zero when a look does not tell
	Runbook  string        `json:"runbook"`          // the page in docs/runbooks, and the alert's name
}
