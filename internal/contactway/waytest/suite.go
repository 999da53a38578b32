package waytest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Bench is an empty store with a way to put facts into it.
type Bench struct {
	Rows     contactway.Rows
	Codes    contactway.Codes
	PutFacts func(roster.Facts)
}

// TestStore checks that a store is what contactway.Rows and contactway.Codes
// say. open returns an empty one for each test.
func TestStore(t *testing.T, open func(*testing.T) Bench) {
	for name, check := range map[string]func(*testing.T, Bench){
		"a row is stored whole, once":              wholeRow,
		"a row that changed is not replaced":       replaceIsConditional,
		"a row that changed is not removed":        removeIsConditional,
		"of many who replace a row one does":       oneReplaces,
		"every key has its own row":                keysAreApart,
		"what is due":                              dueRows,
		"a code takes one contact way":             giveOnce,
		"a code takes over a state if it has none": giveState,
		"a code of another tenant is not there":    codesAreScoped,
	} {
		t.Run(name, func(t *testing.T) { check(t, open(t)) })
	}
}

// at is an instant without the parts of a millisecond, which stores drop.
var at = time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)

func rowOf(code string) contactway.Row {
	return contactway.Row{
		Key:   contactway.Key{Ref: push.Ref{Tenant: "acme", Code: code}},
		Phase: contactway.Adding, Marker: "rollcall:" + code, Owner: "p1", NotBefore: at,
		Window: contactway.Window{From: at.Add(-time.Minute), To: at},
	}
}

func wholeRow(t *testing.T, b Bench) {
	row := rowOf("c")
	row.ConfigID, row.QRCode, row.Spare = "cfg", "https://qr.example", []string{"s1", "s2"}
	row.Failures, row.Why, row.Detail = 3, reason.BadMember, "errcode 60111"
	mustInsert(t, b, row)
	row.Version = 1
	wantRow(t, b, row)
	if inserted, err := b.Rows.Insert(t.Context(), rowOf("c")); inserted || err != nil {
		t.Errorf("a second insert: %v, %v", inserted, err)
	}
	next := rowOf("c")
	next.Version, next.Phase, next.Window = 1, contactway.Wanted, contactway.Window{}
	if replaced, err := b.Rows.Replace(t.Context(), next); !replaced || err != nil {
		t.Fatalf("replace: %v, %v", replaced, err)
	}
	next.Version = 2
	wantRow(t, b, next)
}

func replaceIsConditional(t *testing.T, b Bench) {
	mustInsert(t, b, rowOf("c"))
	for name, change := range map[string]func(*contactway.Row){
		"an older version": func(r *contactway.Row) { r.Version = 0 },
		"a later version":  func(r *contactway.Row) { r.Version = 2 },
		"another marker":   func(r *contactway.Row) { r.Version, r.Marker = 1, "rollcall:x" },
		"no such row":      func(r *contactway.Row) { r.Version, r.Code = 1, "d" },
	} {
		row := rowOf("c")
		change(&row)
		if replaced, err := b.Rows.Replace(t.Context(), row); replaced || err != nil {
			t.Errorf("%s: %v, %v", name, replaced, err)
		}
	}
	want := rowOf("c")
	want.Version = 1
	wantRow(t, b, want)
}

func removeIsConditional(t *testing.T, b Bench) {
	mustInsert(t, b, rowOf("c"))
	row := rowOf("c")
	row.Version = 7
	if removed, err := b.Rows.Remove(t.Context(), row); removed || err != nil {
		t.Errorf("another version: %v, %v", removed, err)
	}
	row.Version = 1
	if removed, err := b.Rows.Remove(t.Context(), row); !removed || err != nil {
		t.Errorf("remove: %v, %v", removed, err)
	}
	if _, found, err := b.Rows.Get(t.Context(), row.Key); found || err != nil {
		t.Errorf("after removal: %v, %v", found, err)
	}
	mustInsert(t, b, rowOf("c"))
}

func oneReplaces(t *testing.T, b Bench) {
	mustInsert(t, b, rowOf("c"))
	var racers sync.WaitGroup
	var won atomic.Int64
	for i := range 16 {
		racers.Go(func() {
			row := rowOf("c")
			row.Version, row.Owner = 1, fmt.Sprint(i)
			replaced, err := b.Rows.Replace(t.Context(), row)
			if err != nil {
				t.Errorf("replace: %v", err)
			}
			if replaced {
				won.Add(1)
			}
		})
	}
	racers.Wait()
	if won.Load() != 1 {
		t.Errorf("%d replaced the row, want 1", won.Load())
	}
}

func keysAreApart(t *testing.T, b Bench) {
	ref := push.Ref{Tenant: "acme", Code: "c"}
	keys := []contactway.Key{
		{Ref: ref},
		{Ref: push.Ref{Tenant: "globex", Code: "c"}},
		{Ref: ref, Staff: "zhang.san@corp", Variant: "v1"},
		{Ref: ref, Staff: "zhang.san@corp", Variant: "v2"},
		{Ref: ref, Staff: "$a/b", Variant: "v1"},
		{Ref: ref, Staff: "b", Variant: "v1"},
	}
	for i, key := range keys {
		row := rowOf("c")
		row.Key, row.Marker = key, fmt.Sprint("rollcall:", i)
		mustInsert(t, b, row)
	}
	for i, key := range keys {
		row := rowOf("c")
		row.Key, row.Marker, row.Version = key, fmt.Sprint("rollcall:", i), 1
		wantRow(t, b, row)
	}
}

func dueRows(t *testing.T, b Bench) {
	put := func(code, tenant, staff string, phase contactway.Phase, notBefore time.Time) {
		row := rowOf(code)
		row.Tenant, row.Staff, row.Phase, row.NotBefore = tenant, staff, phase, notBefore
		mustInsert(t, b, row)
	}
	put("late", "acme", "", contactway.Wanted, at.Add(time.Millisecond))
	put("now", "acme", "", contactway.Adding, at)
	put("long", "acme", "", contactway.Made, at.Add(-time.Hour))
	put("code", "acme", "", contactway.Refused, at.Add(-time.Minute))
	put("done", "acme", "amy", contactway.Done, at.Add(-time.Hour))
	put("member", "acme", "amy", contactway.Refused, at.Add(-time.Hour))
	put("other", "globex", "", contactway.Wanted, at.Add(-time.Hour))
	put("later", "initech", "", contactway.Wanted, at.Add(time.Hour))
	tenants, err := b.Rows.DueTenants(t.Context(), at)
	if diff := cmp.Diff([]string{"acme", "globex"}, tenants); diff != "" || err != nil {
		t.Errorf("tenants: %v (-want +got):\n%s", err, diff)
	}
	for limit, want := range map[int][]string{9: {"long", "code", "now"}, 2: {"long", "code"}} {
		rows, err := b.Rows.Due(t.Context(), "acme", at, limit)
		var codes []string
		for _, row := range rows {
			codes = append(codes, row.Code)
		}
		if diff := cmp.Diff(want, codes); diff != "" || err != nil {
			t.Errorf("at most %d: %v (-want +got):\n%s", limit, err, diff)
		}
	}
	rows, err := b.Rows.Due(t.Context(), "acme", at.Add(-time.Hour), 9)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows due, %v", len(rows), err)
	}
	want := rowOf("long")
	want.Version, want.Phase, want.NotBefore = 1, contactway.Made, at.Add(-time.Hour)
	if diff := cmp.Diff(want, rows[0]); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func codeOf(id string) roster.Facts {
	return roster.Facts{
		Tenant: roster.Tenant{ID: "acme"},
		Code:   roster.Code{ID: id, Tenant: "acme", Family: roster.Native, Members: []roster.Member{{Staff: "amy"}}},
		Staff:  map[string]roster.Staff{"amy": {ID: "amy"}},
	}
}

func giveOnce(t *testing.T, b Bench) {
	gone := codeOf("gone")
	gone.Code.Deleted = true
	b.PutFacts(codeOf("c"))
	b.PutFacts(gone)
	ref := func(code string) push.Ref { return push.Ref{Tenant: "acme", Code: code} }
	first := contactway.Way{ConfigID: "cfg-1", QRCode: "https://qr.example/1", Kind: contactway.Multi}
	second := contactway.Way{ConfigID: "cfg-2", QRCode: "https://qr.example/2", Kind: contactway.Multi}
	for _, step := range []struct {
		name string
		ref  push.Ref
		way  contactway.Way
		want bool
	}{
		{"to one without", ref("c"), first, true},
		{"the same again", ref("c"), first, true},
		{"another", ref("c"), second, false},
		{"to a deleted code", ref("gone"), second, false},
		{"to a code that is not there", ref("none"), second, false},
		{"to another tenant's code", push.Ref{Tenant: "globex", Code: "c"}, first, false},
	} {
		if given, err := b.Codes.Give(t.Context(), step.ref, step.way); given != step.want || err != nil {
			t.Errorf("%s: %v, %v; want %v", step.name, given, err, step.want)
		}
	}
	held, err := b.Codes.Held(t.Context(), ref("c"))
	want := contactway.Held{ConfigID: first.ConfigID, QRCode: first.QRCode}
	if diff := cmp.Diff(want, held); diff != "" || err != nil {
		t.Errorf("held: %v (-want +got):\n%s", err, diff)
	}
	facts, err := b.Codes.Facts(t.Context(), ref("c"))
	if err != nil || facts.Code.ConfigID != "cfg-1" {
		t.Errorf("the facts say %q, %v", facts.Code.ConfigID, err)
	}
	for configID, want := range map[string]string{"cfg-1": "c", "cfg-2": ""} {
		if code, err := b.Codes.HolderOf(t.Context(), "acme", configID); code != want || err != nil {
			t.Errorf("holder of %s: %q, %v; want %q", configID, code, err, want)
		}
	}
}

func giveState(t *testing.T, b Bench) {
	own := codeOf("own")
	own.Code.State = "mine"
	b.PutFacts(own)
	b.PutFacts(codeOf("none"))
	for code, want := range map[string]string{"own": "mine", "none": "theirs"} {
		ref := push.Ref{Tenant: "acme", Code: code}
		way := contactway.Way{ConfigID: "cfg-" + code, State: "theirs"}
		if given, err := b.Codes.Give(t.Context(), ref, way); !given || err != nil {
			t.Fatalf("give: %v, %v", given, err)
		}
		facts, err := b.Codes.Facts(t.Context(), ref)
		if facts.Code.State != want || err != nil {
			t.Errorf("%s has the state %q, %v; want %q", code, facts.Code.State, err, want)
		}
	}
}

func codesAreScoped(t *testing.T, b Bench) {
	b.PutFacts(codeOf("c"))
	if given, err := b.Codes.Give(t.Context(), push.Ref{Tenant: "acme", Code: "c"}, contactway.Way{ConfigID: "cfg"}); !given || err != nil {
		t.Fatalf("give: %v, %v", given, err)
	}
	for _, ref := range []push.Ref{{Tenant: "globex", Code: "c"}, {Tenant: "acme", Code: "d"}} {
		if held, err := b.Codes.Held(t.Context(), ref); !errors.Is(err, push.ErrUnknownCode) {
			t.Errorf("held by %v: %v, %v; want %v", ref, held, err, push.ErrUnknownCode)
		}
	}
	if code, err := b.Codes.HolderOf(t.Context(), "globex", "cfg"); code != "" || err != nil {
		t.Errorf("another tenant learns of %q, %v", code, err)
	}
}

func mustInsert(t *testing.T, b Bench, row contactway.Row) {
	t.Helper()
	if inserted, err := b.Rows.Insert(t.Context(), row); !inserted || err != nil {
		t.Fatalf("insert: %v, %v", inserted, err)
	}
}

func wantRow(t *testing.T, b Bench, want contactway.Row) {
	t.Helper()
	got, found, err := b.Rows.Get(t.Context(), want.Key)
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Errorf("row: %v, %v (-want +got):\n%s", found, err, diff)
	}
}
