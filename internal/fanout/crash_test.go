package fanout_test

import (
	"context"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
)

// A run that is cut off at any call of the store, the codes or the topic, ahead
// of its effect or behind it, is continued by another process: each code is
// published, at most one batch of them twice, and progress never goes back.
func TestRunCutOffAtAnyStep(t *testing.T) {
	ops := map[string]bool{}
	for step := 0; ; step++ {
		cutOff := ""
		bubble(t, func(t *testing.T, r *rig) { cutOff = r.continued(t, step) })
		if cutOff == "" {
			if step < 150 || len(ops) != 10 {
				t.Errorf("a run has %d steps in %v", step, ops)
			}
			return
		}
		ops[cutOff] = true
		if t.Failed() {
			t.Fatalf("cut off at step %d, in %s", step, cutOff)
		}
	}
}

// continued has a fan-out begun by a process that is cut off at a step, and
// continued by another one. It returns the operation that the first one died
// in, "" when it had no such step.
func (r *rig) continued(t *testing.T, step int) string {
	r.putCodes("acme", 1200)
	ticket := r.request(t, everything, "policy")
	r.store.After = r.watch(t, ticket.ID)
	process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(step))
	defer process.End()
	first, second := r.options("keeper-1"), r.options("keeper-2")
	first.Poll = 0
	for _, opts := range []*fanout.Options{&first, &second} {
		opts.TenantRate = 10 * perSec // whole batches, of which each is as good as another
	}
	runner := r.runner(first)
	runner.Kick(ticket.ID)
	stop := r.start(ctx, runner, "keeper-1")
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
	stop()
	died := time.Now()

	stop = r.start(t.Context(), r.runner(second), "keeper-2")
	job := r.finish(t, ticket.ID)
	stop()
	if job.Released != 1200 || job.Rows != 3 {
		t.Errorf("job %+v", job)
	}
	r.wantTimes(t, "policy", "acme", 1200, batch)
	if process.CutOff() == "" {
		return ""
	}
	if waited := job.Finished.Sub(died); waited > lease+poll+2*time.Second {
		t.Errorf("continued and done %v after the death", waited)
	}
	return process.CutOff()
}

// Many processes that die again and again bring a fan-out to its end.
func TestRunsCutOffAgainAndAgain(t *testing.T) {
	for _, life := range []int{20, 33, 60} {
		bubble(t, func(t *testing.T, r *rig) {
			r.putCodes("acme", 1200)
			ticket := r.request(t, everything, "policy")
			r.store.After = r.watch(t, ticket.ID)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			deaths := 0
			for deaths < 100 && !r.done(ticket.ID) {
				process, within := fanouttest.NewProcess(ctx, func(point int) bool { return point >= life })
				stop := r.start(within, r.runner(r.options("keeper")), "keeper")
				for within.Err() == nil && !r.done(ticket.ID) {
					<-time.After(100 * time.Millisecond)
				}
				stop()
				process.End()
				if !r.done(ticket.ID) {
					deaths++
				}
			}
			job, _ := r.store.Peek(ticket.ID)
			if job.Released != 1200 || deaths < 5 {
				t.Errorf("job %+v after %d deaths", job, deaths)
			}
			times := r.times("policy")
			if len(times) != 1200 {
				t.Errorf("%d codes published", len(times))
			}
			if events := len(r.topic.Events()); events > 1200+deaths*batch {
				t.Errorf("%d events after %d deaths, want at most a batch again each", events, deaths)
			}
		})
	}
}
