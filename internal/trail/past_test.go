package trail_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

var t0 = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return t0.Add(time.Duration(minutes) * time.Minute) }

// story is a member who reached his quota while WeCom blocked his tenant: his list
// was replaced an hour late.
func story() []trail.Entry {
	return []trail.Entry{
		{At: at(0), Kind: trail.Pushed, Epoch: 30, Moves: []trail.Move{{Staff: "amy", Came: true, Why: reason.Eligible}, {Staff: "bob", Came: true, Why: reason.Eligible}}, Size: 2},
		{At: at(10), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 5, Limit: 5},
		{At: at(11), Kind: trail.Waits, Cause: reason.Blocked, Until: at(70)},
		{At: at(20), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 6, Limit: 5},
		{At: at(71), Kind: trail.Pushed, Epoch: 31, Moves: []trail.Move{{Staff: "amy", Why: reason.AtDailyLimit}}, Size: 1},
		{At: at(90), Kind: trail.Pushed, Epoch: 32, Moves: []trail.Move{{Staff: "zoe", Came: true, Why: reason.Eligible}}, Size: 2},
	}
}

func TestTheListOfThePast(t *testing.T) {
	s := story()
	refused := trail.Entry{At: at(70), Kind: trail.Refused, Epoch: 31, Cause: reason.Transient}
	withRefusal := slices.Insert(story(), 4, refused)
	now := []string{"bob", "zoe"}
	tests := map[string]struct {
		at   time.Time
		want trail.Past
	}{
		"now":                {at(95), trail.Past{Known: true, Members: []string{"bob", "zoe"}, Since: s[5]}},
		"between two pushes": {at(80), trail.Past{Known: true, Members: []string{"bob"}, Since: s[4], Next: s[5]}},
		"while it waited": {at(30), trail.Past{
			Known: true, Members: []string{"amy", "bob"}, Since: s[0], Next: s[4], Waiting: s[2], Full: []trail.Entry{s[1], s[3]}, Refused: []trail.Entry{refused},
		}},
		"before it had to wait":    {at(5), trail.Past{Known: true, Members: []string{"amy", "bob"}, Since: s[0], Next: s[4], Full: []trail.Entry{s[1], s[3]}, Refused: []trail.Entry{refused}}},
		"at the instant of a push": {at(71), trail.Past{Known: true, Members: []string{"bob"}, Since: s[4], Next: s[5]}},
		"before the trail begins":  {at(-1), trail.Past{Gap: "the trail begins later", Next: s[0]}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.At = tt.at
			if diff := cmp.Diff(tt.want, trail.At(now, withRefusal, tt.at)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A push whose entry was lost does not make up a list.
func TestAMissingEntryShows(t *testing.T) {
	s := story()
	without := append([]trail.Entry{}, s[:4]...)
	without = append(without, s[5])
	got := trail.At([]string{"bob", "zoe"}, without, at(30))
	if got.Known || got.Gap == "" || got.Members != nil {
		t.Errorf("%+v", got)
	}
	// Two are missing, one who left and one who came: the sizes fit at the end alone.
	if got := trail.At([]string{"bob", "kim", "zoe"}, without, at(30)); got.Known || got.Members != nil {
		t.Errorf("two that make up for each other: %+v", got)
	}
	// One who left for one who came is missing: the sizes fit everywhere.
	if got := trail.At([]string{"bob", "kim"}, s, at(95)); got.Known {
		t.Errorf("a swap after the last push: %+v", got)
	}
	if got := trail.At([]string{"kim", "zoe"}, s, at(80)); !got.Known {
		t.Errorf("a swap that no push beside it tells of: %+v", got) // what the trail cannot know
	}
	if got := trail.At([]string{"bob"}, s, at(95)); got.Known {
		t.Errorf("a list that is not the trail's: %+v", got)
	}
	if got := trail.At([]string{"bob", "zoe"}, s, at(30)); len(s[0].Moves) != 2 || !got.Known {
		t.Errorf("looking changed the trail: %+v", got)
	}
}

func TestEntriesOfWhatHappened(t *testing.T) {
	change := push.Change{
		At: t0, Epoch: 7, Before: []string{"amy", "bob", "old"}, After: []string{"bob", "zoe"},
		PerStaff: []roster.Judgement{{Staff: "amy", Reason: reason.Offline}, {Staff: "bob", Reason: reason.Eligible}, {Staff: "zoe", Reason: reason.BackupInUse}},
	}
	want := trail.Entry{At: t0, Kind: trail.Pushed, Epoch: 7, Size: 2, Moves: []trail.Move{
		{Staff: "amy", Why: reason.Offline}, {Staff: "old"}, {Staff: "zoe", Came: true, Why: reason.BackupInUse},
	}}
	if diff := cmp.Diff(want, trail.OfChange(change)); diff != "" {
		t.Error(diff)
	}
	waits := map[string]struct {
		out  push.Outcome
		want trail.Entry
		none bool
	}{
		"a hold":    {out: push.Hold{Cause: reason.Throttled, Until: at(1)}, want: trail.Entry{At: t0, Kind: trail.Waits, Cause: reason.Throttled, Until: at(1)}},
		"a park":    {out: push.Park{Mark: push.Mark{Reason: reason.Blocked, Due: at(2), Detail: "45009"}}, want: trail.Entry{At: t0, Kind: trail.Waits, Cause: reason.Blocked, Until: at(2), Detail: "45009"}},
		"a failure": {out: push.Fail{Class: reason.StoreDown, Err: errDown}, want: trail.Entry{At: t0, Kind: trail.Waits, Cause: reason.StoreDown, Detail: "down"}},
		"a success": {out: push.Done{Reason: reason.Pushed}, none: true},
	}
	for name, tt := range waits {
		t.Run(name, func(t *testing.T) {
			got, waits := trail.OfOutcome(tt.out, t0)
			if diff := cmp.Diff(tt.want, got); diff != "" || waits == tt.none {
				t.Errorf("waits %v\n%s", waits, diff)
			}
		})
	}
}
