package spot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot/spottest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

const (
	settle = 10 * time.Second
	grace  = time.Minute
)

var (
	start = time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)
	fair  = push.Ref{Tenant: "acme", Code: "fair"}
)

// rig is one code, its record, the contact way that WeCom holds, and the parts
// around a checker. Whoever sets step sees every operation before and after its
// effect.
type rig struct {
	t       *testing.T
	clock   *pushtest.Clock
	store   *spottest.Memory
	dirty   *pushtest.Dirty
	record  push.Record
	way     spot.Way
	gone    bool
	idle    bool // budget is spare
	wanted  spot.Wanted
	looks   int
	failure error // of the look
	// meanwhile happens while WeCom is asked.
	meanwhile func()
	step      func(op string, done bool)
}

func newRig(t *testing.T) *rig {
	clock := pushtest.NewClock(start)
	r := &rig{
		t: t, clock: clock, store: spottest.NewMemory(), dirty: pushtest.NewDirty(clock), idle: true,
		wanted: spot.Wanted{Remark: "fair", State: "s1", SkipVerify: true},
		step:   func(string, bool) {},
	}
	r.push()
	clock.Advance(time.Hour)
	return r
}

// push is what a refresher does to a code whose list is not known to be right.
func (r *rig) push() {
	r.record.Code = fair.Code
	r.record.Epoch++
	r.record.Committed = push.Committed{
		Members: []string{"wang", "li.na"}, Hash: "ours", Epoch: r.record.Epoch, At: r.clock.Now(), Revision: 3,
	}
	r.way = spot.Way{Users: []string{"li.na", "wang"}, Remark: "fair", State: "s1", SkipVerify: true}
}

// release is the keeper and the refreshers: what is due is looked at, and pushed
// if the record does not hold the list that is wanted.
func (r *rig) release() {
	e, marked := r.marked()
	if !marked || e.Due.After(r.clock.Now()) {
		return
	}
	if r.record.Committed.Hash != "ours" {
		r.push()
	}
	if n, err := r.dirty.Remove(r.t.Context(), e); n != 1 || err != nil {
		r.t.Fatal(n, err)
	}
}

// marked is the code's entry in the dirty set.
func (r *rig) marked() (pushtest.Entry, bool) {
	r.t.Helper()
	e, marked, err := r.dirty.Get(r.t.Context(), fair)
	if err != nil {
		r.t.Fatal(err)
	}
	return e, marked
}

func (r *rig) sample() spot.Sample {
	return spot.Sample{Ref: fair, ConfigID: "cfg", Revision: 3, Record: r.record, Wanted: r.wanted}
}

func (r *rig) checker(policy spot.Policy) *spot.Checker {
	return spot.NewChecker(
		spot.Ports{
			Spare: ports{r}, Looker: ports{r}, Records: ports{r}, Doubts: ports{r}, Dirty: ports{r},
			Differences: ports{r}, Days: ports{r},
		},
		spot.Options{Policy: policy, Settle: settle, Grace: grace, Now: r.clock.Now},
	)
}

func (r *rig) check(policy spot.Policy, want spot.Outcome) spot.Difference {
	r.t.Helper()
	return r.checkOf(r.sample(), policy, want)
}

func (r *rig) checkOf(s spot.Sample, policy spot.Policy, want spot.Outcome) spot.Difference {
	r.t.Helper()
	got, err := r.checker(policy).Check(r.t.Context(), s)
	if err != nil || got.Outcome != want {
		r.t.Errorf("Check = %s, %v; want %s", got.Outcome, err, want)
	}
	return got.Difference
}

// stored is what is kept of the code's difference.
func (r *rig) stored() spot.Difference {
	r.t.Helper()
	d, _, err := r.store.Get(r.t.Context(), fair)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

func (r *rig) wantState(want spot.State) {
	r.t.Helper()
	if got := r.stored().State; got != want {
		r.t.Errorf("the difference is %q, want %q", got, want)
	}
}

func (r *rig) wantTally(want spot.Tally) {
	r.t.Helper()
	if got := r.store.Total(fair.Tenant); got != want {
		r.t.Errorf("counted %+v, want %+v", got, want)
	}
}

// ports are the rig as the checker sees it.
type ports struct{ r *rig }

func (p ports) do(ctx context.Context, op string, effect func()) error {
	p.r.step(op, false)
	if err := ctx.Err(); err != nil {
		return err
	}
	effect()
	p.r.step(op, true)
	return nil
}

func (p ports) Spare(ctx context.Context, _ string) (idle bool, err error) {
	err = p.do(ctx, "spare", func() { idle = p.r.idle })
	return idle, err
}

func (p ports) Way(ctx context.Context, tenant, configID string) (way spot.Way, known bool, err error) {
	if tenant != fair.Tenant || configID != "cfg" {
		return spot.Way{}, false, errors.New("another contact way was asked for")
	}
	err = p.do(ctx, "look", func() {
		p.r.looks++
		if p.r.meanwhile != nil {
			p.r.meanwhile()
		}
		if known = !p.r.gone; known {
			way = p.r.way
		}
	})
	return way, known, errors.Join(err, p.r.failure)
}

func (p ports) Record(ctx context.Context, _ push.Ref) (record push.Record, err error) {
	err = p.do(ctx, "record", func() { record = p.r.record })
	return record, err
}

func (p ports) Doubt(ctx context.Context, _ push.Ref, epoch int64) (doubted bool, err error) {
	err = p.do(ctx, "doubt", func() {
		if doubted = p.r.record.Epoch == epoch; doubted {
			p.r.record.Committed.Hash = ""
		}
	})
	return doubted, err
}

func (p ports) Mark(ctx context.Context, marks ...push.Mark) error {
	var failed error
	err := p.do(ctx, "mark", func() { failed = p.r.dirty.Mark(ctx, marks...) })
	return errors.Join(err, failed)
}

func (p ports) Get(ctx context.Context, ref push.Ref) (d spot.Difference, found bool, err error) {
	var failed error
	err = p.do(ctx, "get", func() { d, found, failed = p.r.store.Get(ctx, ref) })
	return d, found, errors.Join(err, failed)
}

func (p ports) Put(ctx context.Context, d spot.Difference) (done bool, err error) {
	var failed error
	err = p.do(ctx, "put", func() { done, failed = p.r.store.Put(ctx, d) })
	return done, errors.Join(err, failed)
}

func (p ports) Add(ctx context.Context, tenant string, day roster.Day, tally spot.Tally) error {
	var failed error
	err := p.do(ctx, "add", func() { failed = p.r.store.Add(ctx, tenant, day, tally) })
	return errors.Join(err, failed)
}
