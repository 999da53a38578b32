package decision

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Action is what was decided: one of a closed set, stable once released.
type Action string

// The actions.
const (
	RetryDirty      Action = "dirty_retry"      // a dirty code is due now
	DropDirty       Action = "dirty_drop"       // a dirty code is forgotten
	RepublishLetter Action = "letter_republish" // a dead letter's event is published again
	ReplaceLetter   Action = "letter_replace"   // another event is published in a dead letter's place
	DiscardLetter   Action = "letter_discard"   // a dead letter is forgotten
	Refresh         Action = "refresh"          // codes are recomputed
	Hold            Action = "hold"             // lists at WeCom stay as they are
	Suspend         Action = "suspend"          // a staff member leaves every list
	Release         Action = "release"          // what was stopped goes on
	SetLane         Action = "lane"             // codes are pushed at once, or now and then
	GoLive          Action = "migrate_live"     // Rollcall writes a tenant's lists from now on
	GoShadow        Action = "migrate_shadow"   // another system writes them from now on
)

// State is how far a decision is.
type State string

// The states.
const (
	Begun  State = "begun"  // recorded; it took effect, or did not, or is being acted upon
	Done   State = "done"   // it took effect
	Failed State = "failed" // it did not take effect, or in part: Failure says what was in the way
)

// The most bytes of what a person writes.
const (
	MaxBy     = 128
	MaxReason = 1024
)

// Decision is one decision of an operator. New makes one.
type Decision struct {
	ID      string
	At      time.Time
	By      string // the operator, 1 to MaxBy bytes
	Action  Action
	Subject string // for a person: "dirty acme/code-1", "dead letter 12:3:0"
	Tenant  string // of the subject; "" where none is known
	Code    string // the same
	Reason  string // the operator's, at most MaxReason bytes; "" where none is asked for
	Detail  string // what was known of the subject
	State   State
	Failure string // why it Failed
}

// New returns a decision that has not been recorded yet, with an ID that no
// other has.
func New(by string, action Action, subject string, at time.Time) Decision {
	return Decision{ID: rand.Text(), At: at, By: by, Action: action, Subject: subject, State: Begun}
}

var errNobody = errors.New("nobody decided: a decision names its operator")

// check refuses what a list of decisions could not show.
func (d Decision) check() error {
	if d.By == "" {
		return errNobody
	}
	for what, text := range map[string]struct {
		text string
		most int
	}{"operator": {d.By, MaxBy}, "reason": {d.Reason, MaxReason}} {
		if len(text.text) > text.most || !utf8.ValidString(text.text) {
			return fmt.Errorf("the %s of a decision is UTF-8 of at most %d bytes", what, text.most)
		}
	}
	return nil
}
