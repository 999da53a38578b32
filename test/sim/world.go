package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// start is when every run begins: two minutes before midnight in the islands,
// where the tenants are whose facts change by time alone.
var start = time.Date(2026, 11, 30, 1, 58, 0, 0, time.UTC)

const islands = "America/Noronha" // UTC-2, all the year

// world is one run.
type world struct {
	seed    uint64
	rnd     *rand.Rand
	profile *profile
	tracer  func(string)

	clock     *pushtest.Clock
	store     *pushtest.Store
	rotation  *pushtest.Rotation
	shadows   *pushtest.Shadows
	dirty     *pushtest.Dirty
	vendor    *pushtest.Vendor
	budget    *budget
	broker    *broker
	consumers []*consumer
	keepers   []*keeper
	producers process
	codes     []push.Ref

	tasks   []*task
	current *task
	able    []*task    // scratch of runOne
	due     []*message // scratch of dispatch
	joined  int
	changed int  // facts changed so far
	calm    bool // nothing goes wrong any more

	wire     []flight
	windows  map[string]*calls
	open     map[string]time.Time // until when a tenant's breaker is open
	failedAt map[push.Ref]time.Time
	// committed is how often facts had changed when those of a code's last
	// committed list were read.
	committed   map[push.Ref]int
	suspendedAt map[string]time.Time
	// refusedEver are the staff members whom WeCom refused at some time.
	refusedEver map[string]bool
	badSince    time.Time // when whom it refuses last changed
	pushes      int
	timed       int // events that the keeper published for time alone
	outcomes    map[string]int
	fault       *Fault
}

func newWorld(seed uint64, p *profile, tracer func(string)) *world {
	clock := pushtest.NewClock(start)
	w := &world{
		seed: seed, rnd: rand.New(rand.NewPCG(seed, 0x0c0de)), profile: p, tracer: tracer,
		clock: clock, store: pushtest.NewStore(), rotation: pushtest.NewRotation(), shadows: pushtest.NewShadows(),
		dirty: pushtest.NewDirty(clock), vendor: pushtest.NewVendor(clock),
		windows: map[string]*calls{}, open: map[string]time.Time{}, failedAt: map[push.Ref]time.Time{}, committed: map[push.Ref]int{}, refusedEver: map[string]bool{}, suspendedAt: map[string]time.Time{},
		outcomes: map[string]int{},
	}
	w.producers.name = "producer"
	w.broker = &broker{w: w}
	w.budget = newBudget(w)
	w.vendor.Answer = w.answer
	w.store.Order = func(reads []string) {
		w.rnd.Shuffle(len(reads), func(i, j int) { reads[i], reads[j] = reads[j], reads[i] })
	}
	for _, hooks := range []*pushtest.Hooks{&w.store.Hooks, &w.rotation.Hooks, &w.budget.Hooks, &w.vendor.Hooks, &w.dirty.Hooks} {
		hooks.Step = w.step
		hooks.Before = w.refusedAt
		hooks.After = func(string) error { return w.lost() }
	}
	w.furnish()
	return w
}

// furnish writes the first facts and lets the first processes in.
func (w *world) furnish() {
	for i := range w.profile.tenants {
		tenant := "t" + itoa(i+1)
		w.windows[tenant] = &calls{}
		w.store.PutTenant(roster.Tenant{ID: tenant, MaxRemovalShare: 1, TimeZone: w.profile.zone})
		for s := range w.profile.staff {
			w.store.PutStaff(tenant, w.hire(staffName(s)))
		}
		w.store.PutStaff(tenant, roster.Staff{ID: "spare", Presence: roster.Online})
	}
	for i, family := range w.profile.families {
		ref := push.Ref{Tenant: "t" + itoa(min(i/4, w.profile.tenants-1)+1), Code: "c" + itoa(i+1)}
		w.codes = append(w.codes, ref)
		code := roster.Code{
			ID: ref.Code, Tenant: ref.Tenant, ConfigID: "cfg-" + ref.Code, Family: family, Revision: 1,
			Switches: roster.Switches{OfflineCheck: true, AddLimit: true}, Backups: []string{"spare"},
			CreatedAt: start, UpdatedAt: start,
		}
		for s := range w.profile.staff {
			code.Members = append(code.Members, roster.Member{Staff: staffName(s)})
		}
		w.store.PutCode(code)
		w.vendor.AddWay(code.ConfigID, "whoever")
	}
	for i := range w.profile.keepers {
		w.keep("k" + itoa(i+1))
	}
	for range 1 + w.rnd.IntN(w.profile.atStart) {
		w.join()
	}
	for _, ref := range w.codes {
		w.broker.publish(ref)
	}
}

func staffName(i int) string { return "s" + itoa(i+1) }

func itoa(i int) string { return strconv.Itoa(i) }

func (w *world) protocolOptions(c *consumer) push.Options {
	p := w.profile
	return push.Options{
		Owner: c.name, CallTimeout: p.callTimeout, IntentMargin: p.margin, ParkAfter: p.parkAfter,
		Backoff: push.Backoff{Base: p.backoff, Cap: p.backoffCap}, MaxFailures: p.maxFailures,
		Now: func() time.Time { return w.clock.Now().Add(c.skew) },
	}
}

// Allow is the circuit breaker.
func (w *world) Allow(tenant string) (bool, time.Time) {
	until := w.open[tenant]
	return !until.After(w.clock.Now()), until
}

func (w *world) happens(p float64) bool { return !w.calm && w.rnd.Float64() < p }

// upTo is a random duration below d.
func (w *world) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(w.rnd.Int64N(int64(d)))
}

var (
	errRefused = errors.New("injected: refused, without effect")
	errLost    = errors.New("injected: the answer is lost, the effect is there")
)

// refused fails an operation before its effect.
func (w *world) refused() error {
	if w.current != nil && w.happens(w.profile.opFault/2) {
		w.note(w.current.name, "refused")
		return errRefused
	}
	return nil
}

// refusedAt fails a mark more often than the rest: parks are rare, and what
// follows from one that is not stored has to be seen.
func (w *world) refusedAt(op string) error {
	if op == pushtest.OpMark && w.happens(0.1) {
		return errRefused
	}
	return w.refused()
}

// lost fails an operation after its effect.
func (w *world) lost() error {
	if w.current != nil && w.happens(w.profile.opFault/2) {
		w.note(w.current.name, "the answer is lost")
		return errLost
	}
	return nil
}

// attempt is a step of an operation that may be refused.
func (w *world) attempt(ctx context.Context, op string) error {
	w.step(op)
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.refused()
}

func (w *world) count(outcome push.Outcome) {
	kind, why := push.Describe(outcome)
	w.outcomes[kind+" "+why.String()]++
}

// fail notes the first invariant that does not hold.
func (w *world) fail(invariant Invariant, detail string) {
	if w.fault == nil {
		w.fault = &Fault{Seed: w.seed, Invariant: invariant, Detail: detail}
		w.note("judge", "%s: %s", invariant, detail)
	}
}

// at shows an instant as the time since the start.
func (w *world) at(t time.Time) string { return fmt.Sprintf("%.3fs", t.Sub(start).Seconds()) }

func (w *world) note(who, format string, args ...any) {
	if w.tracer != nil {
		w.tracer(fmt.Sprintf("%10s  %-8s %s", w.at(w.clock.Now()), who, fmt.Sprintf(format, args...)))
	}
}
