package shadow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

const aDay = 24 * time.Hour

// settles has both sides of a code change, and compares them half a minute later.
func (r *rig) settles(after time.Duration, ref push.Ref, ours, theirs string) {
	r.t.Helper()
	r.at(after)
	r.decides(ref, strings.Fields(ours), roster.Judgement{Staff: "bob", Reason: reason.Offline})
	r.pushed(ref, r.clock.Now(), shadow.Recorded, strings.Fields(theirs)...)
	r.at(after + 30*time.Second)
	if _, err := r.comparer.Sweep(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func TestATenantGetsReady(t *testing.T) {
	r := newRig(t)
	r.settles(0, c1, "ann", "ann")
	for day := range shadow.DaysNeeded + 1 {
		r.at(time.Duration(day) * aDay)
		got := r.report()
		if want := max(day-1, 0); got.DaysClean != want || got.Ready {
			t.Errorf("day %d: %d days clean, ready: %v, %v", day, got.DaysClean, got.Ready, got.Because)
		}
	}
	r.at((shadow.DaysNeeded + 1) * aDay)
	got := r.report()
	if !got.Ready || got.DaysClean != 7 || len(got.Because) > 0 ||
		got.Verdict != "Ready: 1 code in shadow mode, no two lists differ, and none has for 7 whole days." {
		t.Errorf("%+v", got)
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	r := newRig(t)
	r.settles(0, c1, "ann", "ann bob")
	for _, code := range []string{"silent", "undecided", "waiting", "live"} {
		r.store.PutCode(push.Ref{Tenant: "acme", Code: code}, shadow.Mode{Shadow: code != "live"})
	}
	r.decides(push.Ref{Tenant: "acme", Code: "silent"}, []string{"ann"})
	r.pushes(push.Ref{Tenant: "acme", Code: "undecided"}, "ann")
	r.decides(push.Ref{Tenant: "acme", Code: "waiting"}, []string{"ann"})
	r.pushes(push.Ref{Tenant: "acme", Code: "waiting"}, "ann")
	got := r.report()
	want := shadow.Codes{
		Total: 5, InShadow: 4, Live: 1, WithVerdict: 3, Reported: 3, Compared: 1, Mismatching: 1, Waiting: 1, Settling: 1,
	}
	if diff := cmp.Diff(want, got.Codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	if got.Ready || got.Verdict != "Not ready, for 5 reasons." {
		t.Errorf("ready %v: %s", got.Ready, got.Verdict)
	}
	for i, part := range []string{"lists of 1 code differ", "not decided about 1 code", "known of 1 code", "1 code is not compared", "7 whole days"} {
		if i >= len(got.Because) || !strings.Contains(got.Because[i], part) {
			t.Errorf("%q lacks %q", got.Because, part)
		}
	}
	if diff := cmp.Diff([]string{"silent"}, got.NeverReported); diff != "" {
		t.Errorf("never reported (-want +got):\n%s", diff)
	}
}

func TestNothingToMoveOver(t *testing.T) {
	r := newRig(t)
	r.store.PutCode(c1, shadow.Mode{})
	if got := r.report(); got.Ready || !strings.Contains(got.Verdict, "no code of the tenant is in shadow mode") || len(got.Because) != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := r.desk.Report(t.Context(), "globex"); !errors.Is(err, push.ErrUnknownTenant) {
		t.Errorf("Report of nobody: %v", err)
	}
}

// A difference that stands for days is one of each of these days, whether it
// still stands or has healed; the days begin at the tenant's midnight.
func TestAMismatchSpoilsEveryDayItStands(t *testing.T) {
	r := newRig(t)
	r.settles(0, c1, "ann", "ann") // noon in Shanghai
	evening := 2*aDay + 11*time.Hour
	r.settles(evening, c1, "ann cho", "ann cho bob")
	r.at(5 * aDay)
	clean := func(got shadow.Readiness) string {
		var marks strings.Builder
		for _, day := range slices.Concat([]shadow.Day{got.Today}, got.Days[:6]) {
			marks.WriteString(map[bool]string{true: ".", false: "x"}[day.Clean])
		}
		return marks.String()
	}
	if got := r.report(); clean(got) != "xxxx..." || got.DaysClean != 0 {
		t.Errorf("while it stands: %s, %d days clean", clean(got), got.DaysClean)
	}
	r.settles(5*aDay, c1, "ann cho dan", "ann cho dan")
	r.at(5*aDay + 13*time.Hour) // one o'clock in the morning
	got := r.report()
	if clean(got) != ".xxxx.." || got.DaysClean != 0 || got.Today.Day != "20260308" {
		t.Errorf("healed: %s, %d days clean, today %s", clean(got), got.DaysClean, got.Today.Day)
	}
	r.at(7*aDay + 13*time.Hour)
	if got := r.report(); clean(got) != "...xxxx" || got.DaysClean != 2 {
		t.Errorf("two days later: %s, %d days clean", clean(got), got.DaysClean)
	}
}

// Days on which hardly any code was compared yet say nothing; one new code does
// not begin it all anew.
func TestCleanDaysBeginWhenMostWereCompared(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprintf("c-%02d", i)}
		r.store.PutCode(ref, shadow.Mode{Shadow: true})
		first := time.Duration(0)
		switch {
		case i == 19:
			first = 9 * aDay // made later
		case i > 4:
			first = 4 * aDay
		}
		r.settles(first, ref, "ann", "ann")
	}
	r.at(10 * aDay)
	if got := r.report().DaysClean; got != 5 {
		t.Errorf("%d days clean, want those after the fifth day", got)
	}
}

func TestExamplesAreTheOldestAndBounded(t *testing.T) {
	r := newRig(t)
	for i := range shadow.MaxExamples + 5 {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprintf("c-%02d", i)}
		r.store.PutCode(ref, shadow.Mode{Shadow: true})
		r.settles(time.Duration(100-i)*time.Minute, ref, "ann", "ann bob")
	}
	got := r.report()
	if len(got.Examples) != shadow.MaxExamples || got.Examples[0].Code != "c-24" || got.Codes.Mismatching != 25 {
		t.Fatalf("%d examples of %d, the first %+v", len(got.Examples), got.Codes.Mismatching, got.Examples[0])
	}
	want := shadow.Example{
		Code: "c-24", Ours: []string{"ann"}, Theirs: []string{"ann", "bob"}, Source: shadow.Report,
		Since:       shadowtest.T0.Add(76 * time.Minute),
		Differences: []shadow.Difference{{Staff: "bob", Cause: shadow.Cause{Kind: shadow.Lists, Reason: reason.Offline}}},
	}
	if diff := cmp.Diff(want, got.Examples[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]shadow.CauseCount{{Cause: shadow.Cause{Kind: shadow.Lists, Reason: reason.Offline}, Codes: 25}}, got.Causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// Counts are kept for a month, and the report's pages for all codes.
func TestOldDaysGo(t *testing.T) {
	r := newRig(t)
	for day := range 40 {
		list := []string{"ann", "ann cho"}[day%2]
		r.settles(time.Duration(day)*aDay, c1, list, list)
	}
	states, err := r.store.States(t.Context(), "acme", []string{"c-1"})
	if err != nil || len(states["c-1"].Days) != shadow.DaysKept+1 {
		t.Errorf("%d days, %v", len(states["c-1"].Days), err)
	}
	if got := r.report(); got.DaysClean != shadow.DaysKept || len(got.Days) != shadow.DaysShown-1 {
		t.Errorf("%d days clean, %d shown", got.DaysClean, len(got.Days))
	}
}

func TestTheReportHasEveryPage(t *testing.T) {
	r := newRig(t)
	for i := range 1100 {
		r.store.PutCode(push.Ref{Tenant: "acme", Code: fmt.Sprintf("many-%04d", i)}, shadow.Mode{Shadow: true})
	}
	if got := r.report(); got.Codes.Total != 1101 || len(got.NeverReported) != shadow.MaxExamples {
		t.Errorf("%+v", got.Codes)
	}
}
