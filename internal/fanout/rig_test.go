package fanout_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// How the rig's Runners work.
const (
	lease  = 10 * time.Second
	margin = 2 * time.Second
	perSec = 100
	burst  = 50
	batch  = 40
	poll   = time.Second
)

// rig is what Runners share.
type rig struct {
	store *fanouttest.Store
	codes *fanouttest.Codes
	topic *fanouttest.Topic
	seen  *seen
	begin time.Time
}

var everything = fanout.Scope{Tenant: "acme"}

// bubble runs a test on a rig in which time goes by itself.
func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			store: fanouttest.NewStore(), codes: fanouttest.NewCodes(), topic: fanouttest.NewTopic(),
			seen: &seen{}, begin: time.Now(),
		}
		r.codes.PutTenant(roster.Tenant{ID: "acme"})
		test(t, r)
	})
}

// putCodes gives a tenant codes, named in order.
func (r *rig) putCodes(tenant string, n int) {
	for i := range n {
		r.codes.PutCodes(roster.Code{ID: fmt.Sprintf("%s-%05d", tenant, i), Tenant: tenant})
	}
}

func (r *rig) options(owner string) fanout.Options {
	return fanout.Options{
		Owner: owner, Lease: lease, Margin: margin, TenantRate: perSec, Burst: burst, Batch: batch,
		Jobs: 4, TenantJobs: 2, Poll: poll, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
}

func (r *rig) runner(opts fanout.Options) *fanout.Runner {
	return fanout.New(fanout.Ports{Store: r.store, Codes: r.codes, Topic: r.topic, Observer: r.seen}, opts)
}

// request requests a fan-out; the key is its reason too.
func (r *rig) request(t *testing.T, scope fanout.Scope, key string) fanout.Ticket {
	t.Helper()
	ticket, err := r.store.Request(t.Context(), fanout.Request{Scope: scope, Why: key, At: time.Now(), Key: key})
	if err != nil {
		t.Fatalf("Request: %v", err)
	}
	return ticket
}

type ownerKey struct{}

// start runs a Runner whose calls name their owner; stop ends it and waits.
func (r *rig) start(ctx context.Context, runner *fanout.Runner, owner string) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, ownerKey{}, owner))
	var running sync.WaitGroup
	running.Go(func() { runner.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

func ownerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}

// look is how often a job is looked at.
const look = 50 * time.Millisecond

// finish waits until a job is done, for an hour at most.
func (r *rig) finish(t *testing.T, id string) fanout.Job {
	t.Helper()
	for range int(time.Hour / look) {
		if job, _ := r.store.Peek(id); job.State == fanout.Done {
			synctest.Wait()
			job, _ = r.store.Peek(id)
			return job
		}
		<-time.After(look)
	}
	job, _ := r.store.Peek(id)
	t.Fatalf("not done: %+v", job)
	return job
}

// wantReleased fails unless a job of so many codes is done with nothing left.
func (r *rig) wantReleased(t *testing.T, job fanout.Job, total int) {
	t.Helper()
	if job.State != fanout.Done || job.Total != total || job.Released != total || job.Finished.IsZero() {
		t.Errorf("job %+v, want all of %d codes", job, total)
	}
	if !job.Claim.Until.IsZero() {
		t.Errorf("the claim was not released: %+v", job.Claim)
	}
	if n := r.store.Rows(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// times is how often each of the codes was published for a reason.
func (r *rig) times(why string) map[string]int {
	times := map[string]int{}
	for _, event := range r.topic.Events() {
		if event.Why == why {
			times[event.Code]++
		}
	}
	return times
}

// wantTimes fails unless each of a tenant's codes was published once for a
// reason, but for some that were published twice.
func (r *rig) wantTimes(t *testing.T, why, tenant string, codes, twice int) {
	t.Helper()
	times, repeated := r.times(why), 0
	for i := range codes {
		switch n := times[fmt.Sprintf("%s-%05d", tenant, i)]; n {
		case 1:
		case 2:
			repeated++
		default:
			t.Errorf("code %d was published %d times", i, n)
			return
		}
	}
	if len(times) != codes || repeated > twice {
		t.Errorf("%d codes published, %d of them twice; want %d and at most %d", len(times), repeated, codes, twice)
	}
}

// seen is what Runners tell.
type seen struct {
	mu       sync.Mutex
	released int
	ends     []fanout.End
}

func (s *seen) Released(_ context.Context, _ fanout.Job, codes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released += codes
}

func (s *seen) Ended(_ context.Context, _ fanout.Job, end fanout.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, end)
}

func (s *seen) told() (int, []fanout.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released, append([]fanout.End(nil), s.ends...)
}

// watch fails the test when the number released becomes less within an epoch.
// It is a hook behind the store's operations.
func (r *rig) watch(t *testing.T, id string) func(context.Context, string) error {
	var mu sync.Mutex
	released := map[int64]int{}
	return func(context.Context, string) error {
		mu.Lock()
		defer mu.Unlock()
		job, _ := r.store.Peek(id)
		if job.Released < released[job.Epoch] {
			t.Errorf("epoch %d went back from %d to %d", job.Epoch, released[job.Epoch], job.Released)
		}
		released[job.Epoch] = job.Released
		return nil
	}
}

func (r *rig) done(id string) bool {
	job, _ := r.store.Peek(id)
	return job.State == fanout.Done
}
