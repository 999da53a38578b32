package board

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// How much a View names.
const (
	mostHot     = 10
	mostFanOuts = 10
)

// ErrUnset says that a part needs a setting that is not there.
var ErrUnset = errors.New("a setting is missing")

// Reports are the processes' reports.
type Reports interface {
	Reports(ctx context.Context) ([]Report, error)
}

// Uses is what tenants use of their budget.
type Uses interface {
	// Hottest returns the tenants with most calls of late, n at most, and those
	// that are named, each once, in no order.
	Hottest(ctx context.Context, now time.Time, n int, named []string) ([]TenantUse, error)
}

// Census counts the dirty set by the reason with which a code was marked first.
type Census interface {
	Census(ctx context.Context) ([]DirtyReason, error)
}

// Recomputations are the fan-outs under way, the oldest first, limit at most; and
// how many there are, at least.
type Recomputations interface {
	UnderWay(ctx context.Context, now time.Time, limit int) ([]FanOut, int, error)
}

// Figures are what the broker says of the subscription.
type Figures interface {
	Subscription(ctx context.Context) (Broker, error)
}

// Ports are where a View is read.
type Ports struct {
	Reports        Reports
	Uses           Uses
	Census         Census
	Recomputations Recomputations
	Figures        Figures
}

// Looker reads Views.
type Looker struct {
	Ports
	MinuteLimit int // calls of a tenant that WeCom allows
	HourLimit   int
	Timeout     time.Duration // of each part
	Now         func() time.Time
	// Cause puts an error into words for people; nil is its text.
	Cause func(error) string
}

// Look reads all parts at the same time. It never fails: what cannot be read is
// told in the View.
func (l Looker) Look(ctx context.Context) View {
	v := View{At: l.Now(), Unread: []Unread{}, Instances: []Instance{}}
	var mu sync.Mutex // guards v
	var reading sync.WaitGroup
	for _, part := range []func(context.Context, *View) []Unread{l.board, l.dirty, l.fanOuts, l.broker} {
		reading.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, l.Timeout)
			defer cancel()
			own := View{At: v.At}
			unread := part(ctx, &own)
			mu.Lock()
			defer mu.Unlock()
			v.take(own)
			v.Unread = append(v.Unread, unread...)
		})
	}
	reading.Wait()
	slices.SortFunc(v.Unread, func(a, b Unread) int { return cmp.Compare(a.Part, b.Part) })
	v.Incidents = Incidents(v)
	return v
}

// take takes over the parts that another has.
func (v *View) take(own View) {
	v.Instances = append(v.Instances, own.Instances...)
	v.Freshness, v.Work = cmp.Or(v.Freshness, own.Freshness), cmp.Or(v.Work, own.Work)
	v.Dirty, v.FanOuts = cmp.Or(v.Dirty, own.Dirty), cmp.Or(v.FanOuts, own.FanOuts)
	v.Broker, v.Budget = cmp.Or(v.Broker, own.Broker), cmp.Or(v.Budget, own.Budget)
}

func (l Looker) failed(part Part, err error) []Unread {
	if err == nil {
		return nil
	}
	u := Unread{Part: part, Cause: err.Error(), Unset: errors.Is(err, ErrUnset)}
	if l.Cause != nil {
		u.Cause = l.Cause(err)
	}
	return []Unread{u}
}

// board reads the reports, and then the budget of the tenants that they name.
func (l Looker) board(ctx context.Context, v *View) []Unread {
	reports, err := l.Reports.Reports(ctx)
	if err == nil {
		all := Merge(reports, v.At)
		v.Instances, v.Freshness, v.Work = all.Instances, &all.Freshness, &all.Work
	}
	budget, budgetErr := l.budget(ctx, v)
	v.Budget = budget
	return append(l.failed(PartBoard, err), l.failed(PartBudget, budgetErr)...)
}

func (l Looker) budget(ctx context.Context, v *View) (*Budget, error) {
	var named []string
	if v.Work != nil {
		for _, t := range v.Work.Top {
			if t.Held[reason.Blocked] > 0 || t.Held[reason.Throttled] > 0 {
				named = append(named, t.Tenant)
			}
		}
	}
	uses, err := l.Uses.Hottest(ctx, v.At, mostHot, named)
	if err != nil {
		return nil, err
	}
	blocked := func(t TenantUse) int {
		if t.BlockedUntil.After(v.At) {
			return 0
		}
		return 1
	}
	slices.SortFunc(uses, func(a, b TenantUse) int {
		return cmp.Or(cmp.Compare(blocked(a), blocked(b)), cmp.Compare(b.Minute, a.Minute), cmp.Compare(b.Hour, a.Hour), cmp.Compare(a.Tenant, b.Tenant))
	})
	return &Budget{MinuteLimit: l.MinuteLimit, HourLimit: l.HourLimit, Hottest: uses[:min(len(uses), mostHot)]}, nil
}

func (l Looker) dirty(ctx context.Context, v *View) []Unread {
	reasons, err := l.Census.Census(ctx)
	if err != nil {
		return l.failed(PartDirty, fmt.Errorf("count the dirty set: %w", err))
	}
	d := &DirtySet{Reasons: reasons}
	for _, r := range reasons {
		d.Codes += r.Codes
	}
	slices.SortFunc(d.Reasons, func(a, b DirtyReason) int {
		return cmp.Or(cmp.Compare(b.Codes, a.Codes), cmp.Compare(a.Reason, b.Reason))
	})
	v.Dirty = d
	return nil
}

func (l Looker) fanOuts(ctx context.Context, v *View) []Unread {
	shown, running, err := l.Recomputations.UnderWay(ctx, v.At, mostFanOuts)
	if err != nil {
		return l.failed(PartFanOuts, fmt.Errorf("list the fan-outs: %w", err))
	}
	v.FanOuts = &FanOuts{Running: running, Shown: shown}
	return nil
}

func (l Looker) broker(ctx context.Context, v *View) []Unread {
	b, err := l.Figures.Subscription(ctx)
	if err != nil {
		return l.failed(PartBroker, err)
	}
	v.Broker = &b
	return nil
}
