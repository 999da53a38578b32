package push_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// TestEverySchedulePushesTheFacts runs the protocol over random schedules: up
// to four workers on one code at once, as after a redelivery to a new owner
// while the old one still works; stalls longer than an intent's life, crashes
// at any step, calls that are refused, lost, late, or applied without an
// answer. When every event is acked, WeCom, the rotation set and the record
// have to say what the facts ask for.
func TestEverySchedulePushesTheFacts(t *testing.T) {
	for _, family := range []roster.Family{roster.Native, roster.Sequenced} {
		t.Run(string(family), func(t *testing.T) {
			for seed := range uint64(500) {
				if fault := runSchedule(seed, family, noMutant); fault != "" {
					t.Fatalf("seed %d: %s", seed, fault)
				}
			}
		})
	}
}

// TestEveryStepIsNeeded takes one step out of the protocol at a time, from the
// outside, by a port that lies. Each has to go wrong within the seeds given.
func TestEveryStepIsNeeded(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			for i := range uint64(60_000) {
				if fault := runSchedule(m.seed+i, roster.Native, m.build); fault != "" {
					t.Logf("caught by seed %d: %s", m.seed+i, fault)
					return
				}
			}
			t.Fatal("nothing went wrong without this step: it is not needed, or the schedules are too tame")
		})
	}
}

const (
	callTimeout = 5 * time.Second
	margin      = 3 * time.Second
	tick        = 250 * time.Millisecond
	events      = 5
)

// schedule is one run: a code, its events, and the workers on it.
type schedule struct {
	rnd      *rand.Rand
	clock    *pushtest.Clock
	store    *pushtest.Store
	rotation *pushtest.Rotation
	budget   *pushtest.Budget
	vendor   *pushtest.Vendor
	build    func(push.Ports) push.Ports
	ref      push.Ref
	noKeeper bool
	flips    []string // staff who come and go

	tracing bool
	trace   []string // what happened, for a person
	last    int
	unacked map[int]time.Time // message → when it may be delivered
	workers []*worker
	current *worker
}

// worker is one Refresh as a coroutine: it runs only between resume and parked.
type worker struct {
	message int
	covered []int // messages that its last look at the facts covers
	stalled time.Time
	crashed bool
	ended   bool
	resume  chan struct{}
	parked  chan struct{}
	outcome push.Outcome
}

func runSchedule(seed uint64, family roster.Family, build func(push.Ports) push.Ports) string {
	return newSchedule(seed, family, build).play()
}

// play runs the schedule to its end and returns what went wrong, "" if nothing.
func (s *schedule) play() string {
	defer s.crashAll()
	for range 6000 {
		s.clock.Advance(tick)
		s.vendor.Land()
		s.change()
		s.start()
		s.step()
		if s.last >= events && len(s.unacked) == 0 && len(s.workers) == 0 && s.vendor.OnWire() == 0 && !s.sweep() {
			return s.judge()
		}
	}
	return "does not end"
}

// sweep is the keeper's part: an intent that a worker left behind whose message
// was acked by another makes the code dirty once its call can land no more. It
// reports whether there is one.
func (s *schedule) sweep() bool {
	intents := s.store.Record(s.ref).Intents
	if len(intents) == 0 || s.noKeeper {
		return false
	}
	for _, intent := range intents {
		if s.clock.Now().Before(intent.Deadline.Add(margin)) {
			return true
		}
	}
	s.publish("expired intent")
	return true
}

func (s *schedule) publish(why string) {
	s.last++
	s.unacked[s.last] = s.clock.Now()
	s.note("%s, message %d", why, s.last)
}

func newSchedule(seed uint64, family roster.Family, build func(push.Ports) push.Ports) *schedule {
	clock := pushtest.NewClock(t0)
	s := &schedule{
		rnd: rand.New(rand.NewPCG(seed, 7)), clock: clock, store: pushtest.NewStore(), rotation: pushtest.NewRotation(),
		budget: pushtest.NewBudget(clock), vendor: pushtest.NewVendor(clock), build: build,
		flips: []string{"ann", "bob", "cyd"},
		ref:   push.Ref{Tenant: "acme", Code: "c1"}, unacked: map[int]time.Time{},
	}
	if family.Rotates() {
		s.flips = s.flips[:1] // facts that return to what they were are what tempts a set's writer
	}
	seedFacts(s.store, family)
	s.vendor.AddWay("cfg1")
	s.vendor.Answer = func(push.Call) pushtest.Answer { return s.answer() }
	s.budget.Answer = func(push.Ask) (push.Admission, error) { return s.admit(), nil }
	s.store.Order = func(reads []string) {
		s.rnd.Shuffle(len(reads), func(i, j int) { reads[i], reads[j] = reads[j], reads[i] })
	}
	for _, hooks := range []*pushtest.Hooks{&s.store.Hooks, &s.rotation.Hooks, &s.budget.Hooks, &s.vendor.Hooks} {
		hooks.Step = func(op string) { s.yield(op) }
		hooks.Before = func(string) error { return s.fault(0.005) }
		hooks.After = func(string) error { return s.fault(0.005) }
	}
	return s
}

func (s *schedule) fault(p float64) error {
	if s.current != nil && s.rnd.Float64() < p {
		s.note("fault")
		return fmt.Errorf("injected fault")
	}
	return nil
}

func (s *schedule) answer() pushtest.Answer {
	a := pushtest.Answer{Lands: time.Duration(s.rnd.Int64N(int64(margin)))}
	switch dice := s.rnd.Float64(); {
	case dice < 0.15:
		a.Err = &push.CallError{Op: "update_contact_way", Unknown: true, Message: "no answer"}
		a.Lost = s.rnd.Float64() < 0.4
		s.note("no answer, lost %v, lands in %v", a.Lost, a.Lands)
	case dice < 0.25:
		a.Err = &push.CallError{Op: "update_contact_way", ErrCode: -1, Message: "busy"}
		a.Lost = true
	}
	return a
}

func (s *schedule) admit() push.Admission {
	now := s.clock.Now()
	if s.rnd.Float64() < 0.1 {
		return push.Admission{At: now.Add(2 * time.Second), Booked: true, Cause: "throttled"}
	}
	return push.Admission{Granted: true, Expires: now.Add(time.Hour)}
}

// change lets a producer write a fact and then publish.
func (s *schedule) change() {
	if s.last >= events || s.rnd.Float64() > 0.08 {
		return
	}
	who := s.flips[s.rnd.IntN(len(s.flips))]
	s.store.EditStaff("acme", who, func(st *roster.Staff) {
		if st.Presence == roster.Online {
			st.Presence = roster.OfflineNow
		} else {
			st.Presence = roster.Online
		}
	})
	s.publish(who + " flips")
}

func (s *schedule) start() {
	if len(s.unacked) == 0 || s.rnd.Float64() > 0.3 || len(s.workers) >= 4 {
		return
	}
	messages := s.messages()
	m := messages[s.rnd.IntN(len(messages))]
	if s.unacked[m].After(s.clock.Now()) || (s.busy(m) && s.rnd.Float64() > 0.4) {
		return
	}
	w := &worker{message: m, resume: make(chan struct{}), parked: make(chan struct{})}
	s.workers = append(s.workers, w)
	protocol := push.New(s.build(push.Ports{
		Store: s.store, Rotation: s.rotation, Budget: s.budget, Vendor: s.vendor, Breaker: closedBreaker{},
	}), options(s.clock))
	go func() {
		defer func() { w.ended = true; w.parked <- struct{}{} }()
		<-w.resume
		if !w.crashed {
			w.outcome = protocol.Refresh(context.Background(), s.ref, func() { w.covered = s.coverable() })
		}
	}()
}

// messages are the un-acked ones in order.
func (s *schedule) messages() []int {
	out := make([]int, 0, len(s.unacked))
	for m := range s.unacked {
		out = append(out, m)
	}
	slices.Sort(out)
	return out
}

func (s *schedule) busy(message int) bool {
	return slices.ContainsFunc(s.workers, func(w *worker) bool { return w.message == message })
}

// note adds a line to the trace.
func (s *schedule) note(format string, args ...any) {
	if !s.tracing {
		return
	}
	s.trace = append(s.trace, s.clock.Now().Sub(t0).String()+" "+fmt.Sprintf(format, args...))
}

// coverable are messages that this consumer may have received by now.
func (s *schedule) coverable() []int {
	var out []int
	for _, m := range s.messages() {
		if !s.busy(m) && s.rnd.Float64() < 0.5 {
			out = append(out, m)
		}
	}
	return out
}

// yield parks the worker that runs; it is called ahead of every operation.
func (s *schedule) yield(op string) {
	w := s.current
	if w == nil {
		return
	}
	s.note("worker on %d comes to %s", w.message, op)
	w.parked <- struct{}{}
	<-w.resume
	if w.crashed {
		runtime.Goexit()
	}
}

// step lets one worker run to its next operation, or stall, or crash.
func (s *schedule) step() {
	if len(s.workers) == 0 {
		return
	}
	i := s.rnd.IntN(len(s.workers))
	w := s.workers[i]
	if w.stalled.After(s.clock.Now()) {
		return
	}
	switch dice := s.rnd.Float64(); {
	case dice < 0.04:
		w.stalled = s.clock.Now().Add(time.Duration(1+s.rnd.IntN(12)) * time.Second)
		s.note("worker on %d stalls until %v", w.message, w.stalled.Sub(t0))
		return
	case dice < 0.055:
		w.crashed = true
	}
	s.run(w)
	if w.ended {
		s.workers = slices.Delete(s.workers, i, i+1)
		s.settle(w)
	}
}

func (s *schedule) run(w *worker) {
	s.current = w
	w.resume <- struct{}{}
	<-w.parked
	s.current = nil
}

func (s *schedule) settle(w *worker) {
	now := s.clock.Now()
	s.note("worker on %d ends: crashed %v, %T %+v, covers %v", w.message, w.crashed, w.outcome, w.outcome, w.covered)
	if _, there := s.unacked[w.message]; w.crashed && there {
		s.unacked[w.message] = now
		return
	}
	switch out := w.outcome.(type) {
	case push.Done:
		delete(s.unacked, w.message)
		for _, m := range w.covered {
			delete(s.unacked, m)
		}
	case push.Hold:
		s.redeliver(w.message, out.Until)
	case push.Park:
		s.redeliver(w.message, earliest(out.Mark.Due, now.Add(10*time.Second)))
	case push.Fail:
		s.redeliver(w.message, now.Add(time.Second))
	}
}

func (s *schedule) redeliver(message int, at time.Time) {
	if _, there := s.unacked[message]; there {
		s.unacked[message] = at
	}
}

func (s *schedule) crashAll() {
	for _, w := range s.workers {
		w.crashed = true
		s.run(w)
	}
}

// judge holds what WeCom, the set and the record say against the facts.
func (s *schedule) judge() string {
	facts := s.store.Peek(s.ref)
	record := s.store.Record(s.ref)
	want, err := roster.Decide(facts, roster.Last{Members: record.Committed.Members}, roster.LaneRules{}, s.clock.Now())
	if err != nil {
		return err.Error()
	}
	way, _ := s.vendor.Way("cfg1")
	if diff := cmp.Diff(want.Members, way.Members, cmpopts.EquateEmpty()); diff != "" {
		return "wecom diverged: " + diff
	}
	if diff := cmp.Diff(want.Members, record.Committed.Members, cmpopts.EquateEmpty()); diff != "" {
		return "the record lies: " + diff
	}
	if !facts.Code.Family.Rotates() {
		return ""
	}
	set, _ := s.rotation.Set(s.ref)
	return cmp.Diff(want.Rotation, set.Seats, cmpopts.EquateEmpty())
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
