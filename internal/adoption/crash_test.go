package adoption_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
)

// A process that dies at any call of WeCom, the store or the broker, ahead of its
// effect or behind it, is gone on for by another one: each contact way has one
// code in the end, and is counted once.
func TestDeathAtEveryStep(t *testing.T) {
	ops := map[string]bool{}
	for step := 0; ; step++ {
		r := newRig(t)
		codes := r.company()
		process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(step))
		job, err := r.importer("p1").Import(ctx, "acme", adoption.IntoLive)
		died := process.CutOff()
		process.End()
		if (err == nil) != (died == "") && died != "jobs.release" {
			t.Fatalf("step %d, in %q: %v", step, died, err)
		}
		if died != "" {
			r.now = r.now.Add(lease)
			job = r.finished(job)
		}
		r.wantImported(job, codes)
		if t.Failed() {
			t.Fatalf("died at step %d, in %s", step, died)
		}
		if died == "" {
			if step < 200 || len(ops) != 15 {
				t.Errorf("an import has %d steps in %v", step, ops)
			}
			return
		}
		ops[died] = true
	}
}

// finished goes on with an import that may have ended just before its process
// died: then there is nothing left to do.
func (r *rig) finished(died adoption.Job) adoption.Job {
	r.Helper()
	stored, _, err := r.store.Job(r.Context(), "acme")
	if err == nil && stored.State == adoption.Done {
		return stored
	}
	job, err := r.importer("p2").Import(r.Context(), "acme", adoption.IntoLive)
	if err != nil {
		r.Fatalf("gone on: %v", err)
	}
	if died.Run != "" && stored.Run != "" && job.Run != stored.Run {
		r.Errorf("another import was begun")
	}
	return job
}

// Many processes that die again and again bring an import to its end.
func TestDeathAgainAndAgain(t *testing.T) {
	for _, life := range []int{45, 60, 77} {
		r := newRig(t)
		codes := r.company()
		var job adoption.Job
		for deaths := 0; ; deaths++ {
			process, ctx := fanouttest.NewProcess(t.Context(), func(point int) bool { return point >= life })
			var err error
			job, err = r.importer("p").Import(ctx, "acme", adoption.IntoLive)
			process.End()
			if err == nil {
				if deaths < 3 {
					t.Errorf("%d deaths", deaths)
				}
				break
			}
			if process.CutOff() == "" || deaths > 100 {
				t.Fatalf("%d deaths: %v", deaths, err)
			}
			r.now = r.now.Add(lease)
		}
		r.wantImported(job, codes)
	}
}
