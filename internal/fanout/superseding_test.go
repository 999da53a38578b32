package fanout_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
)

// fence watches what has to hold whenever a fan-out is superseded or changes
// hands. Its hooks go into the store and the topic.
type fence struct {
	t  *testing.T
	r  *rig
	id string

	mu      sync.Mutex
	claimed map[int64]time.Time // when an epoch was claimed first
	until   map[string]time.Time
}

func newFence(t *testing.T, r *rig, id string) *fence {
	return &fence{t: t, r: r, id: id, claimed: map[int64]time.Time{}, until: map[string]time.Time{}}
}

// stored is a hook behind the store's operations.
func (f *fence) stored(ctx context.Context, op string) error {
	job, _ := f.r.store.Peek(f.id)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch op {
	case fanouttest.OpClaim:
		if owner := ownerOf(ctx); job.Claim.Owner == owner && f.claimed[job.Epoch].IsZero() {
			f.claimed[job.Epoch] = time.Now()
		}
	case fanouttest.OpSave:
		if job.Claim.Owner == ownerOf(ctx) {
			f.until[ownerOf(ctx)] = job.Claim.Until
		}
	}
	return nil
}

// publishing is a hook ahead of the topic: whoever publishes has the claim, and
// no batch is on its way for longer than its process has announced.
func (f *fence) publishing(ctx context.Context, _ string) error {
	if job, _ := f.r.store.Peek(f.id); job.Claim.Owner != ownerOf(ctx) {
		f.t.Errorf("%s publishes, and %s has the claim", ownerOf(ctx), job.Claim.Owner)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	announced := f.until[ownerOf(ctx)].Add(-margin)
	deadline, bounded := ctx.Deadline()
	if !bounded || deadline.After(announced.Add(time.Millisecond)) {
		f.t.Errorf("%s publishes until %v; it has announced %v", ownerOf(ctx), deadline, announced)
	}
	return nil
}

// check fails when an event of one epoch was stored after a later one was
// claimed. Their reasons tell epochs apart.
func (f *fence) check(whys ...string) {
	f.t.Helper()
	for epoch, why := range whys {
		next, claimed := f.claimed[int64(epoch)+2]
		for _, event := range f.r.topic.Events() {
			if event.Why == why && claimed && event.Stored.After(next) {
				f.t.Errorf("code %s of %q was stored at %v, after the next epoch was claimed at %v", event.Code, why, event.Stored, next)
				return
			}
		}
	}
}

// A second request at any moment of a first one's run, with the Runner of the
// first alone or with two of them, on a broker that answers at once or slowly:
// all codes are published for the second one, and none for the first after the
// second one was claimed.
func TestSuperseding(t *testing.T) {
	for _, runners := range []int{1, 2} {
		for _, slow := range []time.Duration{0, 400 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d runners, a broker that takes up to %v", runners, slow), func(t *testing.T) {
				for after := time.Duration(0); after < 14*time.Second; after += 470 * time.Millisecond {
					bubble(t, func(t *testing.T, r *rig) { r.supersede(t, runners, slow, after) })
				}
			})
		}
	}
}

func (r *rig) supersede(t *testing.T, runners int, slow, after time.Duration) {
	random := rand.New(rand.NewPCG(uint64(after), 7))
	r.putCodes("acme", 1200)
	first := r.request(t, everything, "first")
	f := newFence(t, r, first.ID)
	r.store.After = func(ctx context.Context, op string) error {
		pause(ctx, random, slow/8)
		return f.stored(ctx, op)
	}
	r.topic.Before = func(ctx context.Context, op string) error {
		pause(ctx, random, slow)
		return f.publishing(ctx, op)
	}
	all := r.startAll(t, runners)
	all[0].Kick(first.ID)
	<-time.After(after)
	second := r.request(t, everything, "second")
	asked := time.Now()
	all[runners-1].Kick(second.ID)
	job := r.finish(t, first.ID)
	if second.Epoch != 2 || job.Epoch != 2 || job.Released != 1200 {
		t.Errorf("job %+v after a request of epoch %d", job, second.Epoch)
	}
	r.wantTimes(t, "second", "acme", 1200, 0)
	f.check("first", "second")
	if waited := f.claimed[2].Sub(asked); waited > 2*poll+4*slow {
		t.Errorf("requested after %v, begun %v later", after, waited)
	}
}

// startAll starts Runners that stop with the test.
func (r *rig) startAll(t *testing.T, n int) []*fanout.Runner {
	var all []*fanout.Runner
	for i := range n {
		owner := fmt.Sprint("keeper-", i+1)
		all = append(all, r.runner(r.options(owner)))
		t.Cleanup(r.start(t.Context(), all[i], owner))
	}
	return all
}

var pausing sync.Mutex

// pause takes up to most, as long as ctx allows.
func pause(ctx context.Context, random *rand.Rand, most time.Duration) {
	if most == 0 {
		return
	}
	pausing.Lock()
	timer := time.NewTimer(time.Duration(random.Int64N(int64(most))))
	pausing.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// A process that stands still, after it has claimed or announced, finds its
// time over and publishes nothing; another one has gone on.
func TestAProcessThatStandsStill(t *testing.T) {
	for _, op := range []string{fanouttest.OpClaim, fanouttest.OpSave, fanouttest.OpTakeRow, fanouttest.OpPublish, fanouttest.OpAddRow} {
		for _, still := range []time.Duration{lease - margin, lease, 4 * lease} {
			for nth := 1; nth <= 9; nth += 4 {
				t.Run(fmt.Sprintf("%v at its %d. %s", still, nth, op), func(t *testing.T) {
					bubble(t, func(t *testing.T, r *rig) { r.standStill(t, op, nth, still) })
				})
			}
		}
	}
}

func (r *rig) standStill(t *testing.T, op string, nth int, still time.Duration) {
	r.putCodes("acme", 1200)
	ticket := r.request(t, everything, "first")
	f, watch := newFence(t, r, ticket.ID), r.watch(t, ticket.ID)
	calls := 0
	stop := func(ctx context.Context, now string) {
		if ownerOf(ctx) == "keeper-1" && now == op {
			if calls++; calls == nth {
				<-time.After(still)
			}
		}
	}
	r.store.After = func(ctx context.Context, op string) error {
		_ = f.stored(ctx, op)
		stop(ctx, op)
		return watch(ctx, op)
	}
	// The broker has had the batch, or it comes too late for its deadline.
	r.topic.After = func(ctx context.Context, op string) error { stop(ctx, op); return ctx.Err() }
	r.topic.Before = f.publishing
	first := r.runner(r.options("keeper-1"))
	first.Kick(ticket.ID)
	defer r.start(t.Context(), first, "keeper-1")()
	<-time.After(poll / 2)
	second := r.runner(r.options("keeper-2"))
	defer r.start(t.Context(), second, "keeper-2")()
	job := r.finish(t, ticket.ID)
	if job.Released != 1200 {
		t.Errorf("job %+v", job)
	}
	r.wantTimes(t, "first", "acme", 1200, batch)
	<-time.After(5 * lease) // the first one wakes up
}

// An epoch that is requested while the one before it stands still is not begun
// before the announced end, and nothing of the older one comes after it.
func TestSupersedingAProcessThatStandsStill(t *testing.T) {
	for nth := 1; nth <= 30; nth++ {
		bubble(t, func(t *testing.T, r *rig) {
			r.putCodes("acme", 1200)
			first := r.request(t, everything, "first")
			f := newFence(t, r, first.ID)
			calls := 0
			stopped := make(chan struct{})
			r.store.After = func(ctx context.Context, op string) error {
				_ = f.stored(ctx, op)
				if ownerOf(ctx) == "keeper-1" && op == fanouttest.OpSave {
					if calls++; calls == nth {
						close(stopped)
						<-time.After(4 * lease)
					}
				}
				return nil
			}
			r.topic.Before = f.publishing
			one := r.runner(r.options("keeper-1"))
			defer r.start(t.Context(), one, "keeper-1")()
			one.Kick(first.ID)
			<-stopped
			held, _ := r.store.Peek(first.ID)
			r.request(t, everything, "second")
			two := r.runner(r.options("keeper-2"))
			defer r.start(t.Context(), two, "keeper-2")()
			r.finish(t, first.ID)
			if held.State != fanout.Done && f.claimed[2].Before(held.Claim.Until) {
				t.Errorf("claimed at %v; until %v the first one may publish", f.claimed[2], held.Claim.Until)
			}
			<-time.After(5 * lease)
			f.check("first", "second")
			r.wantTimes(t, "second", "acme", 1200, 0)
			if n := len(r.times("first")); n > (nth+1)*batch {
				t.Errorf("%d codes for the first one", n)
			}
		})
	}
}

// A claim that has run out may be renewed while another process is about to
// claim the job: that one does not get it.
func TestARenewalBesideAClaim(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 1200)
		ticket := r.request(t, everything, "first")
		f := newFence(t, r, ticket.ID)
		took, looked := 0, 0
		r.store.After = func(ctx context.Context, op string) error {
			switch owner := ownerOf(ctx); {
			case owner == "keeper-1" && op == fanouttest.OpTakeRow:
				if took++; took == 1 {
					<-time.After(lease + poll)
				}
			case owner == "keeper-2" && op == fanouttest.OpOpen && r.begin.Add(lease).Before(time.Now()):
				if looked++; looked == 1 {
					<-time.After(poll)
				}
			}
			return f.stored(ctx, op)
		}
		r.topic.Before = func(ctx context.Context, op string) error {
			<-time.After(2 * poll)
			return f.publishing(ctx, op)
		}
		one := r.runner(r.options("keeper-1"))
		defer r.start(t.Context(), one, "keeper-1")()
		one.Kick(ticket.ID)
		<-time.After(6 * poll / 10)
		defer r.start(t.Context(), r.runner(r.options("keeper-2")), "keeper-2")()
		job := r.finish(t, ticket.ID)
		if took == 0 || looked == 0 || job.Claim.Owner != "keeper-1" {
			t.Errorf("the schedule was another: %d, %d, %+v", took, looked, job.Claim)
		}
		r.wantTimes(t, "first", "acme", 1200, 0)
	})
}

// A job that somebody works on is left to him, however often it is asked for.
func TestAJobUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 1200)
		ticket := r.request(t, everything, "first")
		claims := 0
		r.store.Before = func(_ context.Context, op string) error {
			if op == fanouttest.OpClaim {
				claims++
			}
			return nil
		}
		one, two := r.runner(r.options("keeper-1")), r.runner(r.options("keeper-2"))
		defer r.start(t.Context(), one, "keeper-1")()
		one.Kick(ticket.ID)
		<-time.After(poll)
		defer r.start(t.Context(), two, "keeper-2")()
		for range 20 {
			one.Kick(ticket.ID)
			two.Kick(ticket.ID)
			<-time.After(poll / 10)
		}
		r.wantReleased(t, r.finish(t, ticket.ID), 1200)
		for range 20 { // nor is one that is done begun again
			two.Kick(ticket.ID)
			<-time.After(poll / 10)
		}
		r.wantTimes(t, "first", "acme", 1200, 0)
		if claims != 1 {
			t.Errorf("%d claims, want 1", claims)
		}
	})
}
