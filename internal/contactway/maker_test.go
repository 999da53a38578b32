package contactway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestCreate(t *testing.T) {
	w := newWorld()
	m := w.maker()
	for range 2 { // the second asks for what is there
		configID, qrCode, err := m.Create(t.Context(), acme)
		if configID != "cfg-001" || qrCode != "https://qr.example/cfg-001" || err != nil {
			t.Fatalf("Create = %q, %q, %v", configID, qrCode, err)
		}
	}
	w.wantOne(t)
	way := w.ours()[0]
	if way.Kind != contactway.Multi || way.State != "booth-7" {
		t.Errorf("made as %+v; want one of several with the code's state", way)
	}
	if diff := cmp.Diff([]string{"amy", "bob"}, w.vendor.Users(way.ConfigID)); diff != "" {
		t.Errorf("first list (-want +got):\n%s", diff)
	}
	if n := w.vendor.Calls("add"); n != 1 || w.vendor.Calls("list") != 0 {
		t.Errorf("%d adds and %d listings; want one call in all", n, w.vendor.Calls("list"))
	}
}

// Whoever asked may go away: what was begun is brought to its end.
func TestCreateForSomebodyWhoLeaves(t *testing.T) {
	w := newWorld()
	ctx, leave := context.WithCancel(t.Context())
	var broken []string
	m := w.process(&process{before: func(op string) {
		if op == "vendor.add" {
			leave()
		}
	}, with: func(ctx context.Context, op string) {
		if ctx.Err() != nil {
			broken = append(broken, op)
		}
	}})
	if _, _, err := m.Create(ctx, acme); err != nil || len(broken) > 0 {
		t.Errorf("Create = %v, broken off at %v", err, broken)
	}
	w.wantOne(t)
}

// WeCom takes no empty list, and a code may be made at night.
func TestFirstList(t *testing.T) {
	resigned := roster.Staff{ID: "amy", Resigned: true}
	away := func(id string) roster.Staff { return roster.Staff{ID: id, Presence: roster.OfflineNow} }
	check := func(f *roster.Facts) { f.Code.Switches.OfflineCheck = true }
	for _, tc := range []struct {
		name   string
		change func(*roster.Facts)
		want   []string
	}{
		{"whom the facts ask for", func(f *roster.Facts) { check(f); f.Staff["amy"] = away("amy") }, []string{"bob"}},
		{"all off duty", func(f *roster.Facts) { check(f); f.Staff["amy"], f.Staff["bob"] = away("amy"), away("bob") }, []string{"amy", "bob"}},
		{"one off duty, one resigned", func(f *roster.Facts) { check(f); f.Staff["amy"], f.Staff["bob"] = resigned, away("bob") }, []string{"bob"}},
		{"nobody", func(f *roster.Facts) { f.Staff = map[string]roster.Staff{"amy": resigned} }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld()
			w.store.PutFacts(facts(tc.change))
			configID, _, err := w.maker().Create(t.Context(), acme)
			if len(tc.want) == 0 {
				wantRefused(t, err, reason.NobodyLeft)
				if w.vendor.Calls("add") != 0 || len(w.store.Rows()) != 0 {
					t.Error("WeCom was asked for an empty list")
				}
				return
			}
			if diff := cmp.Diff(tc.want, w.vendor.Users(configID)); diff != "" || err != nil {
				t.Errorf("first list: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Refusals are told, and asked again when somebody says that they are put
// right.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		errcode int
		want    reason.Reason
	}{
		{41045, reason.WayCap},
		{60111, reason.BadMember},
		{40003, reason.BadMember},
		{41054, reason.BadMember},
		{40001, reason.Credentials},
		{40058, reason.UnknownError},
	} {
		w := newWorld()
		m := w.maker()
		w.vendor.Refuse = func(contactway.Order) *push.CallError {
			return &push.CallError{Op: "add_contact_way", HTTPStatus: 200, ErrCode: tc.errcode, Message: "no"}
		}
		for range 2 {
			_, _, err := m.Create(t.Context(), acme)
			wantRefused(t, err, tc.want)
		}
		if n := w.vendor.Calls("add"); n != 2 {
			t.Errorf("errcode %d: WeCom was asked %d times; want each time that somebody asks", tc.errcode, n)
		}
		if n, err := m.Sweep(t.Context()); n != 0 || err != nil || w.vendor.Calls("add") != 2 {
			t.Errorf("errcode %d: a sweep that comes at once finished %d, %v", tc.errcode, n, err)
		}
		w.vendor.Refuse = nil
		if _, _, err := m.Create(t.Context(), acme); err != nil {
			t.Errorf("errcode %d: put right: %v", tc.errcode, err)
		}
		w.wantOne(t)
	}
}

// What may pass by itself is tried again without being asked for.
func TestTransientFailuresAreRetried(t *testing.T) {
	for name, refusal := range map[string]*push.CallError{
		"no connection":     {Op: "add_contact_way", Message: "no route"},
		"throttled":         {Op: "add_contact_way", HTTPStatus: 200, ErrCode: 45009},
		"an open breaker":   {Op: "add_contact_way", Class: reason.BreakerOpen},
		"a paced call":      {Op: "add_contact_way", Class: reason.Throttled},
		"a gateway's error": {Op: "add_contact_way", HTTPStatus: 502, Unknown: true},
		"system busy":       {Op: "add_contact_way", HTTPStatus: 200, ErrCode: -1, Unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.vendor.Refuse = func(contactway.Order) *push.CallError { return refusal }
			m := w.maker()
			for range 3 {
				if _, _, err := m.Create(t.Context(), acme); !errors.Is(err, contactway.ErrPending) {
					t.Fatalf("Create = %v, want %v", err, contactway.ErrPending)
				}
			}
			if n := w.vendor.Calls("add"); n != 1 {
				t.Errorf("WeCom was called %d times; want 1 until the wait is over", n)
			}
			w.vendor.Refuse = nil
			w.settle(t)
			w.wantOne(t)
		})
	}
}

// A throttled tenant's other rows wait too: each call would be refused.
func TestSweepSparesAThrottledTenant(t *testing.T) {
	w := newWorld()
	m := w.maker()
	w.vendor.Fate = func(string) waytest.Fate { return waytest.Unsent }
	for _, code := range []string{"a", "b", "c", "d"} {
		w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ID = code }))
		_, _, err := m.Create(t.Context(), push.Ref{Tenant: "acme", Code: code})
		if !errors.Is(err, contactway.ErrPending) {
			t.Fatal(err)
		}
	}
	w.pass(time.Minute)
	before := w.vendor.Calls("add")
	if n, err := m.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if n := w.vendor.Calls("add") - before; n != 1 {
		t.Errorf("%d calls in vain, want 1", n)
	}
	w.vendor.Fate = nil
	w.pass(time.Hour)
	if n, err := m.Sweep(t.Context()); n != 4 || err != nil {
		t.Errorf("Sweep = %d, %v; want all four", n, err)
	}
}

// A code that is deleted, or given a contact way, before its own is made.
func TestNobodyWantsItAnyMore(t *testing.T) {
	for name, change := range map[string]func(*world){
		"removed":     func(w *world) { w.store.DeleteCode(acme) },
		"deleted":     func(w *world) { w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.Deleted = true })) },
		"has another": func(w *world) { w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ConfigID = "other" })) },
	} {
		for fate, made := range map[waytest.Fate]string{waytest.Unsent: "not made", waytest.Lost: "lost", waytest.Unheard: "made unheard"} {
			t.Run(name+", "+made, func(t *testing.T) {
				w := newWorld()
				w.vendor.Fate = once("add", fate)
				if _, _, err := w.maker().Create(t.Context(), acme); !errors.Is(err, contactway.ErrPending) {
					t.Fatal(err)
				}
				change(w)
				w.settle(t)
				if len(w.ours()) != 0 || len(w.store.Rows()) != 0 {
					t.Errorf("left at WeCom: %+v; rows: %+v", w.ours(), w.store.Rows())
				}
			})
		}
	}
}

func TestMemberWay(t *testing.T) {
	w := newWorld()
	m := w.maker()
	var shown []string
	for _, staff := range []string{"amy", "bob", "amy"} {
		url, err := m.MemberWay(t.Context(), acme, staff)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, url)
	}
	if shown[0] == "" || shown[0] == shown[1] || shown[0] != shown[2] {
		t.Errorf("shown: %q", shown)
	}
	for i, staff := range []string{"amy", "bob"} {
		way := w.ours()[i]
		if way.Kind != contactway.Single || way.State != "booth-7" || !slices.Equal(w.vendor.Users(way.ConfigID), []string{staff}) {
			t.Errorf("%s: made as %+v for %v", staff, way, w.vendor.Users(way.ConfigID))
		}
	}
	w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.State = "booth-8" }))
	if url, err := m.MemberWay(t.Context(), acme, "amy"); url == shown[0] || err != nil {
		t.Errorf("after a change of the state: %q, %v; want a new one", url, err)
	}
	if n := w.vendor.Calls("add"); n != 3 {
		t.Errorf("%d contact ways were made, want 3", n)
	}
}

// A page that is opened a hundred times at once makes one contact way, with the
// calls of one.
func TestMemberWayIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var begun atomic.Int64
		m := w.process(&process{before: func(op string) {
			if op == "rows.insert" {
				begun.Add(1)
				<-time.After(time.Second) // all pages are open by then
			}
		}})
		var pages sync.WaitGroup
		for range 100 {
			pages.Go(func() {
				if url, err := m.MemberWay(t.Context(), acme, "amy"); url != "https://qr.example/cfg-001" || err != nil {
					t.Errorf("MemberWay = %q, %v", url, err)
				}
			})
		}
		pages.Wait()
		if begun.Load() != 1 || len(w.ours()) != 1 {
			t.Errorf("begun %d times, WeCom has %d", begun.Load(), len(w.ours()))
		}
	})
}

// Who waits for another's work learns that it crashed, and the next one works
// again.
func TestMemberWayWhoseMakingPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		begun := make(chan struct{})
		p := &process{}
		p.before = func(op string) {
			if op == "rows.insert" {
				p.before = nil
				close(begun)
				<-time.After(time.Second) // the other page is open by then
				panic("a bug")
			}
		}
		m := w.process(p)
		var pages sync.WaitGroup
		pages.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic did not reach its owner")
				}
			}()
			_, _ = m.MemberWay(t.Context(), acme, "amy")
		})
		<-begun
		pages.Go(func() {
			if url, err := m.MemberWay(t.Context(), acme, "amy"); err == nil {
				t.Errorf("the other page shows %q", url)
			}
		})
		pages.Wait()
		if url, err := m.MemberWay(t.Context(), acme, "amy"); url == "" || err != nil {
			t.Errorf("the next page: %q, %v", url, err)
		}
	})
}

// A refused member is not asked for with every customer, nor by the sweep.
func TestMemberWayRemembersARefusal(t *testing.T) {
	w := newWorld()
	m := w.maker()
	w.vendor.Refuse = func(contactway.Order) *push.CallError {
		return &push.CallError{Op: "add_contact_way", HTTPStatus: 200, ErrCode: 84074}
	}
	for range 5 {
		_, err := m.MemberWay(t.Context(), acme, "amy")
		wantRefused(t, err, reason.BadMember)
	}
	w.pass(9 * time.Hour)
	if n, err := m.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if n := w.vendor.Calls("add"); n != 1 {
		t.Errorf("WeCom was asked %d times, want once", n)
	}
	w.vendor.Refuse = nil
	if url, err := m.MemberWay(t.Context(), acme, "amy"); url == "" || err != nil {
		t.Errorf("after the refusal's time: %q, %v", url, err)
	}
}

// A way that another process makes at the moment is waited for.
func TestMemberWayOfAnotherProcess(t *testing.T) {
	w := newWorld()
	first, second := w.maker(), w.maker()
	var other sync.WaitGroup
	w.vendor.Fate = func(op string) waytest.Fate {
		if op == "add" {
			other.Go(func() {
				if url, err := second.MemberWay(t.Context(), acme, "amy"); err == nil && url != "https://qr.example/cfg-001" {
					t.Errorf("the other process shows %q, %v", url, err)
				}
			})
		}
		return waytest.Answered
	}
	if url, err := first.MemberWay(t.Context(), acme, "amy"); url == "" || err != nil {
		t.Errorf("MemberWay = %q, %v", url, err)
	}
	other.Wait()
	if len(w.ours()) != 1 {
		t.Errorf("WeCom has %+v", w.ours())
	}
}

func TestAdopt(t *testing.T) {
	const id = "cfg-x"
	way := contactway.Way{ConfigID: id, QRCode: "https://qr.example/x", Kind: contactway.Multi, State: "theirs"}
	single := way
	single.Kind = contactway.Single
	for _, tc := range []struct {
		name  string
		world func(*world)
		want  reason.Reason // "": adopted
		state string
	}{
		{"one that is there", func(w *world) { w.vendor.Put(way) }, "", "booth-7"},
		{"by a code without a state", func(w *world) {
			w.vendor.Put(way)
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.State = "" }))
		}, "", "theirs"},
		{"by a code that has it, unseen", func(w *world) {
			w.vendor.Put(way)
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ConfigID = id }))
		}, "", "booth-7"},
		{"one that is not there", func(*world) {}, reason.Gone, ""},
		{"one of a single member", func(w *world) { w.vendor.Put(single) }, reason.WayUnfit, ""},
		{"one that another code has", func(w *world) {
			w.vendor.Put(way)
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ID, f.Code.ConfigID = "other", id }))
		}, reason.WayTaken, ""},
		{"by a code that has another", func(w *world) {
			w.vendor.Put(way)
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ConfigID = "own" }))
		}, reason.WayTaken, ""},
		{"by a deleted code", func(w *world) {
			w.vendor.Put(way)
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.Deleted = true }))
		}, reason.WayTaken, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld()
			tc.world(w)
			held, err := w.maker().Adopt(t.Context(), acme, id)
			if tc.want != "" {
				wantRefused(t, err, tc.want)
				return
			}
			if diff := cmp.Diff(contactway.Held{ConfigID: id, QRCode: way.QRCode}, held); diff != "" || err != nil {
				t.Errorf("Adopt: %v (-want +got):\n%s", err, diff)
			}
			facts, err := w.store.Facts(t.Context(), acme)
			if facts.Code.ConfigID != id || facts.Code.State != tc.state || err != nil {
				t.Errorf("the code has %q and the state %q, %v", facts.Code.ConfigID, facts.Code.State, err)
			}
		})
	}
}

func TestAdoptWhileWeComIsAway(t *testing.T) {
	w := newWorld()
	w.vendor.Fate = func(string) waytest.Fate { return waytest.Unsent }
	_, err := w.maker().Adopt(t.Context(), acme, "cfg-x")
	if _, isRefused := errors.AsType[*contactway.RefusedError](err); isRefused || err == nil {
		t.Errorf("%v; want a failure that may pass", err)
	}
}

func TestUnknownCode(t *testing.T) {
	w := newWorld()
	none := push.Ref{Tenant: "globex", Code: "booth"}
	m := w.maker()
	_, _, createErr := m.Create(t.Context(), none)
	_, wayErr := m.MemberWay(t.Context(), none, "amy")
	_, adoptErr := m.Adopt(t.Context(), none, "cfg")
	for what, err := range map[string]error{"Create": createErr, "MemberWay": wayErr, "Adopt": adoptErr} {
		if !errors.Is(err, push.ErrUnknownCode) {
			t.Errorf("%s = %v, want %v", what, err, push.ErrUnknownCode)
		}
	}
	if len(w.store.Rows()) != 0 {
		t.Errorf("rows: %+v", w.store.Rows())
	}
}

// WeCom takes 30 characters as a remark, and one marker is never another's.
func TestMarkers(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		w := newWorld()
		if _, _, err := w.maker().Create(t.Context(), acme); err != nil {
			t.Fatal(err)
		}
		marker := w.ours()[0].Remark
		if utf8.RuneCountInString(marker) != 30 || !strings.HasPrefix(marker, "rollcall:") || seen[marker] {
			t.Fatalf("marker %q", marker)
		}
		seen[marker] = true
	}
}

// once lets the first call of an operation end as told.
func once(op string, fate waytest.Fate) func(string) waytest.Fate {
	var mu sync.Mutex
	spent := false
	return func(called string) waytest.Fate {
		mu.Lock()
		defer mu.Unlock()
		if called != op || spent {
			return waytest.Answered
		}
		spent = true
		return fate
	}
}

func wantRefused(t *testing.T, err error, why reason.Reason) {
	t.Helper()
	refusal, ok := errors.AsType[*contactway.RefusedError](err)
	if !ok || refusal.Why != why || refusal.Detail == "" {
		t.Errorf("%v; want a refusal for %s", err, why)
	}
}
