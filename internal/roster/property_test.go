package roster_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func decide(t rapid.TB, w world) roster.Verdict {
	t.Helper()
	v, err := roster.Decide(w.Facts, w.Last, w.Rules, w.Now)
	if err != nil {
		t.Fatalf("decide: %v", err)
	}
	return v
}

func TestVerdictIsWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := decide(t, w)
		if !slices.IsSorted(v.Members) || len(slices.Compact(slices.Clone(v.Members))) != len(v.Members) {
			t.Errorf("members are not sorted and single: %v", v.Members)
		}
		if len(v.Members) == 0 && !slices.Contains(v.Notes, reason.NobodyLeft) {
			t.Errorf("an empty list without a note")
		}
		var included, judged, seated []string
		for _, j := range v.PerStaff {
			judged = append(judged, j.Staff)
			if j.Included {
				included = append(included, j.Staff)
			}
		}
		for _, seat := range v.Rotation {
			seated = append(seated, seat.Staff)
		}
		if w.Facts.Code.Family.Rotates() && !slices.Equal(seated, included) {
			t.Errorf("seats %v, included %v", seated, included)
		}
		slices.Sort(included)
		if !slices.Equal(included, v.Members) {
			t.Errorf("included %v, members %v", included, v.Members)
		}
		slices.Sort(judged)
		if len(slices.Compact(judged)) != len(v.PerStaff) {
			t.Errorf("somebody is judged twice: %v", v.PerStaff)
		}
	})
}

func TestNobodyWhomWeComRefusesIsListed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for _, id := range decide(t, w).Members {
			if s := w.Facts.Staff[id]; s.Resigned || s.QuarantinedUntil.After(w.Now) {
				t.Errorf("%s is listed: %+v", id, s)
			}
		}
	})
}

// Who is out, and why, is what a plain reading of the rules says.
func TestReasonsFollowThePlainReading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := decide(t, w)
		seen := map[string]bool{}
		open, full := 0, 0
		want := map[string]reason.Reason{}
		for _, m := range w.Facts.Code.Members {
			if seen[m.Staff] {
				continue
			}
			seen[m.Staff] = true
			want[m.Staff] = plainReading(w, m)
			if got := want[m.Staff]; got == reason.Eligible {
				open++
			} else if got == reason.AtRoundLimit {
				open++
				full++
			}
		}
		advances := open > 0 && open == full
		for _, j := range v.PerStaff {
			expected, isMember := want[j.Staff]
			if !isMember {
				continue
			}
			if expected == reason.AtRoundLimit && advances {
				expected = reason.Eligible
			}
			if got := cmp.Or(j.Despite, j.Reason); got != expected {
				t.Errorf("%s: got %s, want %s", j.Staff, got, expected)
			}
		}
		if (v.Round > w.Facts.Counters.Round) != advances {
			t.Errorf("round %d after %d, advances: %v", v.Round, w.Facts.Counters.Round, advances)
		}
	})
}

// plainReading is the reason that the rules give for a member, one after the
// other, with nothing but the standard library's clocks.
func plainReading(w world, m roster.Member) reason.Reason {
	f, on := w.Facts, w.Facts.Code.Switches
	s, known := f.Staff[m.Staff]
	today := roster.DayOf(w.Now, zone(f.Tenant.TimeZone))
	at := func(count, limit int) bool { return limit > 0 && count >= limit }
	switch {
	case !known:
		return reason.StaffMissing
	case s.Resigned:
		return reason.Resigned
	case !s.Off.Since.IsZero() && (s.Off.Until.IsZero() || w.Now.Before(s.Off.Until)):
		return reason.TakenOff
	case w.Now.Before(s.QuarantinedUntil):
		return reason.Quarantined
	case s.RemovedOn == today:
		return reason.RemovedToday
	case at(s.Added[today], f.Tenant.DailyTotal):
		return reason.AtCompanyLimit
	case on.OfflineCheck && s.Presence == roster.OfflineNow:
		return reason.Offline
	case on.OfflineCheck && s.Presence == roster.PresenceUnset && s.Schedule != nil && !worksAt(s.Schedule, f.Tenant.TimeZone, w.Now):
		return reason.OffDuty
	case on.AddLimit && at(f.Counters.Total[m.Staff], m.AddLimit):
		return reason.AtAddLimit
	case on.DailyLimit && at(f.Counters.Days[today][m.Staff], m.DailyLimit):
		return reason.AtDailyLimit
	case on.RoundLimit && at(f.Counters.InRound[m.Staff], m.RoundLimit):
		return reason.AtRoundLimit
	}
	return reason.Eligible
}

func TestDecidingAgainWithTheVerdictAsLastChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		first := decide(t, w)
		requireStable(t, w, first)
	})
}

// requireStable decides again as if the verdict had been pushed. Who is in
// quarantine has left the list by then, so its end may not matter any more:
// the next change may be later.
func requireStable(t *rapid.T, w world, first roster.Verdict) {
	t.Helper()
	if len(first.Members) == 0 {
		return // nothing is pushed
	}
	w.Last = asLast(first, w.Facts, w.Now)
	again := decide(t, w)
	if next := again.NextChange; !next.IsZero() && (first.NextChange.IsZero() || next.Before(first.NextChange)) {
		t.Errorf("next change %v, after %v", next, first.NextChange)
	}
	again.NextChange = first.NextChange
	if diff := gocmp.Diff(first, again); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}

// The same with more people than WeCom takes and a list that lost many.
func TestTheCapHoldsForEverybodyWhoStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for _, id := range spread("m1..m150")[:draw(t, rapid.IntRange(0, 150), "more members")] {
			w.Facts.Code.Members = append(w.Facts.Code.Members, roster.Member{Staff: id})
			w.Facts.Staff[id] = roster.Staff{ID: id}
		}
		w.Last.Members = append(w.Last.Members, spread("x1..x100")[:draw(t, rapid.IntRange(0, 100), "lost")]...)
		first := decide(t, w)
		if len(first.Members) > roster.MaxListed {
			t.Errorf("%d are listed", len(first.Members))
		}
		requireStable(t, w, first)
	})
}

// The guard keeps all whom it may keep, or nobody, and lets go at most the
// allowed share of a list that does not grow otherwise.
func TestTheGuardAllowsAtMostItsShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.Last.Revision, w.Last.Kept = w.Facts.Code.Revision, false
		v := decide(t, w)
		last := slices.Compact(slices.Sorted(slices.Values(w.Last.Members)))
		left := 0
		for _, id := range last {
			if !slices.Contains(v.Members, id) && unexplained(w, v, id) {
				left++
			}
		}
		newcomers := slices.ContainsFunc(v.Members, func(id string) bool { return !slices.Contains(last, id) })
		share := cmp.Or(w.Facts.Tenant.MaxRemovalShare, 0.5)
		if slices.Contains(v.Notes, reason.BlastRadius) && left > 0 {
			t.Errorf("the guard kept some and let %d go: %v", left, v)
		}
		if left > 1 && !newcomers && float64(left) > share*float64(len(last)) {
			t.Errorf("%d of %v left without a reason: %v", left, last, v)
		}
	})
}

// unexplained reports whether no fact says why id is not on the list.
func unexplained(w world, v roster.Verdict, id string) bool {
	for _, j := range v.PerStaff {
		if j.Staff == id {
			return j.Reason == reason.StaffMissing
		}
	}
	if w.Facts.Code.OnEmpty == roster.TenantFallback && slices.Contains(w.Facts.Tenant.Fallback, id) {
		return false
	}
	s := w.Facts.Staff[id]
	return !s.Resigned && !s.QuarantinedUntil.After(w.Now)
}

// NextChange is the first instant at which the verdict is another, found here
// by trying every instant of the grid.
func TestNextChangeIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, nextChangeIsExact)
}

func nextChangeIsExact(t *rapid.T) {
	w := drawWorld(t)
	now := decide(t, w)
	next := now.NextChange
	const days = 9 // a week, and what clocks and special days may add
	for at := onGrid(w.Now).Add(grid); at.Before(w.Now.AddDate(0, 0, days)); at = at.Add(grid) {
		later := w
		later.Now = at
		v := decide(t, later)
		v.NextChange = next
		changed := !reflect.DeepEqual(now, v)
		if changed != at.Equal(next) {
			t.Fatalf("at %v the verdict has changed: %v; it said %v at %v\n%s", at, changed, next, w.Now, gocmp.Diff(now, v))
		}
		if changed {
			return
		}
	}
	if !next.IsZero() && next.Before(w.Now.AddDate(0, 0, days)) {
		t.Fatalf("nothing has changed at %v", next)
	}
}

// With facts dated tomorrow NextChange may be early, but is never late.
func TestNextChangeIsNeverLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		tomorrow := roster.DayOf(w.Now.AddDate(0, 0, 1), zone(w.Facts.Tenant.TimeZone))
		w.Facts.Counters.Days[tomorrow] = map[string]int{}
		for _, id := range cast {
			w.Facts.Counters.Days[tomorrow][id] = draw(t, rapid.IntRange(0, 4), "tomorrow")
			if s, ok := w.Facts.Staff[id]; ok {
				s.Added[tomorrow] = draw(t, rapid.IntRange(0, 3), "added tomorrow")
				s.RemovedOn = oneOf(t, "removed tomorrow", s.RemovedOn, tomorrow)
				w.Facts.Staff[id] = s
			}
		}
		now := decide(t, w)
		end := now.NextChange
		if end.IsZero() {
			end = w.Now.AddDate(0, 0, 9)
		}
		for at := onGrid(w.Now).Add(grid); at.Before(end); at = at.Add(grid) {
			later := w
			later.Now = at
			v := decide(t, later)
			v.NextChange = now.NextChange
			if !reflect.DeepEqual(now, v) {
				t.Fatalf("changed at %v, before %v:\n%s", at, end, gocmp.Diff(now, v))
			}
		}
	})
}

// Without rounds (whose end is everybody's business), more room for one
// member takes nobody off who is there in his own right.
func TestRaisingALimitRemovesNobody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.Facts.Code.Switches.RoundLimit = false
		before := decide(t, w)
		w.Facts.Code.Members = slices.Clone(w.Facts.Code.Members)
		for i := range w.Facts.Code.Members {
			m := &w.Facts.Code.Members[i]
			m.AddLimit = raise(m.AddLimit, draw(t, rapid.IntRange(0, 2), "add by"))
			m.DailyLimit = raise(m.DailyLimit, draw(t, rapid.IntRange(0, 2), "daily by"))
		}
		w.Facts.Tenant.DailyTotal = raise(w.Facts.Tenant.DailyTotal, draw(t, rapid.IntRange(0, 2), "total by"))
		after := decide(t, w)
		for _, j := range before.PerStaff {
			if j.Reason == reason.Eligible && !slices.Contains(after.Members, j.Staff) {
				t.Errorf("%s was eligible and is not any more: %v", j.Staff, after.PerStaff)
			}
		}
	})
}

func raise(limit, by int) int {
	if limit == 0 {
		return 0 // no limit
	}
	return limit + by
}

func TestDecideIsPure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		copied := w
		copied.Facts.Staff = maps.Clone(w.Facts.Staff)
		copied.Facts.Counters.Total = maps.Clone(w.Facts.Counters.Total)
		copied.Last.Members = slices.Clone(w.Last.Members)
		seed := draw(t, rapid.Uint64(), "shuffle")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(copied.Last.Members), func(i, j int) {
			m := copied.Last.Members
			m[i], m[j] = m[j], m[i]
		})
		before := slices.Clone(w.Last.Members)
		first := decide(t, w)
		copied.Now = w.Now.In(time.FixedZone("elsewhere", -3600))
		if diff := gocmp.Diff(first, decide(t, copied)); diff != "" {
			t.Errorf("order or zone of the clock matters:\n%s", diff)
		}
		if !slices.Equal(before, w.Last.Members) {
			t.Errorf("the last list was changed: %v", w.Last.Members)
		}
	})
}
