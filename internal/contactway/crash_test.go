package contactway_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
)

var fates = map[waytest.Fate]string{
	waytest.Answered: "answered", waytest.Unsent: "unsent", waytest.Lost: "lost", waytest.Unheard: "unheard",
}

// A process dies at each of its operations in turn, before and after the
// operation took effect, with each fate of the call that makes the contact way.
// Then others go on, and whoever asked asks again.
func TestDeathAtEveryStep(t *testing.T) {
	for fate, name := range fates {
		for step := 1; ; step++ {
			died := false
			for _, applied := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, step %d, applied %v", name, step, applied), func(t *testing.T) {
					w := newWorld()
					w.vendor.Fate = once("add", fate)
					p := &process{dieAt: step, applied: applied}
					m := w.process(p)
					_, _, err := m.Create(t.Context(), acme)
					if err != nil && !errors.Is(err, errDead) && !errors.Is(err, contactway.ErrPending) {
						t.Errorf("Create = %v", err)
					}
					died = p.dead
					w.vendor.Fate = nil
					w.settle(t)
					w.create(t)
					w.wantOne(t)
				})
			}
			if !died {
				break // it got to its end alive: every step was tried
			}
		}
	}
}

// The same, where the process that dies is the one that takes over.
func TestDeathWhileTakingOver(t *testing.T) {
	for fate, name := range fates {
		for step := 1; ; step++ {
			died := false
			for _, applied := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, step %d, applied %v", name, step, applied), func(t *testing.T) {
					w := newWorld()
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
					p := &process{dieAt: step, applied: applied}
					if _, err := w.process(p).Sweep(t.Context()); err != nil && !errors.Is(err, errDead) {
						t.Errorf("Sweep = %v", err)
					}
					died = p.dead
					w.vendor.Fate = nil
					w.settle(t)
					w.create(t)
					w.wantOne(t)
				})
			}
			if !died {
				break
			}
		}
	}
}

func TestDeathWhileMakingAMembersWay(t *testing.T) {
	for fate, name := range fates {
		for step := 1; ; step++ {
			died := false
			for _, applied := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, step %d, applied %v", name, step, applied), func(t *testing.T) {
					w := newWorld()
					w.vendor.Fate = once("add", fate)
					p := &process{dieAt: step, applied: applied}
					_, _ = w.process(p).MemberWay(t.Context(), acme, "amy")
					died = p.dead
					w.vendor.Fate = nil
					w.settle(t)
					url, err := w.maker().MemberWay(t.Context(), acme, "amy")
					ways := w.ours()
					if err != nil || len(ways) != 1 || ways[0].QRCode != url {
						t.Errorf("shown is %q, %v; WeCom has %+v", url, err, ways)
					}
				})
			}
			if !died {
				break
			}
		}
	}
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
