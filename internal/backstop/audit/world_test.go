package audit_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit/audittest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var t0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

const (
	bound    = 30 * time.Second
	patience = time.Minute
	every    = time.Hour
)

// world is a tenant acme with staff ann, bob and cyd, and codes of theirs, on
// stores in memory. What the walkers find is kept.
type world struct {
	*testing.T
	clock    *pushtest.Clock
	store    *pushtest.Store
	passes   *audittest.Passes
	dirty    *pushtest.Dirty
	refs     []push.Ref // of codes, in the order of their IDs
	recorded []push.Ref
	sets     map[push.Ref]audit.Set
	booked   map[push.Ref]bool
	noted    map[push.Ref]string
	findings []audit.Finding
	looked   map[push.Ref]int
	sampled  []push.Ref
	ended    []audit.Pass
	fail     func(what string) error
	asking   func() // what happens while the sampler asks
}

func newWorld(t *testing.T) *world {
	clock := pushtest.NewClock(t0)
	w := &world{
		T: t, clock: clock, store: pushtest.NewStore(), passes: &audittest.Passes{}, dirty: pushtest.NewDirty(clock),
		sets: map[push.Ref]audit.Set{}, booked: map[push.Ref]bool{}, noted: map[push.Ref]string{}, looked: map[push.Ref]int{},
		fail: func(string) error { return nil },
	}
	w.passes.Fail = func() error { return w.fail("passes") }
	w.store.PutTenant(roster.Tenant{ID: "acme"})
	for _, id := range []string{"ann", "bob", "cyd"} {
		w.store.PutStaff("acme", roster.Staff{ID: id})
	}
	return w
}

func acme(code string) push.Ref { return push.Ref{Tenant: "acme", Code: code} }

// put makes a code of ann, bob and cyd.
func (w *world) put(id string, edit ...func(*roster.Code)) {
	code := roster.Code{
		ID: id, Tenant: "acme", ConfigID: "cfg-" + id, Family: roster.Native, Revision: 1, CreatedAt: t0, UpdatedAt: t0,
		Members: []roster.Member{{Staff: "ann"}, {Staff: "bob"}, {Staff: "cyd"}}, Switches: roster.Switches{OfflineCheck: true},
	}
	for _, e := range edit {
		e(&code)
	}
	w.store.PutCode(code)
	w.refs = append(w.refs, acme(id))
	slices.SortFunc(w.refs, func(a, b push.Ref) int { return cmp.Compare(a.Code, b.Code) })
}

// pushed records what the facts ask for now, with its set.
func (w *world) pushed(id string, edit ...func(*push.Record)) {
	w.Helper()
	facts, _, err := w.store.Load(w.Context(), acme(id))
	if err != nil {
		w.Fatal(err)
	}
	v, err := roster.Decide(facts, roster.Last{}, roster.LaneRules{}, w.clock.Now())
	if err != nil {
		w.Fatal(err)
	}
	record := push.Record{Code: id, Epoch: 1, Committed: push.Committed{
		Members: v.Members, Hash: v.Hash, Epoch: 1, At: w.clock.Now(), Revision: facts.Code.Revision, Notes: v.Notes,
	}}
	for _, e := range edit {
		e(&record)
	}
	w.store.PutRecord(acme(id), record)
	w.recorded = append(w.recorded, acme(id))
	if facts.Code.Family.Rotates() {
		set := audit.Set{Version: 1, Round: v.Round}
		for _, seat := range v.Rotation {
			set.Staff = append(set.Staff, seat.Staff)
		}
		w.sets[acme(id)] = set
	}
}

func (w *world) walker(owner string, edit ...func(*audit.Options)) *audit.Walker {
	opts := audit.Options{
		Owner: owner, Rate: -1, ChunkSize: 4, MaxOpen: 3, Bound: bound, Every: every, Patience: patience,
		Beat: func() {}, Now: w.clock.Now, Logger: slog.New(slog.DiscardHandler),
	}
	for _, e := range edit {
		e(&opts)
	}
	return audit.New(audit.Ports{
		Codes: codes{w}, Records: codes{w}, Sets: sets{w}, Slots: slots{w}, Passes: w.passes, Dirty: w.dirty,
		Findings: findings{w}, Sampler: sampler{w}, Observer: observer{w},
	}, opts)
}

// pass steps a walker, and the clock with it, until a pass has ended.
func (w *world) pass(walker *audit.Walker) audit.Pass {
	w.Helper()
	before := len(w.ended)
	for range 10_000 {
		wait, err := walker.Step(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if len(w.ended) > before {
			return w.ended[before]
		}
		w.clock.Advance(wait)
	}
	w.Fatal("the pass does not end")
	return audit.Pass{}
}

func (w *world) marks() map[string]string {
	all, err := w.dirty.List(w.Context(), push.Ref{}, 1000)
	if err != nil {
		w.Fatal(err)
	}
	marks := map[string]string{}
	for _, e := range all {
		marks[e.Code] = e.Reasons[0].String()
	}
	return marks
}

type codes struct{ w *world }

func (c codes) Page(ctx context.Context, after string, limit int) ([]audit.Look, error) {
	if err := c.w.fail("page"); err != nil {
		return nil, err
	}
	var refs []push.Ref
	for _, ref := range c.w.refs {
		if ref.Code > after && len(refs) < limit {
			refs = append(refs, ref)
		}
	}
	return c.look(ctx, refs)
}

func (c codes) Of(ctx context.Context, refs []push.Ref) ([]audit.Look, error) {
	if err := c.w.fail("of"); err != nil {
		return nil, err
	}
	return c.look(ctx, refs)
}

func (c codes) look(ctx context.Context, refs []push.Ref) ([]audit.Look, error) {
	looks := make([]audit.Look, len(refs))
	for i, ref := range refs {
		looks[i].Ref = ref
		if !slices.Contains(c.w.refs, ref) {
			looks[i].Wrong = push.ErrUnknownCode
			continue
		}
		var err error
		if looks[i].Facts, looks[i].Record, err = c.w.store.Load(ctx, ref); err != nil {
			looks[i].Wrong = err
		}
		_, looks[i].Dirty, _ = c.w.dirty.Get(ctx, ref)
		looks[i].Noted = c.w.noted[ref]
	}
	return looks, nil
}

func (c codes) Recorded(_ context.Context, after push.Ref, limit int) ([]push.Ref, error) {
	var refs []push.Ref
	for _, ref := range c.w.recorded {
		if ref.Code > after.Code && len(refs) < limit {
			refs = append(refs, ref)
		}
	}
	return refs, c.w.fail("recorded")
}

type sets struct{ w *world }

func (s sets) Standing(_ context.Context, refs []push.Ref) ([]audit.Set, error) {
	all := make([]audit.Set, len(refs))
	for i, ref := range refs {
		all[i] = s.w.sets[ref]
	}
	return all, s.w.fail("standing")
}

func (s sets) All(context.Context) iter.Seq2[push.Ref, error] {
	return func(yield func(push.Ref, error) bool) {
		for ref := range s.w.sets {
			if !yield(ref, nil) {
				return
			}
		}
	}
}

type slots struct{ w *world }

func (s slots) Booked(_ context.Context, refs []push.Ref) ([]bool, error) {
	all := make([]bool, len(refs))
	for i, ref := range refs {
		all[i] = s.w.booked[ref]
	}
	return all, nil
}

type findings struct{ w *world }

func (f findings) Note(_ context.Context, found ...audit.Finding) error {
	f.w.findings = append(f.w.findings, found...)
	return nil
}

type sampler struct{ w *world }

func (s sampler) Sample(_ context.Context, _ int64, look audit.Look) error {
	s.w.sampled = append(s.w.sampled, look.Ref)
	if ask := s.w.asking; ask != nil {
		s.w.asking = nil // who else asks meanwhile is not slow
		ask()
		s.w.asking = ask
	}
	return nil
}

type observer struct{ w *world }

func (o observer) Looked(_ context.Context, f audit.Finding) { o.w.looked[f.Ref]++ }

func (o observer) Passed(_ context.Context, pass audit.Pass) { o.w.ended = append(o.w.ended, pass) }

var errDown = errors.New("the store is down")
