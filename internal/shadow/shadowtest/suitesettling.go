package shadowtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

var offline = shadow.Cause{Kind: shadow.Lists, Reason: reason.Offline}

func mismatch(day roster.Day) shadow.Comparison {
	return shadow.Comparison{
		Verdict: shadow.Verdict{
			Outcome: shadow.Mismatch, Since: T0, First: T0.Add(time.Second), Term: 3,
			Differences: []shadow.Difference{{Staff: "b.ob", Cause: offline}},
		},
		Day: day,
	}
}

func match(day roster.Day) shadow.Comparison {
	return shadow.Comparison{Verdict: shadow.Verdict{Outcome: shadow.Match, First: T0}, Day: day}
}

func settle(t *testing.T, b StoreBench, seen shadow.State, c shadow.Comparison) {
	t.Helper()
	suitetest.Accepted(t, "Settle")(b.Settle(t.Context(), seen, c))
}

// change has the other side push another list, and returns what is due then.
func change(t *testing.T, b StoreBench, after time.Duration) shadow.State {
	t.Helper()
	report(t, b, code, theirs(after, fmt.Sprintf("staff-%d", after)), shadow.Recorded)
	return only(t, dueBy(t, b, after))
}

func due(t *testing.T, b StoreBench) {
	b.Clock.Set(time.Minute)
	both(t, b, code)
	if early := dueBy(t, b, time.Minute-time.Millisecond); len(early) > 0 {
		t.Errorf("due before it changed: %+v", early)
	}
	only(t, dueBy(t, b, time.Minute))
}

func dueAnew(t *testing.T, b StoreBench) {
	both(t, b, code)
	b.Clock.Set(time.Minute)
	note(t, b, code, ours(time.Minute, "bob"))
	if early := dueBy(t, b, time.Minute-time.Millisecond); len(early) > 0 {
		t.Errorf("a change did not put it off: %+v", early)
	}
	settle(t, b, only(t, dueBy(t, b, time.Minute)), match(today))
	if again := dueBy(t, b, time.Hour); len(again) > 0 {
		t.Errorf("due although it was compared: %+v", again)
	}
	b.Clock.Set(30 * time.Second) // another machine's clock
	note(t, b, code, ours(2*time.Minute, "ann"))
	if got := only(t, dueBy(t, b, time.Hour)); got.Changes != 4 || got.Verdict.Outcome != shadow.Match {
		t.Errorf("after a change: %+v", got)
	}
}

func dueInOrder(t *testing.T, b StoreBench) {
	for i := range 3 {
		b.Clock.Set(time.Duration(3-i) * time.Second)
		both(t, b, push.Ref{Tenant: "acme", Code: fmt.Sprintf("c-%d", i)})
	}
	states, err := b.Due(t.Context(), T0.Add(time.Minute), 2)
	if err != nil || len(states) != 2 || states[0].Code != "c-2" || states[1].Code != "c-1" {
		t.Errorf("Due = %+v, %v; want those that changed first", states, err)
	}
}

func settled(t *testing.T, b StoreBench) {
	both(t, b, code)
	settle(t, b, only(t, dueBy(t, b, 0)), mismatch(today))
	got := stateOf(t, b, code)
	suitetest.WantSame(t, "the verdict", mismatch(today).Verdict, got.Verdict)
	want := map[roster.Day]shadow.Tally{today: {Compared: 1, Mismatched: 1, Causes: map[shadow.Cause]int{offline: 1}}}
	suitetest.WantSame(t, "the days", want, got.Days)
	if !got.Changed.IsZero() || got.Changes != 2 {
		t.Errorf("it is still due, or changed: %+v", got)
	}
}

func settledOnce(t *testing.T, b StoreBench) {
	both(t, b, code)
	seen := only(t, dueBy(t, b, 0))
	winners := suitetest.Race(t, 8, func(int) (bool, error) { return b.Settle(t.Context(), seen, mismatch(today)) })
	if len(winners) != 1 {
		t.Errorf("%d of 8 settled it", len(winners))
	}
	if got := stateOf(t, b, code).Days[today]; got.Compared != 1 || got.Causes[offline] != 1 {
		t.Errorf("counted: %+v", got)
	}
}

func notSettled(t *testing.T, b StoreBench) {
	both(t, b, code)
	seen := only(t, dueBy(t, b, 0))
	note(t, b, code, ours(time.Second, "cho"))
	suitetest.Refused(t, "Settle of what has changed")(b.Settle(t.Context(), seen, mismatch(today)))
	note(t, b, code, ours(2*time.Second, "ann")) // the same list again, and not the same pair
	suitetest.Refused(t, "Settle of what has changed and come back")(b.Settle(t.Context(), seen, mismatch(today)))
	nobody := seen
	nobody.Code = "no-such-code"
	suitetest.Refused(t, "Settle of what is not there")(b.Settle(t.Context(), nobody, mismatch(today)))
	if got := stateOf(t, b, code); got.Verdict.Outcome != "" || len(got.Days) > 0 {
		t.Errorf("something was kept: %+v", got)
	}
	if got := stateOf(t, b, nobody.Ref); got.Changes != 0 {
		t.Errorf("something was made: %+v", got)
	}
}

func notCounted(t *testing.T, b StoreBench) {
	both(t, b, code)
	settle(t, b, only(t, dueBy(t, b, 0)), mismatch(today))
	left := shadow.Comparison{Verdict: shadow.Verdict{First: T0}}
	settle(t, b, change(t, b, time.Second), left)
	got := stateOf(t, b, code)
	suitetest.WantSame(t, "the verdict", left.Verdict, got.Verdict)
	if got.Days[today].Compared != 1 || !got.Changed.IsZero() {
		t.Errorf("it was counted, or is still due: %+v", got)
	}
}

func marked(t *testing.T, b StoreBench) {
	both(t, b, code)
	settle(t, b, only(t, dueBy(t, b, 0)), mismatch("20260201"))
	c := match(today)
	c.Standing, c.Pruned = []roster.Day{"20260301", today}, []roster.Day{"20260201"}
	settle(t, b, change(t, b, time.Second), c)
	suitetest.WantSame(t, "the days", map[roster.Day]shadow.Tally{
		"20260301": {Standing: 1}, today: {Compared: 1, Matched: 1, Standing: 1},
	}, stateOf(t, b, code).Days)
}

func addedUp(t *testing.T, b StoreBench) {
	both(t, b, code)
	nobody := match(today)
	nobody.Outcome = shadow.NoVerdict
	for i, c := range []shadow.Comparison{match(today), mismatch(today), match(today), nobody, mismatch("20260303")} {
		b.Clock.Set(time.Duration(i+1) * time.Second)
		settle(t, b, change(t, b, time.Duration(i+1)*time.Second), c)
	}
	suitetest.WantSame(t, "the days", map[roster.Day]shadow.Tally{
		today:      {Compared: 4, Matched: 2, Mismatched: 1, Causes: map[shadow.Cause]int{offline: 1}},
		"20260303": {Compared: 1, Mismatched: 1, Causes: map[shadow.Cause]int{offline: 1}},
	}, stateOf(t, b, code).Days)
}

func causesApart(t *testing.T, b StoreBench) {
	both(t, b, code)
	c := mismatch(today)
	eligible := shadow.Cause{Kind: shadow.Lacks, Reason: reason.Eligible}
	c.Differences = append(c.Differences, shadow.Difference{Staff: "cho", Cause: offline}, shadow.Difference{Staff: "dan", Cause: eligible})
	settle(t, b, only(t, dueBy(t, b, 0)), c)
	got := stateOf(t, b, code)
	suitetest.WantSame(t, "the causes", map[shadow.Cause]int{offline: 1, eligible: 1}, got.Days[today].Causes)
	suitetest.WantSame(t, "the differences", c.Differences, got.Verdict.Differences)
}
