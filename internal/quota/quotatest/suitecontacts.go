package quotatest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func factsTenant(t *testing.T, b Bench) {
	b.seed()
	tenant, err := b.Store.Tenant(t.Context(), "acme")
	if err != nil || tenant.ID != "acme" || tenant.TimeZone != "Asia/Shanghai" || tenant.DailyTotal != 3 {
		t.Errorf("Tenant = %+v, %v", tenant, err)
	}
	if _, err := b.Store.Tenant(t.Context(), "globex"); !errors.Is(err, quota.ErrUnknownTenant) {
		t.Errorf("an unknown tenant = %v, want %v", err, quota.ErrUnknownTenant)
	}
}

func factsCode(t *testing.T, b Bench) {
	b.seed()
	got, err := b.Store.Code(t.Context(), code)
	if err != nil || got.ID != code.Code || got.Tenant != "acme" || len(got.Members) != 3 {
		t.Errorf("Code = %+v, %v", got, err)
	}
	for _, ref := range []push.Ref{{Tenant: "globex", Code: code.Code}, {Tenant: "acme", Code: "code-2"}} {
		got, err := b.Store.Code(t.Context(), ref)
		if err != nil {
			t.Errorf("Code(%v): %v", ref, err)
		}
		suitetest.WantSame(t, "nobody's code", roster.Code{}, got)
	}
}

func factsState(t *testing.T, b Bench) {
	put := func(id, tenant, state string) {
		b.PutCode(roster.Code{ID: id, Tenant: tenant, ConfigID: "cfg", Family: roster.Native, State: state})
	}
	put("own", "acme", "own")
	put("b", "acme", "booth")
	put("a", "acme", "booth")    // of two the lesser
	put("moved", "acme", "hall") // its ID is no state any more
	put("z", "acme", "fair")
	put("fair", "globex", "fair") // the ID is another tenant's
	put("w", "acme", "w")
	put("c", "acme", "w") // of two the one whose ID it is
	tests := map[string]string{
		"own": "own", "booth": "a", "hall": "moved", "fair": "z", "w": "w", "moved": "", "nothing": "", "z": "",
	}
	for state, want := range tests {
		got, found, err := b.Store.CodeWith(t.Context(), "acme", state)
		if got.ID != want || found != (want != "") || err != nil {
			t.Errorf("CodeWith(%q) = %q, %v, %v; want %q", state, got.ID, found, err, want)
		}
		if want == "" {
			suitetest.WantSame(t, "nobody's code", roster.Code{}, got)
		}
	}
}

func contactNew(t *testing.T, b Bench) {
	suitetest.WantSame(t, "contact", quota.Contact{}, b.contact(t, pair))
}

func contactKept(t *testing.T, b Bench) {
	now := b.instant()
	contact := quota.Contact{
		Entries: []quota.Entry{
			{Change: quota.HalfAdded, At: now.Truncate(time.Second), State: "s", Code: code.Code, Counted: true},
			{Change: quota.Added, At: now.Truncate(time.Second), State: "s", Code: code.Code},
			{Change: quota.Deleted, At: now.Truncate(time.Second).Add(time.Second)},
		},
		Additions: []quota.Addition{
			{ID: "x", Code: code.Code, Day: "20261130", At: now.Add(-time.Minute), Since: now, Done: now.Add(time.Second)},
			{ID: "y", Code: "code-2", Day: "20261201", At: now, Since: now},
		},
	}
	stored := b.put(t, pair, contact)
	suitetest.WantSame(t, "contact", stored, b.contact(t, pair))
	stored.Entries, stored.Additions = stored.Entries[1:], nil
	stored = b.put(t, pair, stored)
	suitetest.WantSame(t, "contact", stored, b.contact(t, pair))
}

func contactStale(t *testing.T, b Bench) {
	first := b.put(t, pair, quota.Contact{Additions: []quota.Addition{b.addition("x")}})
	second := b.put(t, pair, first)
	for _, stale := range []int64{0, first.Version, second.Version + 1} {
		suitetest.Refused(t, "Put of a version that is not the last")(
			b.Store.Put(t.Context(), pair, quota.Contact{Version: stale}),
		)
	}
	suitetest.WantSame(t, "contact", second, b.contact(t, pair))
	suitetest.Refused(t, "Put of a version of nothing")(b.Store.Put(t.Context(), customer(2), quota.Contact{Version: 3}))
}

func contactFirst(t *testing.T, b Bench) { b.raceOfPuts(t, quota.Contact{}) }

func contactRace(t *testing.T, b Bench) { b.raceOfPuts(t, b.put(t, pair, quota.Contact{})) }

func (b Bench) raceOfPuts(t *testing.T, seen quota.Contact) {
	t.Helper()
	states := "abcdefghijklmnop"
	winners := suitetest.Race(t, 16, func(i int) (bool, error) {
		next := seen
		next.Entries = []quota.Entry{{Change: quota.Added, At: b.instant(), State: states[i : i+1]}}
		return b.Store.Put(t.Context(), pair, next)
	})
	got := b.contact(t, pair)
	if len(winners) != 1 || got.Version != seen.Version+1 || got.Entries[0].State != states[winners[0]:winners[0]+1] {
		t.Errorf("winners %v; the contact is %+v", winners, got)
	}
}

func contactOpen(t *testing.T, b Bench) {
	now := b.instant()
	open := func(ago time.Duration) quota.Addition { return quota.Addition{ID: "o", Since: now.Add(-ago)} }
	done := func(ago time.Duration) quota.Addition {
		return quota.Addition{ID: "d", Since: now.Add(-ago), Done: now.Add(-ago)}
	}
	b.put(t, customer(1), quota.Contact{Additions: []quota.Addition{open(time.Minute)}})
	b.put(t, customer(2), quota.Contact{Additions: []quota.Addition{done(time.Hour), open(3 * time.Minute), open(time.Second)}})
	b.put(t, customer(3), quota.Contact{Additions: []quota.Addition{done(time.Hour)}})
	b.put(t, customer(4), quota.Contact{Entries: []quota.Entry{{Change: quota.Deleted, At: now}}})
	last := b.put(t, customer(5), quota.Contact{Additions: []quota.Addition{open(2 * time.Minute)}})

	b.wantKnown(t, "open", b.Store.Open, now, 10, 2, 5, 1)
	b.wantKnown(t, "open", b.Store.Open, now, 2, 2, 5)
	b.wantKnown(t, "open", b.Store.Open, now.Add(-2*time.Minute), 10, 2) // not those of that instant
	last.Additions[0].Done = now
	b.put(t, customer(5), last)
	b.wantKnown(t, "open", b.Store.Open, now, 10, 2, 1)
}

func contactDone(t *testing.T, b Bench) {
	now := b.instant()
	done := func(ago time.Duration) quota.Addition {
		return quota.Addition{ID: "d", Since: now.Add(-ago), Done: now.Add(-ago)}
	}
	b.put(t, customer(1), quota.Contact{Additions: []quota.Addition{done(time.Minute)}})
	b.put(t, customer(2), quota.Contact{Additions: []quota.Addition{{ID: "o", Since: now.Add(-time.Hour)}, done(time.Second), done(3 * time.Minute)}})
	b.put(t, customer(3), quota.Contact{Additions: []quota.Addition{{ID: "o", Since: now.Add(-time.Hour)}}})
	last := b.put(t, customer(4), quota.Contact{Additions: []quota.Addition{done(2 * time.Minute)}})

	b.wantKnown(t, "done", b.Store.Done, now, 10, 2, 4, 1)
	b.wantKnown(t, "done", b.Store.Done, now, 1, 2)
	b.wantKnown(t, "done", b.Store.Done, now.Add(-2*time.Minute), 10, 2)
	last.Additions = nil
	b.put(t, customer(4), last)
	b.wantKnown(t, "done", b.Store.Done, now, 10, 2, 1)
}

func contactApart(t *testing.T, b Bench) {
	pairs := []quota.Pair{
		pair,
		{Tenant: "globex", Staff: "li.na", Customer: "wm-1"},
		{Tenant: "acme", Staff: "li", Customer: "wm-1"},
		{Tenant: "acme", Staff: "li.na", Customer: "wm-2"},
		{Tenant: "acme", Staff: "li.na/wm", Customer: "1"},
		{Tenant: "acme", Staff: "li.na", Customer: ""},
	}
	for i, p := range pairs {
		b.put(t, p, quota.Contact{Additions: []quota.Addition{{ID: string(rune('a' + i)), Since: b.instant()}}})
	}
	for i, p := range pairs {
		got := b.contact(t, p)
		if got.Version != 1 || got.Additions[0].ID != string(rune('a'+i)) {
			t.Errorf("contact of %v: %+v", p, got)
		}
	}
	known, err := b.Store.Open(t.Context(), b.instant().Add(time.Minute), 10)
	if err != nil || len(known) != len(pairs) {
		t.Fatalf("Open = %d contacts, %v; want %d", len(known), err, len(pairs))
	}
	for _, k := range known {
		if i := slices.Index(pairs, k.Pair); i < 0 || k.Contact.Additions[0].ID != string(rune('a'+i)) {
			t.Errorf("listed %+v", k)
		}
	}
}

type knownLister func(ctx context.Context, before time.Time, limit int) ([]quota.Known, error)

// wantKnown fails unless a listing holds these customers, in this order, with
// their contacts.
func (b Bench) wantKnown(
	t *testing.T, what string, list knownLister, before time.Time, limit int, customers ...int,
) {
	t.Helper()
	known, err := list(t.Context(), before, limit)
	if err != nil {
		t.Fatalf("list what is %s: %v", what, err)
	}
	var want []quota.Known
	for _, i := range customers {
		want = append(want, quota.Known{Pair: customer(i), Contact: b.contact(t, customer(i))})
	}
	suitetest.WantSame(t, what, want, known)
}
