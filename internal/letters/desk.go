package letters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Box is where letters lie until somebody has dealt with them.
type Box interface {
	// Get returns a letter that nobody has dealt with. Its errors wrap ErrUnknown
	// and ErrSettled.
	Get(ctx context.Context, id string) (Letter, error)
	// Settle notes durably that a letter was dealt with. It may be repeated.
	Settle(ctx context.Context, id string) error
}

// Topic is where refreshers take their events from.
type Topic interface {
	// Name is the topic's, as it stands in letters.
	Name() string
	// Publish returns nil when the broker has stored the event, under the key of
	// its code.
	Publish(ctx context.Context, e Event) error
}

// Reader reads the payload of an event as a refresher of this build would.
type Reader func(payload []byte) (Event, error)

// Desk is where an operator decides about dead letters.
type Desk struct {
	Box   Box
	Topic Topic
	Read  Reader
	Book  decision.Book
	Now   func() time.Time
	By    string // the operator
}

// Expect is what the operator takes the event of a letter to be about; a field
// that is "" expects nothing.
type Expect struct{ Tenant, Code string }

// Republish publishes the event of a letter again, under the key of its code,
// and returns it. What a refresher would bury again is refused with
// ErrUnreadable and stays where it is.
//
// The letter is settled after the broker has the event: a death in between
// leaves a letter that can be published once more, which is harmless, since an
// event carries no state. Settled first, its event would be lost.
func (d Desk) Republish(ctx context.Context, id string, want Expect, why string) (Event, error) {
	letter, err := d.Box.Get(ctx, id)
	if err != nil {
		return Event{}, err
	}
	event, err := d.readable(letter, want)
	if err != nil {
		return Event{}, fmt.Errorf("dead letter %s: %w: %w", letter.ID, ErrUnreadable, err)
	}
	return event, d.publish(ctx, decision.RepublishLetter, letter, event, why)
}

// Replace publishes a fresh event for a code in a letter's place, and returns
// it. why is the event's reason and the decision's: 1 to 64 bytes.
func (d Desk) Replace(ctx context.Context, id string, ref push.Ref, why string) (Event, error) {
	if !ident.Tenant(ref.Tenant) || !ident.Code(ref.Code) {
		return Event{}, fmt.Errorf("%q is no tenant's ID, or %q no code's", ref.Tenant, ref.Code)
	}
	if strings.TrimSpace(why) == "" || len(why) > maxWhy {
		return Event{}, fmt.Errorf("a fresh event needs a reason of 1 to %d bytes: --why TEXT", maxWhy)
	}
	letter, err := d.Box.Get(ctx, id)
	if err != nil {
		return Event{}, err
	}
	event := Event{Ref: ref, Why: why, OccurredAt: d.Now()}
	return event, d.publish(ctx, decision.ReplaceLetter, letter, event, why)
}

// maxWhy is the limit of an event's reason (docs/events.md).
const maxWhy = 64

// Discard settles a letter and publishes nothing.
func (d Desk) Discard(ctx context.Context, id, why string) error {
	if strings.TrimSpace(why) == "" {
		return ErrNoReason
	}
	letter, err := d.Box.Get(ctx, id)
	if err != nil {
		return err
	}
	taken := d.decide(decision.DiscardLetter, letter, why)
	if event, err := d.Read(letter.Payload); err == nil {
		taken.Tenant, taken.Code = event.Tenant, event.Code
	}
	return decision.Take(ctx, d.Book, taken, func(ctx context.Context) error { return d.Box.Settle(ctx, letter.ID) })
}

func (d Desk) publish(ctx context.Context, action decision.Action, letter Letter, event Event, why string) error {
	taken := d.decide(action, letter, why)
	taken.Tenant, taken.Code = event.Tenant, event.Code
	return decision.Take(ctx, d.Book, taken, func(ctx context.Context) error {
		if err := d.Topic.Publish(ctx, event); err != nil {
			return fmt.Errorf("publish the event of code %s: %w", event.Code, err)
		}
		if err := d.Box.Settle(ctx, letter.ID); err != nil {
			return fmt.Errorf("the event of code %s is published, and the letter is still there: %w", event.Code, err)
		}
		return nil
	})
}

func (d Desk) decide(action decision.Action, letter Letter, why string) decision.Decision {
	taken := decision.New(d.By, action, "dead letter "+letter.ID, d.Now())
	taken.Reason = why
	taken.Detail = fmt.Sprintf("cause %s, message %s", letter.Cause, letter.OriginalID)
	return taken
}

// readable returns the event of a letter, or why it must not be published.
func (d Desk) readable(letter Letter, want Expect) (Event, error) {
	if letter.Truncated {
		return Event{}, fmt.Errorf("only the first %d bytes of the message were kept", len(letter.Payload))
	}
	if letter.Topic != d.Topic.Name() {
		return Event{}, fmt.Errorf("it comes from %q, and refreshers read %q here", letter.Topic, d.Topic.Name())
	}
	event, err := d.Read(letter.Payload)
	switch {
	case err != nil:
		return Event{}, err
	case want.Code != "" && want.Code != event.Code:
		return Event{}, fmt.Errorf("its event is of code %s, not of %s", event.Code, want.Code)
	case want.Tenant != "" && want.Tenant != event.Tenant:
		return Event{}, fmt.Errorf("its event is of tenant %s, not of %s", event.Tenant, want.Tenant)
	}
	event.Trace = traceOf(letter.Properties)
	return event, nil
}

// traceOf picks W3C Trace Context out of a letter's properties.
func traceOf(properties map[string]string) map[string]string {
	trace := maps.Clone(properties)
	maps.DeleteFunc(trace, func(name, _ string) bool { return !slices.Contains([]string{"traceparent", "tracestate"}, name) })
	return trace
}
