package board

import (
	"context"
	"log/slog"
	"time"
)

// Place is where processes tell.
type Place interface {
	// Put keeps a report, in the place of the last one of the same process, and
	// adds the calls of tenants to what is known of them.
	Put(ctx context.Context, report Report, calls []TenantMinute) error
	// Remove takes the report of a process away.
	Remove(ctx context.Context, report Report) error
}

// Loss is what could not be told.
type Loss string

// The losses.
const (
	LostReport Loss = "report" // the next one makes up for it
	LostCalls  Loss = "calls"  // asks of tenants that budget over time does not show
)

// TellerOptions configure a Teller. All but Calls are needed.
type TellerOptions struct {
	Place  Place
	Report func(now time.Time) Report
	Calls  *Calls // nil: this process asks for none
	// PerTell is the most tenants' minutes that are told at once.
	PerTell int
	// Timeout bounds one telling, and the goodbye.
	Timeout time.Duration
	Lost    func(ctx context.Context, what Loss, n int)
	Now     func() time.Time
	Logger  *slog.Logger
}

// Teller tells of its process. Nobody waits for it.
type Teller struct {
	TellerOptions
	failing bool
}

// NewTeller returns a Teller.
func NewTeller(opts TellerOptions) *Teller { return &Teller{TellerOptions: opts} }

// Run tells at once and then every [Every], until ctx ends; then it tells the
// calls that are left and takes the report away.
func (t *Teller) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		t.tell(ctx)
		select {
		case <-ctx.Done():
			t.leave(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
	}
}

// tell counts what it could not tell. Calls are not told again: whether they
// arrived is not known, and counted twice is worse than not at all.
func (t *Teller) tell(ctx context.Context) {
	var calls []TenantMinute
	if t.Calls != nil {
		var lost int
		if calls, lost = t.Calls.Take(t.PerTell); lost > 0 {
			t.Lost(ctx, LostCalls, lost)
		}
	}
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	err := t.Place.Put(limited, t.Report(t.Now()), calls)
	if err == nil {
		t.failing = false
		return
	}
	t.Lost(ctx, LostReport, 1)
	if n := asks(calls); n > 0 {
		t.Lost(ctx, LostCalls, n)
	}
	if !t.failing && ctx.Err() == nil {
		t.Logger.WarnContext(ctx, "the board could not be written; rollcall status does not show this process", "error", err)
		t.failing = true
	}
}

func (t *Teller) leave(ctx context.Context) {
	t.tell(ctx)
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	if err := t.Place.Remove(limited, t.Report(t.Now())); err != nil {
		t.Logger.DebugContext(ctx, "the report stays on the board until it is forgotten", "error", err)
	}
}

func asks(minutes []TenantMinute) int {
	n := 0
	for _, m := range minutes {
		n += m.Granted + m.Refused
	}
	return n
}
