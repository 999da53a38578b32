package pushtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Default answers of Budget.
const (
	// GrantLasts is how long a grant may be used.
	GrantLasts = 2 * time.Second
	// BlockLasts is how long a tenant waits after a report of a throttle.
	BlockLasts = 60 * time.Second
)

// Throttle is one report of a throttled call.
type Throttle struct {
	Tenant  string
	ErrCode int
}

// Budget is push.Budget in memory: it grants every call unless told otherwise.
type Budget struct {
	Hooks
	// Answer, when set, answers every Ask instead of the grant.
	Answer func(ask push.Ask) (push.Admission, error)

	clock     *Clock
	mu        sync.Mutex
	asks      []push.Ask
	givenBack []push.Ref
	throttles []Throttle
}

var _ push.Budget = (*Budget)(nil)

// NewBudget returns a Budget that grants everything for GrantLasts of clock.
func NewBudget(clock *Clock) *Budget { return &Budget{clock: clock} }

// Admit answers one Ask.
func (b *Budget) Admit(ctx context.Context, ask push.Ask) (push.Admission, error) {
	var admission push.Admission
	var refused error
	err := b.do(ctx, OpAdmit, func() {
		b.mu.Lock()
		b.asks = append(b.asks, ask)
		b.mu.Unlock()
		if b.Answer != nil {
			admission, refused = b.Answer(ask)
			return
		}
		admission = push.Admission{Granted: true, Expires: b.clock.Now().Add(GrantLasts)}
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return push.Admission{}, err
	}
	return admission, nil
}

// GiveBack notes the slot that was given back.
func (b *Budget) GiveBack(ctx context.Context, ref push.Ref) error {
	return b.do(ctx, OpGiveBack, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.givenBack = append(b.givenBack, ref)
	})
}

// Throttled notes the report; the tenant may call again after BlockLasts.
func (b *Budget) Throttled(ctx context.Context, tenant string, errcode int) (time.Time, error) {
	var until time.Time
	err := b.do(ctx, OpThrottled, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.throttles = append(b.throttles, Throttle{tenant, errcode})
		until = b.clock.Now().Add(BlockLasts)
	})
	if err != nil {
		return time.Time{}, err
	}
	return until, nil
}

// Asks returns the requests so far, in order.
func (b *Budget) Asks() []push.Ask {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asks)
}

// GivenBack returns the codes whose slots were given back, in order.
func (b *Budget) GivenBack() []push.Ref {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.givenBack)
}

// Throttles returns the reports of throttled calls, in order.
func (b *Budget) Throttles() []Throttle {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.throttles)
}
