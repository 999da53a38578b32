package quota_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var (
	liNa = quota.Pair{Tenant: "acme", Staff: "li.na", Customer: "wm-1"}
	noon = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
)

// heard is an event of a pair as the tables write it.
type heard struct {
	second int
	change quota.Change
	state  string
}

func (h heard) entry() quota.Entry {
	return quota.Entry{Change: h.change, At: noon.Add(time.Duration(h.second) * time.Second), State: h.state, Code: "code-" + h.state}
}

func full(second int) heard  { return heard{second, quota.Added, "s"} }
func half(second int) heard  { return heard{second, quota.HalfAdded, "s"} }
func ended(second int) heard { return heard{second, quota.Deleted, ""} }
func left(second int) heard  { return heard{second, quota.Unfollowed, ""} }

// take takes events in, one after the other.
func take(events ...heard) (quota.Contact, []quota.Judgement) {
	var contact quota.Contact
	var judged []quota.Judgement
	for _, event := range events {
		var judgement quota.Judgement
		contact, judgement = contact.Take(liNa, event.entry(), noon, time.UTC)
		judged = append(judged, judgement)
	}
	return contact, judged
}

func TestTake(t *testing.T) {
	type judged = []quota.Judgement
	const c, m, r, e = quota.Counted, quota.Merged, quota.Repeated, quota.Ended
	tests := map[string]struct {
		events []heard
		want   judged
		count  int
	}{
		"an addition":                                 {[]heard{full(1)}, judged{c}, 1},
		"one that is retried":                         {[]heard{full(1), full(1), full(1)}, judged{c, r, r}, 1},
		"a half, then the full":                       {[]heard{half(1), full(2)}, judged{c, m}, 1},
		"the full, then its half":                     {[]heard{full(2), half(1)}, judged{c, m}, 1},
		"both in one second":                          {[]heard{half(1), full(1)}, judged{c, m}, 1},
		"both, each retried":                          {[]heard{half(1), full(2), half(1), full(2)}, judged{c, m, r, r}, 1},
		"a half that nobody confirms":                 {[]heard{half(1)}, judged{c}, 1},
		"again after the end":                         {[]heard{full(1), ended(2), full(3)}, judged{c, e, c}, 2},
		"again after the customer left":               {[]heard{full(1), left(2), half(3), full(4)}, judged{c, e, c, m}, 2},
		"again, and the end was lost":                 {[]heard{full(1), full(2)}, judged{c, c}, 2},
		"a half whose full is of after the end":       {[]heard{half(1), ended(2), full(3)}, judged{c, e, c}, 2},
		"an end that comes late, between two":         {[]heard{half(1), full(3), ended(2)}, judged{c, m, e}, 2},
		"an end that comes late, behind both":         {[]heard{half(1), full(2), ended(3)}, judged{c, m, e}, 1},
		"an end of nothing":                           {[]heard{ended(1)}, judged{e}, 0},
		"an end that is retried":                      {[]heard{full(1), ended(2), ended(2), full(3)}, judged{c, e, r, c}, 2},
		"both ends, member's and customer's":          {[]heard{full(1), ended(2), left(2), full(3)}, judged{c, e, e, c}, 2},
		"a late end that parts three":                 {[]heard{full(1), half(2), half(4), ended(3)}, judged{c, m, c, e}, 2},
		"through another code":                        {[]heard{full(1), {2, quota.Added, "t"}}, judged{c, c}, 2},
		"through two codes in one second":             {[]heard{full(1), {1, quota.Added, "t"}}, judged{c, c}, 2},
		"a half through one code, the full elsewhere": {[]heard{half(1), {2, quota.Added, "t"}}, judged{c, m}, 1},
		"an end ahead of what it ends":                {[]heard{ended(2), full(1), full(3)}, judged{e, c, c}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			contact, got := take(test.events...)
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("judgements (-want +got):\n%s", diff)
			}
			if len(contact.Additions) != test.count {
				t.Errorf("%d additions, want %d: %+v", len(contact.Additions), test.count, contact.Additions)
			}
		})
	}
}

// An addition has the code, the day and the instant of the event that it began
// with, and is taken up now.
func TestTakeDescribesTheAddition(t *testing.T) {
	late := time.Date(2026, 11, 30, 16, 30, 0, 0, time.UTC) // half past midnight in Shanghai
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	event := quota.Entry{Change: quota.Added, At: late, State: "s", Code: "code-1"}
	contact, _ := quota.Contact{Version: 7}.Take(liNa, event, late.Add(time.Minute), shanghai)
	event.Counted = true
	want := quota.Contact{
		Version: 7,
		Entries: []quota.Entry{event},
		Additions: []quota.Addition{
			{ID: contact.Additions[0].ID, Code: "code-1", Day: "20261201", At: late, Since: late.Add(time.Minute)},
		},
	}
	if diff := gocmp.Diff(want, contact); diff != "" {
		t.Errorf("contact (-want +got):\n%s", diff)
	}
	if len(contact.Additions[0].ID) != 16 {
		t.Errorf("ID %q, want 16 characters", contact.Additions[0].ID)
	}
}

// A late end begins an addition with the event that had been merged, on that
// event's day and code.
func TestTakeCountsWhatWasMerged(t *testing.T) {
	full := heard{90_000, quota.Added, "t"} // the day after
	contact, _ := take(half(1), full, ended(2))
	got := contact.Additions[1]
	if got.Code != "code-t" || got.Day != "20261201" || !got.At.Equal(full.entry().At) {
		t.Errorf("the second addition is %+v, want the full one's", got)
	}
}

// Two pairs share nothing, not even the names of their additions.
func TestTakeOfTwoCustomers(t *testing.T) {
	ids := map[string]quota.Pair{}
	pairs := []quota.Pair{
		liNa,
		{Tenant: "acme", Staff: "li.na", Customer: "wm-2"},
		{Tenant: "acme", Staff: "wang", Customer: "wm-1"},
		{Tenant: "globex", Staff: "li.na", Customer: "wm-1"},
		{Tenant: "acme", Staff: "li.na wm-1", Customer: ""},
		{Tenant: "acme li.na", Staff: "", Customer: "wm-1"},
	}
	for _, pair := range pairs {
		contact, judgement := quota.Contact{}.Take(pair, full(1).entry(), noon, time.UTC)
		if judgement != quota.Counted || len(contact.Additions) != 1 {
			t.Fatalf("%v: %s, %+v", pair, judgement, contact.Additions)
		}
		if other, taken := ids[contact.Additions[0].ID]; taken {
			t.Errorf("%v and %v have an addition of one name", pair, other)
		}
		ids[contact.Additions[0].ID] = pair
	}
}

func TestTakeLeavesItsArgumentAlone(t *testing.T) {
	before, _ := take(half(1), full(3))
	again, _ := take(half(1), full(3))
	before.Take(liNa, ended(2).entry(), noon, time.UTC)
	before.Take(liNa, full(2).entry(), noon, time.UTC)
	if diff := gocmp.Diff(again, before); diff != "" {
		t.Errorf("the contact was changed (-want +got):\n%s", diff)
	}
}

// Of a pair that meets again and again the last events are kept, and every
// meeting counts once.
func TestTakeManyEvents(t *testing.T) {
	tests := map[string][]heard{
		"with ends":          {half(0), full(1), ended(2)},
		"without ends":       {half(0), full(1)},
		"halves apart":       {half(0)},
		"the full one first": {full(1), half(0)},
		"a double end":       {full(0), ended(1), left(1)},
	}
	for name, cycle := range tests {
		t.Run(name, func(t *testing.T) {
			var contact quota.Contact
			for meeting := range 40 {
				for _, event := range cycle {
					event.second += meeting * 10
					for range 2 {
						contact, _ = contact.Take(liNa, event.entry(), noon, time.UTC)
					}
				}
				if len(contact.Additions) != meeting+1 {
					t.Fatalf("%d additions after %d meetings", len(contact.Additions), meeting+1)
				}
			}
			if n := len(contact.Entries); n < 31 || n > 32 {
				t.Errorf("%d events kept, want 31 or 32", n)
			}
			for _, event := range cycle { // of the first meeting
				if _, judgement := contact.Take(liNa, event.entry(), noon, time.UTC); judgement != quota.Repeated {
					t.Errorf("%s of long ago was %s", event.change, judgement)
				}
			}
			wantDistinct(t, contact)
		})
	}
}

// TestTakeInAnyOrder is the property that the counting rests on: how many
// additions there are depends on the set of events alone.
func TestTakeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 1, 14).Draw(t, "events")
		want := meetings(events)
		for _, name := range []string{"an order", "another order"} {
			contact, judged := take(shuffled(t, name, events)...)
			if len(contact.Additions) != want {
				t.Fatalf("%d additions of a set of %d: %+v", len(contact.Additions), want, contact)
			}
			if repeated := count(judged, quota.Repeated); len(contact.Entries) != len(judged)-repeated {
				t.Fatalf("%d events kept of %d, %d repeated", len(contact.Entries), len(judged), repeated)
			}
			wantDistinct(t, contact)
		}
	})
}

func drawEvent(t *rapid.T) heard {
	event := heard{
		second: rapid.IntRange(0, 8).Draw(t, "second"),
		change: rapid.SampledFrom([]quota.Change{
			quota.Added, quota.HalfAdded, quota.HalfAdded, quota.Deleted, quota.Unfollowed,
		}).Draw(t, "change"),
	}
	if event.change == quota.Added || event.change == quota.HalfAdded {
		event.state = rapid.SampledFrom([]string{"s", "s", "t"}).Draw(t, "state")
	}
	return event
}

// shuffled is the events in some order, some of them two or three times.
func shuffled(t *rapid.T, name string, events []heard) []heard {
	var all []heard
	for _, event := range events {
		all = append(all, slices.Repeat([]heard{event}, rapid.IntRange(1, 3).Draw(t, name+": times"))...)
	}
	return rapid.Permutation(all).Draw(t, name)
}

// meetings is the reference: between two ends there are as many additions as
// full or half ones, whichever are more.
func meetings(events []heard) int {
	set := slices.Clone(events)
	slices.SortFunc(set, func(a, b heard) int {
		return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.change, b.change), cmp.Compare(a.state, b.state))
	})
	var all, fulls, halves int
	for _, event := range slices.Compact(set) {
		switch event.change {
		case quota.Added:
			fulls++
		case quota.HalfAdded:
			halves++
		case quota.Deleted, quota.Unfollowed:
			all += max(fulls, halves)
			fulls, halves = 0, 0
		}
	}
	return all + max(fulls, halves)
}

func count[T comparable](all []T, one T) int {
	n := 0
	for _, each := range all {
		if each == one {
			n++
		}
	}
	return n
}

type fataler interface{ Fatalf(string, ...any) }

// wantDistinct fails unless every addition has a name of its own.
func wantDistinct(t fataler, contact quota.Contact) {
	seen := map[string]roster.Day{}
	for _, addition := range contact.Additions {
		if _, taken := seen[addition.ID]; taken {
			t.Fatalf("two additions are named %s: %s", addition.ID, fmt.Sprint(contact.Additions))
		}
		seen[addition.ID] = addition.Day
	}
}
