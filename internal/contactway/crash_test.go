package contactway_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var fates = map[waytest.Fate]string{
	waytest.Answered: "answered", waytest.Unsent: "unsent", waytest.Lost: "lost", waytest.Unheard: "unheard",
}

// everyDeath tries a process that dies at each of its operations in turn, before
// and after the operation took effect, with each fate of the call that makes the
// contact way.
func everyDeath(t *testing.T, try func(t *testing.T, w *world, p *process, fate waytest.Fate)) {
	for fate, name := range fates {
		for step := 1; ; step++ {
			died := false
			for _, applied := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, step %d, applied %v", name, step, applied), func(t *testing.T) {
					p := &process{dieAt: step, applied: applied}
					try(t, newWorld(), p, fate)
					died = p.dead
				})
			}
			if !died {
				break // it got to its end alive: every step was tried
			}
		}
	}
}

// A process dies while it makes a code's contact way. Then others go on, and
// whoever asked asks again.
func TestDeathAtEveryStep(t *testing.T) {
	everyDeath(t, func(t *testing.T, w *world, p *process, fate waytest.Fate) {
		w.vendor.Fate = once("add", fate)
		_, _, err := w.process(p).Create(t.Context(), acme)
		if err != nil && !errors.Is(err, errDead) && !errors.Is(err, contactway.ErrPending) {
			t.Errorf("Create = %v", err)
		}
		w.vendor.Fate = nil
		w.settle(t)
		w.create(t)
		w.wantOne(t)
	})
}

// The same, where the process that dies is the one that takes over.
func TestDeathWhileTakingOver(t *testing.T) {
	everyDeath(t, func(t *testing.T, w *world, p *process, fate waytest.Fate) {
		w.vendor.Fate = once("add", waytest.Unheard)
		first := &process{}
		first.before = func(op string) {
			if op == "vendor.add" {
				first.dieAt, first.applied = first.done+1, false // its answer finds nobody
			}
		}
		_, _, _ = w.process(first).Create(t.Context(), acme)
		w.vendor.Fate = once("add", fate)
		w.pass(time.Hour)
		if _, err := w.process(p).Sweep(t.Context()); err != nil && !errors.Is(err, errDead) {
			t.Errorf("Sweep = %v", err)
		}
		w.vendor.Fate = nil
		w.settle(t)
		w.create(t)
		w.wantOne(t)
	})
}

func TestDeathWhileMakingAMembersWay(t *testing.T) {
	everyDeath(t, func(t *testing.T, w *world, p *process, fate waytest.Fate) {
		w.vendor.Fate = once("add", fate)
		_, _ = w.process(p).MemberWay(t.Context(), acme, "amy")
		w.vendor.Fate = nil
		w.settle(t)
		url, err := w.maker().MemberWay(t.Context(), acme, "amy")
		ways := w.ours()
		if err != nil || len(ways) != 1 || ways[0].QRCode != url {
			t.Errorf("shown is %q, %v; WeCom has %+v", url, err, ways)
		}
	})
}

// A process that sleeps through its own time loses its row, and nobody ends up
// with two contact ways.
func TestASleeperIsOvertaken(t *testing.T) {
	for _, at := range []string{"vendor.add", "after vendor.add", "codes.give", "rows.replace"} {
		t.Run(at, func(t *testing.T) {
			w := newWorld()
			slept := false
			sleep := func() {
				if slept {
					return
				}
				slept = true
				w.pass(time.Hour)
				if _, err := w.maker().Sweep(t.Context()); err != nil {
					t.Errorf("Sweep: %v", err)
				}
				w.pass(time.Hour)
			}
			p := &process{}
			added := false
			p.before = func(op string) {
				if op == at || (added && at == "after vendor.add") {
					sleep()
				}
				added = added || op == "vendor.add"
			}
			configID, _, err := w.process(p).Create(t.Context(), acme)
			if err != nil && !errors.Is(err, contactway.ErrPending) {
				t.Errorf("Create = %v", err)
			}
			w.settle(t)
			held := w.create(t)
			w.wantOne(t)
			if err == nil && configID != held.ConfigID {
				t.Errorf("it was told %s, the code has %s", configID, held.ConfigID)
			}
		})
	}
}

// WeCom may take a call long after its margin, when the process that looks for
// it has found nothing and made another. Then the one who gets the late answer
// deletes what he made.
func TestALateCallIsUndone(t *testing.T) {
	for _, key := range []string{"code", "member"} {
		t.Run(key, func(t *testing.T) {
			w := newWorld()
			ask := func() error {
				if key == "member" {
					_, err := w.maker().MemberWay(t.Context(), acme, "amy")
					return err
				}
				_, _, err := w.maker().Create(t.Context(), acme)
				return err
			}
			late := false
			w.vendor.Refuse = func(contactway.Order) *push.CallError {
				if !late {
					late = true
					w.pass(time.Hour)
					w.settle(t)
				}
				return nil
			}
			if err := ask(); err != nil {
				t.Errorf("the late one: %v; want what the code has", err)
			}
			if ways := w.ours(); len(ways) != 1 || w.events[contactway.EventSpare] != 1 {
				t.Errorf("WeCom has %+v", ways)
			}
			if key == "code" {
				w.wantOne(t)
			}
		})
	}
}

// Of several contact ways with a row's marker one is taken.
func TestSparesAreDeleted(t *testing.T) {
	w := newWorld()
	w.vendor.Fate = once("add", waytest.Unheard)
	if _, _, err := w.maker().Create(t.Context(), acme); !errors.Is(err, contactway.ErrPending) {
		t.Fatal(err)
	}
	for _, id := range []string{"cfg-000", "cfg-002"} {
		twin := w.ours()[0]
		twin.ConfigID, twin.QRCode = id, "https://qr.example/"+id
		w.vendor.Put(twin)
	}
	w.vendor.Fate = once("delete", waytest.Lost) // the first deletion fails: the sweep goes on with it
	w.settle(t)
	w.wantOne(t)
	if held := w.create(t); held.ConfigID != "cfg-000" {
		t.Errorf("the code has %s; want the same whoever looks", held.ConfigID)
	}
}

// Many rows of one time cost about one look at each contact way, not one for
// each pair.
func TestLookingForManyIsCheap(t *testing.T) {
	const many = 30
	w := newWorld()
	m := w.maker()
	w.vendor.Fate = func(op string) waytest.Fate {
		if op == "add" {
			return waytest.Unheard
		}
		return waytest.Answered
	}
	for i := range many {
		code := fmt.Sprint("c", i)
		w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ID = code }))
		if _, _, err := m.Create(t.Context(), push.Ref{Tenant: "acme", Code: code}); !errors.Is(err, contactway.ErrPending) {
			t.Fatal(err)
		}
	}
	w.pass(time.Hour)
	if n, err := m.Sweep(t.Context()); n != many || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if n := w.vendor.Calls("get"); n > 2*many+len(w.vendor.Ways()) {
		t.Errorf("%d calls for %d contact ways", n, many)
	}
	if len(w.ours()) != many {
		t.Errorf("WeCom has %d contact ways, want %d", len(w.ours()), many)
	}
}

// While one process looks for a contact way no other spends calls on it.
func TestOneLooks(t *testing.T) {
	w := newWorld()
	w.vendor.Fate = once("add", waytest.Unheard)
	if _, _, err := w.maker().Create(t.Context(), acme); !errors.Is(err, contactway.ErrPending) {
		t.Fatal(err)
	}
	w.pass(time.Hour)
	p := &process{}
	p.before = func(op string) {
		if op == "vendor.list" {
			p.before = nil
			if n, err := w.maker().Sweep(t.Context()); n != 0 || err != nil {
				t.Errorf("the other sweep finished %d, %v", n, err)
			}
		}
	}
	if n, err := w.process(p).Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if n := w.vendor.Calls("list"); n != 1 {
		t.Errorf("%d listings, want 1", n)
	}
	w.wantOne(t)
}

// A process that comes late with its own contact way leaves it alone while
// another one, which has found it, is about to give it to the code.
func TestAFoundContactWayIsNotDeleted(t *testing.T) {
	w := newWorld()
	found, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	finder := w.process(&process{before: func(op string) {
		if op == "codes.give" {
			close(found)
			<-goOn
		}
	}})
	late := &process{}
	late.before = func(op string) {
		if op == "rows.replace" {
			late.before = nil
			w.pass(time.Hour)
			go func() {
				defer close(ended)
				if n, err := finder.Sweep(t.Context()); n != 1 || err != nil {
					t.Errorf("Sweep = %d, %v", n, err)
				}
			}()
			<-found
		}
	}
	configID, _, err := w.process(late).Create(t.Context(), acme)
	if configID != "cfg-001" || err != nil {
		t.Errorf("Create = %q, %v", configID, err)
	}
	close(goOn)
	<-ended
	w.wantOne(t)
}

// The code is given its contact way while a process is about to delete it as
// too much.
func TestWhatTheCodeHasIsNotDeleted(t *testing.T) {
	w := newWorld()
	w.store.PutFacts(facts(nil))
	p := &process{}
	given := false
	p.before = func(op string) {
		switch {
		case op == "codes.give":
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ConfigID = "other" }))
			given = true
		case op == "codes.held" && given:
			w.store.PutFacts(facts(func(f *roster.Facts) { f.Code.ConfigID = "cfg-001" }))
		}
	}
	if _, _, err := w.process(p).Create(t.Context(), acme); !errors.Is(err, contactway.ErrPending) {
		t.Errorf("Create = %v, want %v", err, contactway.ErrPending)
	}
	w.pass(time.Hour)
	w.settle(t)
	w.wantOne(t)
}

// create asks once more, as a client does that had no answer, and returns what
// the code has.
func (w *world) create(t *testing.T) contactway.Held {
	t.Helper()
	configID, qrCode, err := w.maker().Create(t.Context(), acme)
	if err != nil {
		t.Errorf("asked again: %v", err)
	}
	w.settle(t)
	return contactway.Held{ConfigID: configID, QRCode: qrCode}
}
