package keyqueue_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// TestPromisesHoldUnderRandomOperations plays a broker that redelivers what is
// nacked, now and then repeats what is un-acked, and workers that end in every
// way; after each step it holds the queue against the promises of the package.
func TestPromisesHoldUnderRandomOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		t.Repeat(map[string]func(*rapid.T){
			"publish":  w.publish,
			"deliver":  w.deliver,
			"repeat":   w.repeat,
			"next":     w.next,
			"observe":  w.observe,
			"finish":   w.finish,
			"pass":     w.pass,
			"handBack": func(t *rapid.T) { w.nacked(t, w.q.HandBack(w.now)) },
			"":         w.check,
		})
		w.drain(t)
	})
}

const worldCap = 2

// world is the queue and what a broker and an observer know of it.
type world struct {
	q   *keyqueue.Queue[int]
	now time.Time

	published int
	keyOf     map[int]keyqueue.Key
	broker    []int                // waiting at the broker
	here      map[int]bool         // delivered, neither acked nor nacked
	seen      map[keyqueue.Key]int // newest message delivered
	covered   map[keyqueue.Key]int // newest message delivered before the last Observe
	done      map[keyqueue.Key]int // newest message covered by a finished work
	working   map[keyqueue.Key]bool
	firm      map[keyqueue.Key]time.Time
	heldSince map[keyqueue.Key]time.Time
}

func newWorld() *world {
	return &world{
		q: keyqueue.New(keyqueue.Options[int]{
			Compare: cmp.Compare[int], TenantCap: worldCap, MaxHold: maxHold, Recheck: recheck, Burst: 3, PaceRate: 1, MaxPace: recheck, Remember: maxHold,
		}),
		now: t0, keyOf: map[int]keyqueue.Key{}, here: map[int]bool{}, seen: map[keyqueue.Key]int{},
		covered: map[keyqueue.Key]int{}, done: map[keyqueue.Key]int{}, working: map[keyqueue.Key]bool{},
		firm: map[keyqueue.Key]time.Time{}, heldSince: map[keyqueue.Key]time.Time{},
	}
}

func (w *world) publish(t *rapid.T) {
	w.published++
	n := rapid.IntRange(0, 5).Draw(t, "key")
	w.keyOf[w.published] = keyqueue.Key{Tenant: fmt.Sprint("t", n%2), Code: fmt.Sprint("c", n)}
	w.broker = append(w.broker, w.published)
}

func (w *world) deliver(t *rapid.T) {
	if len(w.broker) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.broker)-1).Draw(t, "which")
	m := w.broker[i]
	w.broker = slices.Delete(w.broker, i, i+1)
	w.here[m] = true
	w.touch(t, m)
}

func (w *world) repeat(t *rapid.T) {
	if m, ok := pick(t, w.here); ok {
		w.touch(t, m)
	}
}

func (w *world) touch(t *rapid.T, m int) {
	k := w.keyOf[m]
	w.seen[k] = max(w.seen[k], m)
	acks := w.q.Touch(keyqueue.Touch[int]{Key: k, Message: m, PublishedAt: w.now}, w.now)
	for _, a := range acks {
		w.acked(t, a)
		if newest := w.seen[k]; a == newest {
			t.Fatalf("message %d acked in favour of an older one", a)
		}
	}
}

func (w *world) acked(t *rapid.T, m int) {
	if !w.here[m] {
		t.Fatalf("message %d acked, but it is not here", m)
	}
	delete(w.here, m)
}

func (w *world) nacked(t *rapid.T, messages []int) {
	for _, m := range messages {
		if !w.here[m] {
			t.Fatalf("message %d given back, but it is not here", m)
		}
		delete(w.here, m)
		w.broker = append(w.broker, m)
		delete(w.heldSince, w.keyOf[m])
	}
}

func (w *world) next(t *rapid.T) {
	work, ok := w.q.Next(w.now)
	if !ok {
		return
	}
	if w.working[work.Key] {
		t.Fatalf("two workers on %v", work.Key)
	}
	if until := w.firm[work.Key]; until.After(w.now) && w.heldSince[work.Key] != (time.Time{}) {
		t.Fatalf("%v left a failure's backoff early", work.Key)
	}
	delete(w.heldSince, work.Key)
	w.working[work.Key] = true
	w.q.Observe(work.Key) // every work reads the facts at least once
	w.covered[work.Key] = w.seen[work.Key]
}

func (w *world) observe(t *rapid.T) {
	if k, ok := pickKey(t, w.working); ok {
		w.q.Observe(k)
		w.covered[k] = w.seen[k]
	}
}

func (w *world) finish(t *rapid.T) {
	k, ok := pickKey(t, w.working)
	if !ok {
		return
	}
	delete(w.working, k)
	if rapid.Bool().Draw(t, "done") {
		w.q.Observe(k)
		w.covered[k] = w.seen[k]
	}
	switch rapid.SampledFrom([]string{"done", "park", "throttled", "failed"}).Draw(t, "how") {
	case "done", "park":
		end := w.q.Done(k, w.now)
		for _, m := range end.Acks {
			w.acked(t, m)
			if m > w.covered[k] {
				t.Fatalf("message %d acked, but only those up to %d were observed", m, w.covered[k])
			}
			w.done[k] = max(w.done[k], m)
		}
	case "throttled":
		w.hold(t, k, reason.Throttled)
	case "failed":
		w.hold(t, k, reason.Backoff)
	}
}

func (w *world) hold(t *rapid.T, k keyqueue.Key, cause reason.Reason) {
	until := w.now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second)
	w.q.Hold(k, keyqueue.Wait{Until: until, Cause: cause, Firm: cause.Firm()}, w.now)
	w.heldSince[k] = w.now
	delete(w.firm, k)
	if cause.Firm() {
		w.firm[k] = earliest(until, w.now.Add(maxHold))
	}
}

func (w *world) pass(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 8000).Draw(t, "ms")) * time.Millisecond)
	w.nacked(t, w.q.Due(w.now).Nacks)
}

// check holds the queue against its promises.
func (w *world) check(t *rapid.T) {
	perKey := map[keyqueue.Key]int{}
	for m := range w.here {
		perKey[w.keyOf[m]]++
	}
	for k, n := range perKey {
		if n > 1 {
			t.Fatalf("%d messages of %v are un-acked here", n, k)
		}
	}
	inWork := map[string]int{}
	for k := range w.working {
		inWork[k.Tenant]++
		if inWork[k.Tenant] > worldCap {
			t.Fatalf("more than %d keys of %s in work", worldCap, k.Tenant)
		}
	}
	for k, since := range w.heldSince {
		if w.now.Sub(since) > maxHold+8*time.Second {
			t.Fatalf("%v is held since %v", k, since)
		}
	}
	stats := w.q.Stats()
	if stats.InFlight != len(w.working) || stats.Ready+stats.InFlight+stats.Held != len(w.here) {
		t.Fatalf("stats %+v; %d in work, %d un-acked", stats, len(w.working), len(w.here))
	}
	if sum := sumOf(w.q.Tenants()); !gocmp.Equal(sum, stats) {
		t.Fatalf("the tenants' numbers add up to %+v, not %+v", sum, stats)
	}
}

func sumOf(tenants []keyqueue.TenantStats) keyqueue.Stats {
	sum := keyqueue.Stats{ByCause: map[reason.Reason]int{}}
	for _, s := range tenants {
		sum.Ready += s.Ready
		sum.InFlight += s.InFlight
		for cause, n := range s.Held {
			sum.Held += n
			if n > 0 {
				sum.ByCause[cause] += n
			}
		}
	}
	return sum
}

// drain lets everything come to rest: every message is acked in the end, and
// the newest one of each key by a work that observed it.
func (w *world) drain(t *rapid.T) {
	for range 10_000 {
		if len(w.broker)+len(w.here)+len(w.working) == 0 {
			w.checkRest(t)
			return
		}
		for _, m := range w.broker {
			w.here[m] = true
			w.touch(t, m)
		}
		w.broker = nil
		w.next(t)
		for k := range w.working {
			w.q.Observe(k)
			w.covered[k] = w.seen[k]
			for _, m := range w.q.Done(k, w.now).Acks {
				w.acked(t, m)
				w.done[k] = max(w.done[k], m)
			}
			delete(w.working, k)
		}
		w.now = w.now.Add(time.Second)
		w.nacked(t, w.q.Due(w.now).Nacks)
	}
	t.Fatalf("does not come to rest: %d at the broker, %d here, %d in work", len(w.broker), len(w.here), len(w.working))
}

func (w *world) checkRest(t *rapid.T) {
	for k, newest := range w.seen {
		if w.done[k] != newest {
			t.Fatalf("%v: message %d was the newest, %d the last one worked off", k, newest, w.done[k])
		}
	}
	w.q.Due(w.now.Add(time.Hour))
	if s := w.q.Stats(); s.Ready+s.InFlight+s.Held != 0 {
		t.Fatalf("at rest the queue still has %+v", s)
	}
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func pick(t *rapid.T, set map[int]bool) (int, bool) {
	if len(set) == 0 {
		return 0, false
	}
	all := make([]int, 0, len(set))
	for m := range set {
		all = append(all, m)
	}
	slices.Sort(all)
	return rapid.SampledFrom(all).Draw(t, "message"), true
}

func pickKey(t *rapid.T, set map[keyqueue.Key]bool) (keyqueue.Key, bool) {
	if len(set) == 0 {
		return keyqueue.Key{}, false
	}
	all := make([]keyqueue.Key, 0, len(set))
	for k := range set {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b keyqueue.Key) int { return cmp.Compare(a.Code, b.Code) })
	return rapid.SampledFrom(all).Draw(t, "working"), true
}
