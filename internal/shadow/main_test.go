package shadow_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

// shanghai is where acme is: T0 is noon there.
var shanghai = time.FixedZone("Asia/Shanghai", 8*3600)

var c1 = push.Ref{Tenant: "acme", Code: "c-1"}

// rig is a tenant in shadow mode, on a store in memory.
type rig struct {
	t        *testing.T
	clock    *shadowtest.Clock
	store    *shadowtest.Memory
	desk     *shadow.Desk
	comparer *shadow.Comparer
	observed *observed
}

func newRig(t *testing.T) *rig {
	t.Helper()
	clock := shadowtest.NewClock()
	store := shadowtest.NewMemory(clock.Now)
	store.PutTenant("acme", shanghai)
	store.PutCode(c1, shadow.Mode{Shadow: true})
	r := &rig{t: t, clock: clock, store: store, desk: shadow.NewDesk(store, store, clock.Now), observed: &observed{}}
	r.comparer = r.newComparer()
	return r
}

func (r *rig) newComparer() *shadow.Comparer {
	return shadow.NewComparer(shadow.Options{
		Store: r.store, Directory: r.store, Observer: r.observed, Now: r.clock.Now, Logger: slog.New(slog.DiscardHandler),
	})
}

// at moves the clock to T0 and some time.
func (r *rig) at(after time.Duration) { r.clock.Set(after) }

// decides leaves a verdict, as of now: members listed as eligible, and others by
// their reason.
func (r *rig) decides(ref push.Ref, members []string, others ...roster.Judgement) {
	r.t.Helper()
	why := others
	for _, staff := range members {
		why = append(why, roster.Judgement{Staff: staff, Included: true, Reason: reason.Eligible})
	}
	if err := r.store.Note(r.t.Context(), ref, push.Shadow{Members: members, At: r.clock.Now(), Why: why}); err != nil {
		r.t.Fatal(err)
	}
}

// pushes has the other system report what it pushed just now.
func (r *rig) pushes(ref push.Ref, users ...string) {
	r.pushed(ref, r.clock.Now(), shadow.Recorded, users...)
}

func (r *rig) pushed(ref push.Ref, at time.Time, want shadow.Reception, users ...string) {
	r.t.Helper()
	got, err := r.desk.Pushed(r.t.Context(), ref, shadow.Reported{Members: users, At: at, Source: shadow.Report})
	if err != nil || got != want {
		r.t.Fatalf("Pushed(%s) = %q, %v; want %q", strings.Join(users, " "), got, err, want)
	}
}

func (r *rig) sweep(want shadow.Compared) {
	r.t.Helper()
	if got, err := r.comparer.Sweep(r.t.Context()); err != nil || got != want {
		r.t.Errorf("Sweep = %+v, %v; want %+v", got, err, want)
	}
}

func (r *rig) report() shadow.Readiness {
	r.t.Helper()
	report, err := r.desk.Report(r.t.Context(), "acme")
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// observed counts what the comparer tells.
type observed struct {
	mu   sync.Mutex
	seen []string
}

func (o *observed) Compared(_ context.Context, outcome shadow.Outcome, causes []shadow.Cause) {
	o.mu.Lock()
	defer o.mu.Unlock()
	words := []string{string(outcome)}
	for _, cause := range causes {
		words = append(words, cause.String())
	}
	o.seen = append(o.seen, strings.Join(words, " "))
}

func (o *observed) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.seen)
}
