package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var errAway = errors.New("away")

// Three rows, the last one short, at the tenant's pace.
func TestRun(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 1200)
		opts := r.options("keeper-1")
		opts.Poll = 0
		runner := r.runner(opts)
		stop := r.start(t.Context(), runner, "keeper-1")
		defer stop()
		ticket := r.request(t, everything, "policy")
		runner.Kick(ticket.ID)
		job := r.finish(t, ticket.ID)

		r.wantReleased(t, job, 1200)
		r.wantTimes(t, "policy", "acme", 1200, 0)
		if job.Rows != 3 || job.Last != "acme-01199" || !job.Started.Equal(r.begin) {
			t.Errorf("job %+v; want three rows, begun at %v", job, r.begin)
		}
		r.wantPace(t, "acme", 1200)
		if took, most := time.Since(r.begin), 13*time.Second; took > most {
			t.Errorf("took %v, want at most %v", took, most)
		}
		released, ends := r.seen.told()
		if diff := cmp.Diff([]fanout.End{fanout.Finished}, ends); diff != "" || released != 1200 {
			t.Errorf("told of %d codes; ends (-want +got):\n%s", released, diff)
		}
	})
}

// wantPace fails unless the tenant's events, in their order, kept the pace.
func (r *rig) wantPace(t *testing.T, tenant string, total int) {
	t.Helper()
	n := 0
	for _, event := range r.topic.Events() {
		if event.Tenant != tenant {
			continue
		}
		n++
		if most := burst + perSec*event.Stored.Sub(r.begin).Seconds(); float64(n) > most+0.001 {
			t.Errorf("%d codes after %v, want at most %v", n, event.Stored.Sub(r.begin), most)
			return
		}
	}
	if n != total {
		t.Errorf("%d events, want %d", n, total)
	}
}

func TestRunOfSizes(t *testing.T) {
	for _, codes := range []int{0, 1, 499, 500, 501, 1000} {
		t.Run(fmt.Sprint(codes, " codes"), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.putCodes("acme", codes)
				ticket := r.request(t, everything, "policy")
				defer r.start(t.Context(), r.runner(r.options("keeper-1")), "keeper-1")()
				r.wantReleased(t, r.finish(t, ticket.ID), codes)
				r.wantTimes(t, "policy", "acme", codes, 0)
			})
		})
	}
}

// Of a member's fan-out only his codes are released; events say why and when.
func TestRunOfAMember(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.codes.PutCodes(
			roster.Code{ID: "a", Tenant: "acme", Members: []roster.Member{{Staff: "li.na"}}},
			roster.Code{ID: "b", Tenant: "acme", Members: []roster.Member{{Staff: "wang"}}},
			roster.Code{ID: "c", Tenant: "globex", Members: []roster.Member{{Staff: "li.na"}}},
		)
		runner := r.runner(r.options("keeper-1"))
		defer r.start(t.Context(), runner, "keeper-1")()
		ticket := r.request(t, fanout.Scope{Tenant: "acme", Staff: "li.na"}, "resigned")
		runner.Kick(ticket.ID)
		r.finish(t, ticket.ID)
		want := []fanouttest.Event{{
			Ref: push.Ref{Tenant: "acme", Code: "a"}, Why: "resigned", At: r.begin, Stored: r.begin,
		}}
		if diff := cmp.Diff(want, r.topic.Events()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// A tenant's jobs share its pace, and another tenant has one of its own.
func TestPaceIsTheTenants(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.codes.PutTenant(roster.Tenant{ID: "globex"})
		for _, tenant := range []string{"acme", "globex"} {
			r.putCodes(tenant, 400)
		}
		for i := range 400 {
			r.codes.PutCodes(roster.Code{ID: fmt.Sprintf("member-%05d", i), Tenant: "acme", Backups: []string{"li.na"}})
		}
		var ids []string
		for _, scope := range []fanout.Scope{everything, {Tenant: "acme", Staff: "li.na"}, {Tenant: "globex"}} {
			ids = append(ids, r.request(t, scope, "policy").ID)
		}
		runner := r.runner(r.options("keeper-1"))
		stop := r.start(t.Context(), runner, "keeper-1")
		defer stop()
		r.begin = time.Now()
		globex := r.finish(t, ids[2])
		r.finish(t, ids[0])
		r.finish(t, ids[1])
		r.wantPace(t, "acme", 1200)
		r.wantPace(t, "globex", 400)
		if took := globex.Finished.Sub(r.begin); took > 6*time.Second {
			t.Errorf("globex's 400 codes took %v, want about 4 s", took)
		}
	})
}

// A pace lives as long as it says something: a tenant that comes again at once
// goes on with what is left of it.
func TestPacesAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		runner := r.runner(r.options("keeper-1"))
		defer r.start(t.Context(), runner, "keeper-1")()
		for i := range 5 {
			tenant := fmt.Sprint("tenant-", i)
			r.putCodes(tenant, burst)
			for _, why := range []string{"first", "again"} {
				ticket := r.request(t, fanout.Scope{Tenant: tenant}, why)
				asked := time.Now()
				runner.Kick(ticket.ID)
				took := r.finish(t, ticket.ID).Finished.Sub(asked)
				if again := why == "again"; took > 0 != again {
					t.Errorf("%s: %d codes took %v", why, burst, took)
				}
			}
			if n := runner.Paces(); n != 1 {
				t.Errorf("%d paces are kept, want the last one", n)
			}
			<-time.After(time.Minute)
		}
	})
}

// A pace that is lent is kept, full as it may be.
func TestAPaceInUseIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 200)
		r.putCodes("globex", 10)
		ticket, other := r.request(t, everything, "first"), r.request(t, fanout.Scope{Tenant: "globex"}, "first")
		var stood atomic.Bool
		r.store.After = func(_ context.Context, op string) error {
			if op == fanouttest.OpTakeRow && stood.CompareAndSwap(false, true) {
				<-time.After(poll)
			}
			return nil
		}
		runner := r.runner(r.options("keeper-1"))
		defer r.start(t.Context(), runner, "keeper-1")()
		runner.Kick(ticket.ID)
		<-time.After(poll / 2)
		runner.Kick(other.ID)
		r.finish(t, other.ID)
		if n := runner.Paces(); n != 2 {
			t.Errorf("%d paces are kept, want both", n)
		}
		r.wantReleased(t, r.finish(t, ticket.ID), 200)
	})
}

// A tenant with 500 jobs does not keep another's waiting.
func TestFairness(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("globex", 20)
		for i := range 500 {
			staff := fmt.Sprint("staff-", i)
			for j := range 20 {
				r.codes.PutCodes(roster.Code{
					ID: fmt.Sprintf("%s-%d", staff, j), Tenant: "acme", Members: []roster.Member{{Staff: staff}},
				})
			}
			r.request(t, fanout.Scope{Tenant: "acme", Staff: staff}, "resigned")
		}
		defer r.start(t.Context(), r.runner(r.options("keeper-1")), "keeper-1")()
		<-time.After(5*poll + poll/2) // the storm is on its way
		asked := time.Now()
		ticket := r.request(t, fanout.Scope{Tenant: "globex"}, "policy")
		if took := r.finish(t, ticket.ID).Finished.Sub(asked); took > 2*poll {
			t.Errorf("another tenant's job waited %v, want at most two polls", took)
		}
		if n := len(r.times("resigned")); n == 0 || n == 500*20 {
			t.Errorf("%d codes of the storm were released by then; it was not on its way", n)
		}
	})
}

// A broker that fails now and then delays a fan-out; nothing is left out, and
// a run that failed costs at most its batch again.
func TestBrokerThatFails(t *testing.T) {
	tests := map[string]struct {
		hooks  func(fail func() error) fanouttest.Hooks
		answer bool
		twice  int
	}{
		"before it stores": {
			hooks: func(fail func() error) fanouttest.Hooks {
				return fanouttest.Hooks{Before: func(context.Context, string) error { return fail() }}
			},
		},
		"to answer": {
			hooks: func(fail func() error) fanouttest.Hooks {
				return fanouttest.Hooks{After: func(context.Context, string) error { return fail() }}
			},
			twice: 3 * batch,
		},
		"on a code in the middle of a batch": {answer: true, twice: 3 * batch},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.putCodes("acme", 600)
				calls, failures := 0, 0
				fail := func(every int) error {
					if calls++; calls%every == 0 && failures < 3 {
						failures++
						return errAway
					}
					return nil
				}
				if test.answer {
					r.topic.Answer = func(context.Context, push.Ref) error { return fail(130) }
				} else {
					r.topic.Hooks = test.hooks(func() error { return fail(5) })
				}
				ticket := r.request(t, everything, "policy")
				r.store.After = r.watch(t, ticket.ID)
				defer r.start(t.Context(), r.runner(r.options("keeper-1")), "keeper-1")()
				r.wantReleased(t, r.finish(t, ticket.ID), 600)
				r.wantTimes(t, "policy", "acme", 600, test.twice)
				_, ends := r.seen.told()
				want := []fanout.End{fanout.Failed, fanout.Failed, fanout.Failed, fanout.Finished}
				if diff := cmp.Diff(want, ends); diff != "" {
					t.Errorf("ends (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A code of which no event can be made does not stop the others.
func TestUnpublishableCodes(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 120)
		bad := map[string]bool{"acme-00000": true, "acme-00077": true, "acme-00119": true}
		r.topic.Answer = func(_ context.Context, ref push.Ref) error {
			if bad[ref.Code] {
				return fmt.Errorf("a code of 300 bytes: %w", fanout.ErrUnpublishable)
			}
			return nil
		}
		ticket := r.request(t, everything, "policy")
		defer r.start(t.Context(), r.runner(r.options("keeper-1")), "keeper-1")()
		r.wantReleased(t, r.finish(t, ticket.ID), 120)
		times := r.times("policy")
		for code := range bad {
			if times[code] != 0 {
				t.Errorf("code %s was published", code)
			}
		}
		if len(times) != 117 {
			t.Errorf("%d codes published, want the other 117", len(times))
		}
	})
}

// A store that fails for a while delays a fan-out, whatever it fails at.
func TestStoreThatFails(t *testing.T) {
	ops := []string{
		fanouttest.OpOpen, fanouttest.OpClaim, fanouttest.OpClear, fanouttest.OpCodes, fanouttest.OpAddRow,
		fanouttest.OpSave, fanouttest.OpTakeRow, fanouttest.OpEndRow, fanouttest.OpRelease,
	}
	for _, op := range ops {
		for name, hidden := range map[string]bool{"before its effect": false, "after its effect": true} {
			t.Run(op+" "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T, r *rig) {
					r.putCodes("acme", 600)
					calls := 0
					fail := func(_ context.Context, now string) error {
						if now == op {
							if calls++; calls <= 3 {
								return errAway
							}
						}
						return nil
					}
					hooks := fanouttest.Hooks{Before: fail}
					if hidden {
						hooks = fanouttest.Hooks{After: fail}
					}
					r.store.Hooks, r.codes.Hooks = hooks, hooks
					ticket := r.request(t, everything, "policy")
					defer r.start(t.Context(), r.runner(r.options("keeper-1")), "keeper-1")()
					job := r.finish(t, ticket.ID)
					if job.Released != 600 {
						t.Errorf("job %+v", job)
					}
					r.wantTimes(t, "policy", "acme", 600, 3*batch)
				})
			})
		}
	}
}

// A process that stops gives its claim back, so that the next one need not wait
// for its end.
func TestStop(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 600)
		ticket := r.request(t, everything, "policy")
		first := r.runner(r.options("keeper-1"))
		stop := r.start(t.Context(), first, "keeper-1")
		<-time.After(3 * time.Second)
		stop()
		job, _ := r.store.Peek(ticket.ID)
		if job.State != fanout.InProgress || !job.Claim.Until.IsZero() || job.Claim.Owner != "keeper-1" {
			t.Errorf("after the stop: %+v", job)
		}
		stopped := len(r.topic.Events())
		second := r.runner(r.options("keeper-2"))
		defer r.start(t.Context(), second, "keeper-2")()
		second.Kick(ticket.ID)
		<-time.After(time.Millisecond)
		if n := len(r.topic.Events()); n == stopped {
			t.Error("the next one did not begin at once")
		}
		r.wantReleased(t, r.finish(t, ticket.ID), 600)
		r.wantTimes(t, "policy", "acme", 600, batch)
		_, ends := r.seen.told()
		if diff := cmp.Diff([]fanout.End{fanout.Stopped, fanout.Finished}, ends); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

// A request that comes while its scope's job runs is gone on with at once: who
// never polls would not find it.
func TestSupersededWithoutAPoll(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 1200)
		opts := r.options("ingress-1")
		opts.Poll = 0
		runner := r.runner(opts)
		defer r.start(t.Context(), runner, "ingress-1")()
		ticket := r.request(t, everything, "first")
		runner.Kick(ticket.ID)
		<-time.After(3 * time.Second)
		ticket = r.request(t, everything, "second")
		runner.Kick(ticket.ID)
		r.wantReleased(t, r.finish(t, ticket.ID), 1200)
		_, ends := r.seen.told()
		if diff := cmp.Diff([]fanout.End{fanout.Superseded, fanout.Finished}, ends); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

// Kick never waits, and an ID that nobody knows is no harm.
func TestKick(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.putCodes("acme", 10)
		runner := r.runner(r.options("keeper-1"))
		for range 5000 {
			runner.Kick("nobody's")
		}
		ticket := r.request(t, everything, "policy")
		runner.Kick(ticket.ID) // there is no room; it is found
		defer r.start(t.Context(), runner, "keeper-1")()
		r.wantReleased(t, r.finish(t, ticket.ID), 10)
		if took := time.Since(r.begin); took > 2*poll {
			t.Errorf("found after %v", took)
		}
	})
}
