package registry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Options are what a Registry works with. All are required but Ways.
type Options struct {
	Facts     Facts
	Publisher Publisher
	FanOuts   Requester
	Ways      Ways // nil: no contact way can be made or adopted with a check
	Now       func() time.Time
}

// Registry writes facts and announces them. It is safe for concurrent use.
type Registry struct{ o Options }

// New returns a Registry.
func New(o Options) *Registry { return &Registry{o: o} }

// Facts returns where the facts are, for reading.
func (r *Registry) Facts() Facts { return r.o.Facts }

// Place is where the reason to recompute was stored.
type Place string

// The places.
const (
	OnBroker   = Place(publish.Broker)   // a code's event: within seconds
	InDirtySet = Place(publish.DirtySet) // the broker did not take it: the keeper brings it back
	ByFanOut   = Place("fan_out")        // every code concerned, at the tenant's pace
	Nowhere    = Place("not_needed")     // nothing changed, or nothing can be recomputed yet
)

// Outcome says what a write has led to.
type Outcome struct {
	Created   bool // it was not there
	Changed   bool // the facts are others than before
	Published Place
	// FanOut is set when Published is ByFanOut.
	FanOut fanout.Ticket
	// WayPending says that the code's contact way will be made without being
	// asked for again.
	WayPending bool
}

// UnannouncedError says that the fact is stored and nobody could be told. A
// repeat of the write is safe, and announces it.
type UnannouncedError struct{ Err error }

// Error says so, and why.
func (e *UnannouncedError) Error() string {
	return "the fact is stored, not announced: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UnannouncedError) Unwrap() error { return e.Err }

// stampTime begins a stamp: stamps sort by their time.
const stampTime = "20060102T150405Z"

// newStamp names one write. It begins with the second of the write.
func (r *Registry) newStamp() string { return stampAt(r.o.Now()) + "-" + rand.Text() }

func stampAt(t time.Time) string { return t.UTC().Format(stampTime) }

// announceCode publishes for one code.
func (r *Registry) announceCode(ctx context.Context, ref push.Ref, why string) (Place, error) {
	place, err := r.o.Publisher.Refresh(ctx, ref, why)
	if err != nil {
		return "", &UnannouncedError{err}
	}
	return Place(place), nil
}

// fanOut asks for the codes of a scope. The stamp of the write is its key, so
// that a repeat starts nothing.
func (r *Registry) fanOut(ctx context.Context, scope fanout.Scope, why, stamp string) (fanout.Ticket, error) {
	ticket, err := r.o.FanOuts.Request(ctx, fanout.Request{Scope: scope, Why: why, At: r.o.Now(), Key: stamp})
	if err != nil {
		return fanout.Ticket{}, &UnannouncedError{fmt.Errorf("request a fan-out: %w", err)}
	}
	return ticket, nil
}

// requireTenant refuses a write below a tenant that is not there.
func (r *Registry) requireTenant(ctx context.Context, id string) error {
	if err := CheckTenantID(id); err != nil {
		return errors.Join(ErrUnknownTenant, err)
	}
	_, err := r.o.Facts.Tenant(ctx, id)
	return err
}
