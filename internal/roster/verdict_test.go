package roster_test

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// sent is a code that lists exactly these members.
func sent(remark, state string, skipVerify bool, members ...string) roster.Facts {
	f := roster.Facts{
		Code:  roster.Code{Family: roster.Native, Remark: remark, State: state, SkipVerify: skipVerify},
		Staff: map[string]roster.Staff{},
	}
	for _, id := range members {
		f.Code.Members = append(f.Code.Members, roster.Member{Staff: id})
		f.Staff[id] = roster.Staff{ID: id}
	}
	return f
}

// Two pushes have the same hash only if WeCom would be told the same.
func TestHashTellsPushesApart(t *testing.T) {
	t.Parallel()
	pushes := map[string]roster.Facts{
		"one member":               sent("", "", false, "ab"),
		"two members":              sent("", "", false, "a", "b"),
		"a member for a remark":    sent("b", "", false, "a"),
		"a remark for a member":    sent("", "", false, "a", "b", ""),
		"a state for a remark":     sent("", "b", false, "a"),
		"remark and state":         sent("b", "c", false, "a"),
		"remark and state shifted": sent("bc", "", false, "a"),
		"verification skipped":     sent("", "", true, "ab"),
		"a length as text":         sent("", "", false, "\x01a"),
		"nobody":                   sent("", "", false),
	}
	elsewhere := sent("", "", false, "ab")
	elsewhere.Code.ConfigID = "another"
	pushes["another contact way"] = elsewhere
	rotating := sent("", "", false, "ab")
	rotating.Code.Family = roster.Sequenced
	pushes["with a rotation set"] = rotating
	shape := regexp.MustCompile(`^[0-9a-f]{16}$`)
	seen := map[string]string{}
	for name, f := range pushes {
		hash := decide(t, world{Facts: f, Now: utc(2026, 3, 2, 4)}).Hash
		if !shape.MatchString(hash) {
			t.Errorf("%s: %q is not 16 hexadecimal characters", name, hash)
		}
		if other, twice := seen[hash]; twice {
			t.Errorf("%q and %q have the same hash", name, other)
		}
		seen[hash] = name
	}
}

func TestHashIsThatOfTheListAlone(t *testing.T) {
	t.Parallel()
	at := utc(2026, 3, 2, 4)
	f := sent("spring", "s1", false, "b", "a")
	before := decide(t, world{Facts: f, Now: at}).Hash
	f.Code.Members[0], f.Code.Members[1] = f.Code.Members[1], f.Code.Members[0]
	f.Code.Revision, f.Counters.Round = 8, 3
	if after := decide(t, world{Facts: f, Now: at.AddDate(1, 0, 0)}).Hash; after != before {
		t.Errorf("the hash of the same list changed from %s to %s", before, after)
	}
	// Records keep hashes: another encoding would push every code once more.
	if recorded := "98499d2425d875ff"; before != recorded {
		t.Errorf("hash %s, recorded as %s", before, recorded)
	}
}

func TestInvalidFactsAreRecognised(t *testing.T) {
	t.Parallel()
	f := sent("", "", false, "a")
	f.Tenant.TimeZone = "Mars/Olympus"
	_, err := roster.Decide(f, roster.Last{}, roster.LaneRules{}, utc(2026, 3, 2, 4))
	var invalid *roster.InvalidError
	if !errors.Is(err, roster.ErrInvalid) || !errors.As(err, &invalid) {
		t.Fatalf("got %v", err)
	}
	want := roster.InvalidError{Field: "tenant.time_zone", Value: "Mars/Olympus", Want: "the IANA name of a time zone"}
	if *invalid != want {
		t.Errorf("got %+v, want %+v", *invalid, want)
	}
}

// Of several contradictions the same is named every time, although maps have
// no order.
func TestTheSameContradictionIsNamedEveryTime(t *testing.T) {
	t.Parallel()
	f := sent("", "", false, "a")
	f.Code.Switches.OfflineCheck = true
	special := map[roster.Day][]roster.Shift{"20260101": {{From: -1, To: 5}}}
	for i := range 30 {
		special[roster.Day(fmt.Sprintf("bad-%02d", i))] = nil
	}
	f.Staff["a"] = roster.Staff{ID: "a", Schedule: &roster.Schedule{Special: special}}
	for range 20 {
		_, err := roster.Decide(f, roster.Last{}, roster.LaneRules{}, utc(2026, 3, 2, 4))
		var invalid *roster.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "staff[a].schedule[20260101]" {
			t.Fatalf("got %v, want the first by day", err)
		}
	}
}

func TestDaysOfTheCalendar(t *testing.T) {
	t.Parallel()
	days := map[roster.Day]bool{
		"20260228": true, "20260229": false, "20280229": true, "20000229": true, "21000229": false,
		"20260430": true, "20260431": false, "20260131": true, "20261231": true, "20261301": false,
		"20260001": false, "20260100": false, "00000101": false, "2026-1-1": false, "202601011": false, "2026010": false,
	}
	for day, valid := range days {
		f := sent("", "", false, "a")
		f.Staff["a"] = roster.Staff{ID: "a", RemovedOn: day}
		_, err := roster.Decide(f, roster.Last{}, roster.LaneRules{}, utc(2026, 3, 2, 4))
		if valid != (err == nil) {
			t.Errorf("%s: valid %v, got %v", day, valid, err)
		}
	}
}

func TestNextChangeIsInUTC(t *testing.T) {
	t.Parallel()
	f := sent("", "", false, "a")
	until := time.Date(2026, 3, 2, 12, 0, 0, 0, time.FixedZone("elsewhere", 3600))
	f.Staff["a"] = roster.Staff{ID: "a", QuarantinedUntil: until}
	next := decide(t, world{Facts: f, Now: utc(2026, 3, 2, 4)}).NextChange
	if !next.Equal(until) || next.Location() != time.UTC {
		t.Errorf("got %v, want %v in UTC", next, until)
	}
}

func TestRemoves(t *testing.T) {
	t.Parallel()
	v := roster.Verdict{Members: []string{"a", "b"}}
	tests := []struct {
		before []string
		want   bool
	}{
		{nil, false}, {[]string{"a"}, false}, {[]string{"b", "a"}, false}, {[]string{"a", "c"}, true},
	}
	for _, tt := range tests {
		if got := v.Removes(tt.before); got != tt.want {
			t.Errorf("removes somebody of %v: %v", tt.before, got)
		}
	}
}

func TestLaneTellsWhenAPushIsDue(t *testing.T) {
	t.Parallel()
	last := utc(2026, 3, 2, 4)
	for interval, slow := range map[time.Duration]bool{0: false, 30 * time.Minute: true} {
		lane := roster.Lane{Interval: interval}
		if lane.Slow() != slow || !lane.NotBefore(last).Equal(last.Add(interval)) {
			t.Errorf("interval %v: slow %v, not before %v", interval, lane.Slow(), lane.NotBefore(last))
		}
	}
}

// The rules answer alone, too, and say until when.
func TestLaneRules(t *testing.T) {
	t.Parallel()
	now := utc(2026, 3, 2, 4)
	rules := roster.LaneRules{FastFor: time.Hour, SlowInterval: 30 * time.Minute}
	fresh := roster.Code{CreatedAt: now.Add(-59 * time.Minute), UpdatedAt: now.Add(-2 * time.Hour)}
	tests := []struct {
		name  string
		rules roster.LaneRules
		code  roster.Code
		slow  bool
		until time.Time
	}{
		{"created lately", rules, fresh, false, now.Add(time.Minute)},
		{"never touched", rules, roster.Code{}, true, time.Time{}},
		{"no fast time", roster.LaneRules{SlowInterval: time.Minute}, fresh, true, time.Time{}},
		{"negative fast time", roster.LaneRules{FastFor: -time.Hour, SlowInterval: time.Minute}, fresh, true, time.Time{}},
		{"negative interval", roster.LaneRules{SlowInterval: -time.Minute}, fresh, false, time.Time{}},
		{"no rules", roster.LaneRules{}, roster.Code{Lane: roster.LaneSlow}, false, time.Time{}},
	}
	for _, tt := range tests {
		lane, until := tt.rules.Lane(tt.code, roster.Tenant{}, now)
		if lane.Slow() != tt.slow || !until.Equal(tt.until) {
			t.Errorf("%s: slow %v until %v", tt.name, lane.Slow(), until)
		}
	}
}

// Zones are remembered by all goroutines together.
func TestDecidingAtOnceInManyZones(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, m := range moments {
				f := sent("", "", false, "a")
				f.Tenant.TimeZone = m.zone
				if _, err := roster.Decide(f, roster.Last{}, roster.LaneRules{}, m.at); err != nil {
					t.Errorf("%s: %v", m.zone, err)
				}
			}
		})
	}
	group.Wait()
}
