package explain_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// A member reached his quota while WeCom blocked his tenant, and got one customer
// more before his list was replaced.
func TestAMemberOfThePast(t *testing.T) {
	in := now.Add
	entries := []trail.Entry{
		{At: now, Kind: trail.Pushed, Epoch: 30, Size: 2, Moves: []trail.Move{{Staff: "amy", Came: true, Why: reason.Eligible}, {Staff: "bob", Came: true, Why: reason.Eligible}}},
		{At: in(10 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 5, Limit: 5},
		{At: in(11 * time.Minute), Kind: trail.Waits, Cause: reason.Blocked, Until: in(70 * time.Minute)},
		{At: in(20 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 6, Limit: 5},
		{At: in(21 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "bob", Count: 5, Limit: 5},
		{At: in(71 * time.Minute), Kind: trail.Pushed, Epoch: 31, Size: 1, Moves: []trail.Move{{Staff: "amy", Why: reason.AtDailyLimit}}},
	}
	list := []string{"bob"}
	type answer struct {
		Listed       bool
		Why, WhyLeft reason.Reason
		Left         int64
		Waiting      reason.Reason
		Full         int
	}
	of := func(staff string, at time.Duration) answer {
		p := explain.OfPast(list, entries, staff, in(at))
		return answer{p.Listed, p.Why, p.WhyLeft, p.Left.Epoch, p.Waiting.Cause, len(p.Full)}
	}
	for name, tt := range map[string]struct{ got, want answer }{
		"while his list waited":   {of("amy", 30*time.Minute), answer{Listed: true, Why: reason.Eligible, WhyLeft: reason.AtDailyLimit, Left: 31, Waiting: reason.Blocked, Full: 2}},
		"another one, then":       {of("bob", 30*time.Minute), answer{Listed: true, Why: reason.Eligible, Waiting: reason.Blocked, Full: 1}},
		"after it was replaced":   {of("amy", 80*time.Minute), answer{Why: reason.AtDailyLimit}},
		"a stranger":              {of("zoe", 30*time.Minute), answer{Waiting: reason.Blocked}},
		"before the trail begins": {of("amy", -time.Minute), answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A push whose entry was lost is not told by another.
func TestTheLastMoveIsMissing(t *testing.T) {
	entries := []trail.Entry{
		{At: now, Kind: trail.Pushed, Epoch: 30, Size: 2, Moves: []trail.Move{{Staff: "amy", Came: true, Why: reason.Eligible}, {Staff: "bob", Came: true, Why: reason.Eligible}}},
		{At: now.Add(2 * time.Minute), Kind: trail.Pushed, Epoch: 32, Size: 2, Moves: []trail.Move{{Staff: "zoe", Came: true, Why: reason.Eligible}}},
	}
	p := explain.OfPast([]string{"bob", "zoe"}, entries, "amy", now.Add(3*time.Minute))
	if !p.Known || p.Listed || !p.Came.At.IsZero() || p.Why != "" {
		t.Errorf("%+v", p)
	}
}
