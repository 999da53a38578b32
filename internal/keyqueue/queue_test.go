package keyqueue_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var t0 = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

const (
	maxHold = 15 * time.Second
	recheck = time.Second
	burst   = 3
	// paceRate lets one key of a tenant run once in recheck, and two of them too.
	paceRate = 1
)

func newQueue(tenantCap int) *keyqueue.Queue[int] {
	return keyqueue.New(keyqueue.Options[int]{
		Compare:   cmp.Compare[int],
		TenantCap: tenantCap,
		MaxHold:   maxHold,
		Recheck:   recheck,
		Burst:     burst,
		PaceRate:  paceRate,
		MaxPace:   recheck,
		Remember:  maxHold,
	})
}

// fixture drives a queue with short words.
type fixture struct {
	*testing.T
	q   *keyqueue.Queue[int]
	now time.Time
}

func start(t *testing.T) *fixture { return &fixture{T: t, q: newQueue(4), now: t0} }

func key(code string) keyqueue.Key { return keyqueue.Key{Tenant: "acme", Code: code} }

// arrive touches code with a message that was published now.
func (f *fixture) arrive(code string, message int) []int {
	return f.q.Touch(keyqueue.Touch[int]{Key: key(code), Message: message, PublishedAt: f.now}, f.now)
}

func (f *fixture) arriveOf(k keyqueue.Key, message int) {
	f.q.Touch(keyqueue.Touch[int]{Key: k, Message: message, PublishedAt: f.now}, f.now)
}

func (f *fixture) mustWork(code string) keyqueue.Work[int] {
	f.Helper()
	w, ok := f.q.Next(f.now)
	if !ok || w.Code != code {
		f.Fatalf("Next() = %v, %v; want code %q", w, ok, code)
	}
	return w
}

func (f *fixture) mustIdle() {
	f.Helper()
	if w, ok := f.q.Next(f.now); ok {
		f.Fatalf("Next() = %v; want nothing", w)
	}
}

func (f *fixture) hold(code string, d time.Duration, cause reason.Reason) {
	f.q.Hold(key(code), keyqueue.Wait{Until: f.now.Add(d), Cause: cause, Firm: cause.Firm()}, f.now)
}

func (f *fixture) pass(d time.Duration) { f.now = f.now.Add(d) }

func (f *fixture) want(what string, got, want any) {
	f.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		f.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestOneMessagePerKeyStaysUnacked(t *testing.T) {
	none := []int(nil)
	t.Run("ready: the newer takes the place of the older", func(t *testing.T) {
		f := start(t)
		f.want("first", f.arrive("a", 1), none)
		f.want("second", f.arrive("a", 2), []int{1})
		f.want("in work", f.mustWork("a").Message, 2)
		f.q.Observe(key("a"))
		f.want("acked at the end", f.q.Done(key("a"), f.now).Acks, []int{2})
	})
	t.Run("an older one that comes late is covered by the newer", func(t *testing.T) {
		f := start(t)
		f.arrive("a", 5)
		f.want("older", f.arrive("a", 3), []int{3})
		f.want("in work", f.mustWork("a").Message, 5)
	})
	t.Run("the same one twice stays one and is not acked", func(t *testing.T) {
		f := start(t)
		f.arrive("a", 5)
		f.want("ready", f.arrive("a", 5), none)
		f.mustWork("a")
		f.want("in work", f.arrive("a", 5), none)
		f.q.Observe(key("a"))
		f.want("end", f.q.Done(key("a"), f.now), keyqueue.Ending[int]{Acks: []int{5}, PublishedAt: t0})
		f.mustIdle()
	})
	t.Run("held: the newer takes the place of the older", func(t *testing.T) {
		f := start(t)
		f.arrive("a", 1)
		f.mustWork("a")
		f.hold("a", 10*time.Second, reason.Throttled)
		f.want("newer", f.arrive("a", 2), []int{1})
		f.want("held", f.q.Held(), 1)
	})
}

func TestKeyTouchedInWorkRunsAgainUnlessObserved(t *testing.T) {
	t.Run("after the last look at the facts", func(t *testing.T) {
		f := start(t)
		f.arrive("a", 1)
		f.mustWork("a")
		f.q.Observe(key("a"))
		f.pass(time.Second)
		f.want("older acked at once", f.arrive("a", 2), []int{1})
		f.mustIdle()
		f.want("end", f.q.Done(key("a"), f.now), keyqueue.Ending[int]{PublishedAt: t0, Again: true})
		f.want("again", f.mustWork("a").Message, 2)
		f.q.Observe(key("a"))
		f.want("second end", f.q.Done(key("a"), f.now), keyqueue.Ending[int]{Acks: []int{2}, PublishedAt: t0.Add(time.Second)})
	})
	t.Run("before the last look at the facts", func(t *testing.T) {
		f := start(t)
		f.arrive("a", 1)
		f.mustWork("a")
		f.q.Observe(key("a"))
		f.arrive("a", 2)
		f.q.Observe(key("a"))
		f.want("end", f.q.Done(key("a"), f.now), keyqueue.Ending[int]{Acks: []int{2}, PublishedAt: t0})
		f.mustIdle()
	})
}

func TestHoldEndsAtItsDeadline(t *testing.T) {
	cases := []struct {
		name  string
		wait  time.Duration
		cause reason.Reason
		newer time.Duration // arrival of a newer message; 0 is none
		ends  time.Duration
		nack  bool // given back to the broker; otherwise ready here
	}{
		{"short", 3 * time.Second, reason.Throttled, 0, 3 * time.Second, true},
		{"long: cut at MaxHold", time.Hour, reason.SlowLane, 0, maxHold, true},
		{"a newer message brings it forward", 10 * time.Second, reason.Throttled, 2 * time.Second, 3 * time.Second, false},
		{"a newer message near the end changes nothing", 10 * time.Second, reason.Throttled, 9500 * time.Millisecond, 10 * time.Second, true},
		{"a newer message never shortens a failure's", 10 * time.Second, reason.Backoff, 2 * time.Second, 10 * time.Second, true},
		{"nor an outage's", 10 * time.Second, reason.StoreDown, 2 * time.Second, 10 * time.Second, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := start(t)
			f.arrive("a", 1)
			f.mustWork("a")
			f.hold("a", c.wait, c.cause)
			message := 1
			if c.newer > 0 {
				f.pass(c.newer)
				message = 2
				f.arrive("a", message)
			}
			due, ok := f.q.NextDue()
			if !ok || !due.Equal(t0.Add(c.ends)) {
				t.Fatalf("NextDue() = %v, %v; want %v", due.Sub(t0), ok, c.ends)
			}
			f.want("too early", f.q.Due(due.Add(-1)), keyqueue.Expired[int]{})
			f.now = due
			if c.nack {
				f.want("due", f.q.Due(due), keyqueue.Expired[int]{Nacks: []int{message}})
				f.mustIdle()
				return
			}
			f.want("due", f.q.Due(due), keyqueue.Expired[int]{Ready: 1})
			f.want("in work", f.mustWork("a").Message, message)
		})
	}
}

func TestMessageThatArrivesInWorkBringsTheHoldForward(t *testing.T) {
	f := start(t)
	f.arrive("a", 1)
	f.mustWork("a")
	f.q.Observe(key("a"))
	f.arrive("a", 2)
	f.hold("a", 10*time.Second, reason.Throttled)
	due, _ := f.q.NextDue()
	f.want("due", due.Sub(t0), recheck)
}

func TestStormRechecksAHeldKeyLessAndLessOften(t *testing.T) {
	f := start(t)
	f.arrive("a", 1)
	var rechecks []time.Duration
	for message := 2; f.now.Before(t0.Add(14 * time.Second)); message++ {
		if w, ok := f.q.Next(f.now); ok {
			f.q.Observe(w.Key)
			rechecks = append(rechecks, f.now.Sub(t0))
			f.q.Hold(w.Key, keyqueue.Wait{Until: t0.Add(14 * time.Second), Cause: reason.Throttled}, f.now)
		}
		f.arrive("a", message)
		f.pass(100 * time.Millisecond)
		f.q.Due(f.now)
	}
	want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}
	f.want("rechecks", rechecks, want)
}

func TestKeyThatRanItsBurstPausesBetweenRuns(t *testing.T) {
	f := start(t)
	var runs []time.Duration
	for message := 1; f.now.Before(t0.Add(4 * time.Second)); message++ {
		f.arrive("a", message)
		f.q.Due(f.now)
		if w, ok := f.q.Next(f.now); ok {
			runs = append(runs, f.now.Sub(t0))
			f.q.Observe(w.Key)
			f.q.Done(w.Key, f.now)
		}
		f.pass(100 * time.Millisecond)
	}
	want := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second}
	f.want("runs of a key with ten events a second", runs, want)
	f.pass(burst * recheck)
	f.q.Due(f.now)
	f.arrive("a", 1000)
	f.mustWork("a")
}

func TestHotKeyOfACalmTenantIsPacedByItsRateAlone(t *testing.T) {
	opts := keyqueue.Options[int]{
		Compare: cmp.Compare[int], TenantCap: 4, MaxHold: maxHold, Recheck: recheck, Burst: burst, PaceRate: 100, MaxPace: recheck, Remember: maxHold,
	}
	f := &fixture{T: t, q: keyqueue.New(opts), now: t0}
	runs := 0
	for message := 1; f.now.Before(t0.Add(time.Second)); message++ {
		f.arrive("hot", message)
		f.q.Due(f.now)
		if w, ok := f.q.Next(f.now); ok {
			runs++
			f.q.Observe(w.Key)
			f.q.Done(w.Key, f.now)
		}
		f.pass(time.Millisecond)
	}
	if want := 100 + burst; runs < want-2 || runs > want {
		t.Errorf("%d runs in a second; want %d, the tenant's rate and the key's burst", runs, want)
	}
}

func TestKeyThatComesBackFromTheBrokerDoesNotPause(t *testing.T) {
	f := start(t)
	for message := 1; message <= burst; message++ {
		f.arrive("a", message)
		f.mustWork("a")
		f.q.Observe(key("a"))
		if message < burst {
			f.q.Done(key("a"), f.now)
		}
	}
	f.hold("a", 100*time.Millisecond, reason.Throttled)
	f.pass(100 * time.Millisecond)
	f.want("given back", f.q.Due(f.now), keyqueue.Expired[int]{Nacks: []int{burst}})
	f.arrive("a", burst)
	f.mustWork("a") // its slot is now
}

func TestKeyThatComesBackGoesBeforeNewOnes(t *testing.T) {
	f := start(t)
	f.arrive("a", 1)
	f.mustWork("a")
	f.q.Observe(key("a"))
	f.hold("a", time.Second, reason.Throttled)
	f.arrive("new", 2)
	f.arrive("newer", 3)
	f.pass(time.Second)
	f.want("given back", f.q.Due(f.now), keyqueue.Expired[int]{Nacks: []int{1}})
	f.arrive("a", 1)
	f.mustWork("a") // a slot lapses while it stands in line
	f.mustWork("new")
	f.mustWork("newer")
}

func TestAgeSurvivesAHold(t *testing.T) {
	f := start(t)
	f.arrive("a", 1)
	f.mustWork("a")
	f.q.Observe(key("a"))
	f.hold("a", 5*time.Second, reason.Throttled)
	f.pass(4500 * time.Millisecond)
	f.arrive("a", 2) // its own publish time is later
	f.pass(time.Second)
	f.want("given back", f.q.Due(f.now), keyqueue.Expired[int]{Nacks: []int{2}})
	f.pass(50 * time.Millisecond)
	f.q.Touch(keyqueue.Touch[int]{Key: key("a"), Message: 2, PublishedAt: t0.Add(4500 * time.Millisecond)}, f.now)
	f.mustWork("a")
	f.q.Observe(key("a"))
	f.want("end", f.q.Done(key("a"), f.now), keyqueue.Ending[int]{Acks: []int{2}, PublishedAt: t0, Waited: reason.Throttled})
}

func TestAgeIsForgottenWhenTheMessageGoesElsewhere(t *testing.T) {
	f := start(t)
	f.arrive("a", 1)
	f.mustWork("a")
	f.hold("a", time.Second, reason.Throttled)
	f.pass(time.Second)
	f.q.Due(f.now)
	f.pass(maxHold)
	f.want("nothing to do", f.q.Due(f.now), keyqueue.Expired[int]{})
	if due, ok := f.q.NextDue(); ok {
		t.Errorf("NextDue() = %v; want nothing left", due)
	}
	f.arrive("a", 2)
	f.mustWork("a")
	f.q.Observe(key("a"))
	f.want("end", f.q.Done(key("a"), f.now), keyqueue.Ending[int]{Acks: []int{2}, PublishedAt: f.now})
}

func TestHandBackGivesUpEveryHoldAndNothingElse(t *testing.T) {
	f := start(t)
	for i, code := range []string{"working", "held", "failed", "ready"} {
		f.arrive(code, i+1)
		if code != "ready" {
			f.mustWork(code)
		}
	}
	f.hold("held", 10*time.Second, reason.Throttled)
	f.hold("failed", 10*time.Second, reason.Backoff)
	f.want("nacks", f.q.HandBack(f.now), []int{2, 3})
	f.want("a second time", len(f.q.HandBack(f.now)), 0)
	f.want("stats", f.q.Stats(), keyqueue.Stats{Ready: 1, InFlight: 1, ByCause: map[reason.Reason]int{}})
	f.want("redelivered", f.arrive("held", 2), []int(nil))
}

func TestTenantsTakeTurns(t *testing.T) {
	q := newQueue(2)
	for i := range 100 {
		q.Touch(touch("storm", fmt.Sprint("s", i), i), t0)
	}
	for i := range 3 {
		q.Touch(touch("calm", fmt.Sprint("c", i), i), t0)
	}
	var order []string
	for range 4 {
		w, ok := q.Next(t0)
		if !ok {
			t.Fatal("no work within the caps")
		}
		order = append(order, w.Code)
	}
	if diff := gocmp.Diff([]string{"s0", "c0", "s1", "c1"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if w, ok := q.Next(t0); ok {
		t.Errorf("Next() = %v beyond the caps of both tenants", w)
	}
	q.Done(keyqueue.Key{Tenant: "storm", Code: "s0"}, t0)
	if w, ok := q.Next(t0); !ok || w.Code != "s2" {
		t.Errorf("Next() = %v, %v; want s2, whose tenant has room again", w, ok)
	}
}

func TestTenantCapChangesAtOnce(t *testing.T) {
	q := newQueue(3)
	for i := range 6 {
		q.Touch(touch("a", fmt.Sprint(i), i), t0)
	}
	for range 3 {
		q.Next(t0)
	}
	q.SetTenantCap("a", 1)
	q.Done(keyqueue.Key{Tenant: "a", Code: "0"}, t0)
	q.Done(keyqueue.Key{Tenant: "a", Code: "1"}, t0)
	if w, ok := q.Next(t0); ok {
		t.Fatalf("Next() = %v; one key is in work and one is the cap", w)
	}
	q.SetTenantCap("a", 2)
	if _, ok := q.Next(t0); !ok {
		t.Fatal("a raised cap lets nothing through")
	}
}

func touch(tenant, code string, message int) keyqueue.Touch[int] {
	return keyqueue.Touch[int]{Key: keyqueue.Key{Tenant: tenant, Code: code}, Message: message, PublishedAt: t0}
}

// BenchmarkTouchWorkDone is the steady state: it allocates an entry per key
// and nothing per message.
func BenchmarkTouchWorkDone(b *testing.B) {
	q := newQueue(16)
	keys := make([]keyqueue.Key, 1000)
	for i := range keys {
		keys[i] = keyqueue.Key{Tenant: fmt.Sprint("t", i%30), Code: fmt.Sprint(i)}
	}
	b.ReportAllocs()
	now := t0
	for i := 0; b.Loop(); i++ {
		k := keys[i%len(keys)]
		now = now.Add(5 * time.Millisecond)
		q.Due(now)
		q.Touch(keyqueue.Touch[int]{Key: k, Message: i, PublishedAt: now}, now)
		w, _ := q.Next(now)
		q.Observe(w.Key)
		q.Done(w.Key, now)
	}
}

func BenchmarkTouchHeld(b *testing.B) {
	q := newQueue(16)
	k := key("a")
	q.Touch(keyqueue.Touch[int]{Key: k, Message: 0, PublishedAt: t0}, t0)
	q.Next(t0)
	q.Hold(k, keyqueue.Wait{Until: t0.Add(time.Second), Cause: reason.Throttled}, t0)
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		q.Touch(keyqueue.Touch[int]{Key: k, Message: i, PublishedAt: t0}, t0)
	}
}

// TestLongestLineIsShed: what is shed is returned like work, and takes no
// worker's place meanwhile.
func TestLongestLineIsShed(t *testing.T) {
	f := start(t)
	for i := range 6 {
		f.arriveOf(keyqueue.Key{Tenant: "storm", Code: fmt.Sprint("s", i)}, i+1)
	}
	f.arriveOf(keyqueue.Key{Tenant: "calm", Code: "c"}, 10)
	works := f.q.Shed(4, 3)
	var shed []string
	for _, w := range works {
		shed = append(shed, w.Tenant+"/"+w.Code)
	}
	f.want("shed", shed, []string{"storm/s0", "storm/s1", "storm/s2"})
	if got := f.q.Unacked(); got != 7 {
		t.Errorf("%d un-acked; want 7, until the dirty set has them", got)
	}
	f.arriveOf(works[1].Key, 20) // while it is being marked
	f.want("acks of s0", f.q.Park(works[0].Key, f.now).Acks, []int{1})
	f.want("acks of s1", f.q.Park(works[1].Key, f.now).Acks, []int(nil))
	f.q.Hold(works[2].Key, keyqueue.Wait{Until: f.now.Add(time.Second), Cause: reason.StoreDown, Firm: true}, f.now)
	stats := f.q.Stats()
	if stats.Ready != 5 || stats.InFlight != 0 || stats.Held != 1 || f.q.Unacked() != 6 {
		t.Errorf("%+v, %d un-acked; want 5 ready, 1 held", stats, f.q.Unacked())
	}
	if more := f.q.Shed(10, 10); len(more) != 0 {
		t.Errorf("shed %v of a line that is not long", more)
	}
}

// A tenant's held keys could keep no worker busy, and of the others only as many
// as may be in work at once.
func TestTheNumbersOfEachTenant(t *testing.T) {
	f := start(t)
	for n := range 7 {
		f.arrive(fmt.Sprint("c", n), n+1)
	}
	f.arriveOf(keyqueue.Key{Tenant: "small", Code: "c"}, 100)
	f.mustWork("c0")
	if w, ok := f.q.Next(f.now); !ok || w.Tenant != "small" {
		t.Fatalf("next is %v", w.Key)
	}
	f.q.Hold(key("c0"), keyqueue.Wait{Until: f.now.Add(time.Second), Cause: reason.Throttled}, f.now)
	got := map[string]keyqueue.TenantStats{}
	for _, s := range f.q.Tenants() {
		got[s.Tenant] = s
	}
	want := map[string]keyqueue.TenantStats{
		"acme":  {Tenant: "acme", Ready: 6, Limit: 4, Held: map[reason.Reason]int{reason.Throttled: 1}},
		"small": {Tenant: "small", InFlight: 1, Limit: 4},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if acme := got["acme"]; acme.Waiting() != 7 || acme.Workable() != 4 {
		t.Errorf("waiting %d, workable %d", acme.Waiting(), acme.Workable())
	}
	if small := got["small"]; small.Waiting() != 0 || small.Workable() != 1 {
		t.Errorf("waiting %d, workable %d", small.Waiting(), small.Workable())
	}
}

func TestATenantThatOnlyRemembersHasNoNumbers(t *testing.T) {
	f := start(t)
	f.arrive("c", 1)
	f.mustWork("c")
	f.q.Done(key("c"), f.now)
	if got := f.q.Tenants(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
