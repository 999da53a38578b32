package preflight

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func looks(f Finding) func(context.Context) Finding {
	return func(context.Context) Finding { return f }
}

// hangs ends when the test lets it, whatever its context says.
func hangs(until <-chan struct{}) func(context.Context) Finding {
	return func(context.Context) Finding { <-until; return ok("too late") }
}

func wantResults(t *testing.T, got, want []Result) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Result{}, "Took")); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestWhatFollowsFromAFailureIsSkipped(t *testing.T) {
	down := fail("refused", "start it")
	results := Run(t.Context(), []Check{
		{Name: "a", Look: looks(down)},
		{Name: "b", After: []string{"a"}, Look: looks(ok("unseen"))},
		{Name: "c", After: []string{"b"}, Look: looks(ok("unseen"))},
		{Name: "d", Behind: []string{"a"}, Look: looks(ok("seen"))},
		{Name: "e", After: []string{"d"}, Look: looks(warn("odd", "look"))},
		{Name: "f", After: []string{"e"}, Look: looks(ok("seen"))},
	}, Options{Timeout: time.Second})
	wantResults(t, results, []Result{
		{Name: "a", Finding: down},
		{Name: "b", Finding: skip("not looked at: a failed")},
		{Name: "c", Finding: skip("not looked at: b was skipped")},
		{Name: "d", Finding: ok("seen")},
		{Name: "e", Finding: warn("odd", "look")},
		{Name: "f", Finding: ok("seen")},
	})
}

func TestACheckThatHangsHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		begun := time.Now()
		slow := func(ctx context.Context) Finding {
			select {
			case <-time.After(4 * time.Second):
				return ok("slow")
			case <-ctx.Done():
				return fail("gave up", "")
			}
		}
		results := Run(t.Context(), []Check{
			{Name: "hangs", Look: hangs(release)},
			{Name: "follows", After: []string{"hangs"}, Look: looks(ok(""))},
			{Name: "slow", Look: slow},
			{Name: "slower", Behind: []string{"slow"}, Look: slow},
		}, Options{Timeout: 5 * time.Second})
		if took := time.Since(begun); took != 8*time.Second {
			t.Errorf("all took %s; want the two slow ones one after the other and the timeout beside them", took)
		}
		for i, want := range []Verdict{Fail, Skip, OK, OK} {
			if results[i].Verdict != want {
				t.Errorf("%s: %+v; want %s", results[i].Name, results[i].Finding, want)
			}
		}
		if results[0].Took != 5*time.Second+grace {
			t.Errorf("the hanging one took %s", results[0].Took)
		}
		close(release)
	})
}

func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results := Run(ctx, []Check{{Name: "hangs", Look: hangs(release)}}, Options{Timeout: time.Hour})
		if results[0].Verdict != Fail {
			t.Errorf("%+v", results[0])
		}
	})
}

// A look that ends with its context knows more than that time is up.
func TestACheckThatObeysItsDeadlineSaysWhatItKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := fail("connection refused, again and again", "")
		results := Run(t.Context(), []Check{{Name: "a", Look: func(ctx context.Context) Finding {
			<-ctx.Done()
			return told
		}}}, Options{Timeout: time.Second})
		wantResults(t, results, []Result{{Name: "a", Finding: told}})
	})
}

// thing is what a check can make.
type thing struct {
	there, broken bool
	made          int
}

func (m *thing) check(name string, after ...string) Check {
	return Check{
		Name: name, After: after,
		Look: func(context.Context) Finding {
			if m.there {
				return ok("there")
			}
			return fail("missing", "make it")
		},
		Mend: func(context.Context) (string, error) {
			if m.broken {
				return "", errors.New("not permitted")
			}
			m.made++
			m.there = true
			return "made it", nil
		},
	}
}

func TestWhatIsMissingIsMadeAndLookedAtAgain(t *testing.T) {
	first, second := &thing{}, &thing{}
	results := Run(t.Context(), []Check{first.check("first"), second.check("second", "first")},
		Options{Timeout: time.Second, MendTimeout: time.Second})
	wantResults(t, results, []Result{
		{Name: "first", Finding: ok("there"), Did: "made it"},
		{Name: "second", Finding: ok("there"), Did: "made it"},
	})
}

func TestNothingIsMadeUnlessThatIsAskedForOrNeeded(t *testing.T) {
	missing, there := &thing{}, &thing{there: true}
	Run(t.Context(), []Check{missing.check("a")}, Options{Timeout: time.Second})
	Run(t.Context(), []Check{there.check("a")}, Options{Timeout: time.Second, MendTimeout: time.Second})
	if missing.made+there.made != 0 {
		t.Error("something was made")
	}
}

func TestAMendingThatFailsIsTold(t *testing.T) {
	results := Run(t.Context(), []Check{(&thing{broken: true}).check("a")}, Options{Timeout: time.Second, MendTimeout: time.Second})
	wantResults(t, results, []Result{{Name: "a", Finding: fail("missing; mending it failed: not permitted", "make it")}})
}

func TestACheckCannotWaitForOneThatIsNotBeforeIt(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Run(t.Context(), []Check{{Name: "a", After: []string{"b"}}, {Name: "b"}}, Options{})
}

func TestTally(t *testing.T) {
	got := Tally([]Result{{Finding: ok("")}, {Finding: ok("")}, {Finding: skip("")}})
	if diff := cmp.Diff(map[Verdict]int{OK: 2, Skip: 1}, got); diff != "" {
		t.Error(diff)
	}
}
