package quota_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// How long a rig's counters remember, and from when an addition is overdue.
const (
	forgetAfter = 10 * time.Minute
	overdue     = 30 * time.Second
)

// rig is a Counter on a store in memory, and what it gives away.
type rig struct {
	*quota.Counter
	store *quotatest.Store
	out   *outbox
	clock *clock
}

var code = push.Ref{Tenant: "acme", Code: "code-s"}

// newRig has a tenant with a ceiling of two additions a day, two members, and a
// code with the state s, on which li.na may have one a day and three in all.
func newRig() *rig {
	clock := &clock{now: noon.Add(time.Hour)}
	store := quotatest.NewStore(clock.Now)
	store.PutTenant(roster.Tenant{ID: "acme", TimeZone: "Asia/Shanghai", DailyTotal: 2})
	store.PutStaff("acme", roster.Staff{ID: "li.na"}, roster.Staff{ID: "wang"})
	store.PutCode(roster.Code{
		ID: code.Code, Tenant: "acme", State: "s", Switches: roster.Switches{AddLimit: true, DailyLimit: true},
		Members: []roster.Member{{Staff: "li.na", AddLimit: 3, DailyLimit: 1}, {Staff: "wang"}},
	})
	out := newOutbox(store)
	return &rig{Counter: newCounter(store, out, clock.Now), store: store, out: out, clock: clock}
}

func newCounter(store *quotatest.Store, out *outbox, now func() time.Time) *quota.Counter {
	return quota.New(
		quota.Ports{Facts: store, Contacts: store, Counters: store, Staff: store, Publish: out, FanOuts: out, Notices: out, Observer: out},
		quota.Options{ForgetAfter: forgetAfter, Overdue: overdue, Now: now},
	)
}

// added is the event of a customer that li.na got through the code.
func added(customer string, second int) quota.Event {
	return quota.Event{
		Pair:   quota.Pair{Tenant: "acme", Staff: "li.na", Customer: customer},
		Change: quota.Added, State: "s", At: noon.Add(time.Duration(second) * time.Second),
	}
}

func (r *rig) take(t *testing.T, event quota.Event, want quota.Judgement) {
	t.Helper()
	got, err := r.Take(t.Context(), event)
	if got != want || err != nil {
		t.Fatalf("Take(%+v) = %q, %v; want %q", event, got, err, want)
	}
}

func (r *rig) wantCounters(t *testing.T, total int) {
	t.Helper()
	var want roster.Counters
	var added map[roster.Day]int
	if total > 0 {
		counts := map[string]int{"li.na": total}
		want = roster.Counters{Total: counts, InRound: counts, Days: map[roster.Day]map[string]int{"20261130": counts}}
		added = map[roster.Day]int{"20261130": total}
	}
	facts := r.store.Facts(code)
	if diff := cmp.Diff(want, facts.Counters, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(added, facts.Staff["li.na"].Added, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("company-wide (-want +got):\n%s", diff)
	}
}

// wantOpen fails unless so many contacts have an addition that is not done.
func (r *rig) wantOpen(t *testing.T, want int) {
	t.Helper()
	open, err := r.store.Open(t.Context(), r.clock.Now().Add(time.Hour), 1000)
	if len(open) != want || err != nil {
		t.Errorf("%d contacts are open, %v; want %d: %+v", len(open), err, want, open)
	}
}

// clock is set by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Names of the outbox's operations as the hooks see them.
const (
	opRefresh = "publish.refresh"
	opRequest = "fan_outs.request"
	opFile    = "notices.file"
)

// outbox is what a Counter gives away, in memory: its Publisher, its Requester,
// its Filer and its Observer.
type outbox struct {
	fanouttest.Hooks
	store *quotatest.Store

	mu       sync.Mutex
	refreshs map[push.Ref]int // how often
	saw      map[push.Ref]int // how many additions the code had at the last refresh
	requests map[string]fanout.Request
	notices  map[told]notify.Notice
	judged   map[quota.Judgement]int
	reached  map[reason.Reason]int
	fell     map[reason.Reason]int
}

// told is a notice's key.
type told struct{ tenant, key string }

func newOutbox(store *quotatest.Store) *outbox {
	return &outbox{
		store:    store,
		refreshs: map[push.Ref]int{}, saw: map[push.Ref]int{},
		requests: map[string]fanout.Request{}, notices: map[told]notify.Notice{},
		judged: map[quota.Judgement]int{}, reached: map[reason.Reason]int{}, fell: map[reason.Reason]int{},
	}
}

func (o *outbox) Refresh(ctx context.Context, ref push.Ref, _ string) (publish.Place, error) {
	err := o.Do(ctx, opRefresh, func() {
		saw := additionsOn(o.store, ref)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.refreshs[ref]++
		o.saw[ref] = max(o.saw[ref], saw)
	})
	return publish.Broker, err
}

func additionsOn(store *quotatest.Store, ref push.Ref) int {
	n := 0
	for _, total := range store.Facts(ref).Counters.Total {
		n += total
	}
	return n
}

func (o *outbox) Request(ctx context.Context, request fanout.Request) (fanout.Ticket, error) {
	return fanout.Ticket{}, o.Do(ctx, opRequest, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.requests[request.Key] = request
	})
}

func (o *outbox) File(ctx context.Context, notice notify.Notice) error {
	return o.Do(ctx, opFile, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		key := told{notice.Tenant, notice.Key}
		if _, filed := o.notices[key]; !filed {
			o.notices[key] = notice
		}
	})
}

func (o *outbox) Judged(_ context.Context, judgement quota.Judgement) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judged[judgement]++
}

func (o *outbox) Reached(_ context.Context, _ quota.Counting, ceiling quota.Ceiling) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reached[ceiling.Kind]++
}

func (o *outbox) Fell(_ context.Context, cause reason.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fell[cause]++
}

func (o *outbox) requested() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.requests))
}

func (o *outbox) filed() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var keys []string
	for notice := range o.notices {
		keys = append(keys, notice.key)
	}
	slices.Sort(keys)
	return keys
}
