package shadow

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

const (
	// MaxNote is the most characters of a report's note.
	MaxNote = 200
	// maxAhead is how far ahead of ours the clock of another system may be. A
	// push of next year would make every later one look outdated.
	maxAhead = 5 * time.Minute
)

// Desk takes reports and tells what they say about a tenant. It is safe for
// concurrent use.
type Desk struct {
	store     Store
	directory Directory
	now       func() time.Time
}

// NewDesk returns a Desk.
func NewDesk(store Store, directory Directory, now func() time.Time) *Desk {
	return &Desk{store: store, directory: directory, now: now}
}

// Pushed takes a report of a push by another system. A report that cannot be
// true is a *roster.InvalidError; push.ErrUnknownTenant, push.ErrUnknownCode. Of
// a code that is not in shadow mode nothing is stored. The term is the desk's to
// know.
func (d *Desk) Pushed(ctx context.Context, ref push.Ref, theirs Reported) (Reception, error) {
	if err := d.check(theirs); err != nil {
		return "", err
	}
	mode, err := d.directory.Mode(ctx, ref)
	if err != nil {
		return "", err
	}
	if !mode.Shadow {
		return NotInShadow, nil
	}
	theirs.Members, theirs.Term = ListOf(theirs.Members), mode.Term
	return d.store.Reported(ctx, ref, theirs)
}

func (d *Desk) check(theirs Reported) error {
	if n := len(theirs.Members); n == 0 || n > roster.MaxListed {
		return invalid("users", fmt.Sprintf("%d entries", n), fmt.Sprintf("1 to %d staff IDs, as WeCom was sent them", roster.MaxListed))
	}
	for i, staff := range theirs.Members {
		if staff == "" || len(staff) > ident.MaxStaff || strings.ContainsRune(staff, 0) || !utf8.ValidString(staff) {
			return invalid(fmt.Sprintf("users[%d]", i), staff, fmt.Sprintf("a userid of WeCom: 1 to %d bytes of UTF-8 without a zero byte", ident.MaxStaff))
		}
	}
	if theirs.At.IsZero() {
		return invalid("at", "", "the instant of the push, as RFC 3339 writes it")
	}
	if theirs.At.After(d.now().Add(maxAhead)) {
		return invalid("at", theirs.At.Format(time.RFC3339), "an instant that has come; the clock may be 5 minutes ahead")
	}
	if utf8.RuneCountInString(theirs.Note) > MaxNote {
		return invalid("note", string([]rune(theirs.Note)[:MaxNote])+"…", fmt.Sprintf("at most %d characters", MaxNote))
	}
	return nil
}

func invalid(field, value, want string) error {
	return &roster.InvalidError{Field: field, Value: value, Want: want}
}
