//go:build integration

package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// step is an instant on the way of an event at which a refresher can die.
type step string

// The steps, in the order of the way.
const (
	afterReceive       step = "receive: after"
	beforeVersion      step = "rotation version: before"
	afterVersion       step = "rotation version: after"
	beforeLoad         step = "load: before"
	afterLoad          step = "load: after"
	beforeReplace      step = "rotation set: before"
	afterReplace       step = "rotation set: after"
	beforeAdmit        step = "admit: before"
	afterAdmit         step = "admit: after"
	beforeBegin        step = "begin: before"
	afterBegin         step = "begin: after"
	beforeUpdate       step = "vendor call: before"
	whileApplied       step = "vendor call: applied, no answer yet"
	afterUpdate        step = "vendor call: after"
	beforeFacts        step = "verify facts: before"
	afterFacts         step = "verify facts: after"
	beforeVerification step = "verify version: before"
	afterVerification  step = "verify version: after"
	beforeCommit       step = "commit: before"
	afterCommit        step = "commit: after"
	beforeAck          step = "ack: before"
	afterAck           step = "ack: after"
	afterFlush         step = "ack: with the broker"
	beforeDeadLetter   step = "dead letter: before"
	afterDeadLetter    step = "dead letter: after"
	beforePark         step = "park: before"
	afterPark          step = "park: after"
)

// fate is what happens at the step.
type fate string

const (
	// dies: the process ends as by a power cut.
	dies fate = "dies"
	// stalls: the code's worker stands still until it is released, and goes on
	// with what it had learned before.
	stalls fate = "stalls"
)

// executioner lets its own process meet its fate at a step.
type executioner struct {
	step  step
	fate  fate
	nth   int64  // how often the step is reached before, and with, that time
	armed string // no step counts until this file exists
	grave string // the file that says which code was in work
	freed string // the file that releases a worker that stalls

	loaded  atomic.Bool // the armed file was seen
	reached atomic.Int64

	mu        sync.Mutex
	verifying map[push.Ref]bool // whose facts were read for the second time
}

// at is called whenever a step is reached.
func (e *executioner) at(s step, code string) {
	if s != e.step || !e.isArmed() || e.reached.Add(1) != e.nth {
		return
	}
	if err := os.WriteFile(e.grave, []byte(code), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "the grave could not be marked:", err)
	}
	if e.fate != dies {
		until(context.Background(), time.Minute, func() bool { _, err := os.Stat(e.freed); return err == nil })
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the kernel is done with us; nothing is to happen after the step
}

func (e *executioner) isArmed() bool {
	if e.loaded.Load() {
		return true
	}
	_, err := os.Stat(e.armed)
	if err == nil {
		e.loaded.Store(true)
	}
	return err == nil
}

// seams put the executioner around every port.
func (e *executioner) seams() service.Seams {
	return service.Seams{
		Subscription: func(in intake.Subscription) intake.Subscription { return mortalSubscription{in, e} },
		Store:        func(in push.Store) push.Store { return mortalStore{in, e} },
		Rotation:     func(in push.Rotation) push.Rotation { return mortalRotation{in, e} },
		Budget:       func(in push.Budget) push.Budget { return mortalBudget{in, e} },
		Vendor:       func(in push.Vendor) push.Vendor { return mortalVendor{in, e} },
		Dirty:        func(in push.Dirty) push.Dirty { return mortalDirty{in, e} },
	}
}

type mortalSubscription struct {
	intake.Subscription
	*executioner
}

func (m mortalSubscription) Receive(ctx context.Context) (intake.Delivery, error) {
	d, err := m.Subscription.Receive(ctx)
	if err == nil {
		m.at(afterReceive, d.Key)
	}
	return d, err
}

func (m mortalSubscription) Ack(ids ...intake.MessageID) {
	m.at(beforeAck, "")
	m.Subscription.Ack(ids...)
	m.at(afterAck, "")
	if m.step == afterFlush && m.isArmed() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if m.Flush(ctx) == nil {
			m.at(afterFlush, "")
		}
	}
}

func (m mortalSubscription) DeadLetter(ctx context.Context, d intake.Delivery) error {
	m.at(beforeDeadLetter, "")
	err := m.Subscription.DeadLetter(ctx, d)
	m.at(afterDeadLetter, "")
	return err
}

type mortalStore struct {
	push.Store
	*executioner
}

func (m mortalStore) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	m.at(beforeLoad, ref.Code)
	facts, record, err := m.Store.Load(ctx, ref)
	m.at(afterLoad, ref.Code)
	return facts, record, err
}

func (m mortalStore) Facts(ctx context.Context, ref push.Ref) (roster.Facts, error) {
	m.at(beforeFacts, ref.Code)
	facts, err := m.Store.Facts(ctx, ref)
	m.at(afterFacts, ref.Code)
	m.mu.Lock()
	m.verifying[ref] = true
	m.mu.Unlock()
	return facts, err
}

func (m mortalStore) Begin(ctx context.Context, ref push.Ref, seen int64, intent push.Intent) (bool, error) {
	m.at(beforeBegin, ref.Code)
	ok, err := m.Store.Begin(ctx, ref, seen, intent)
	m.at(afterBegin, ref.Code)
	return ok, err
}

func (m mortalStore) Commit(ctx context.Context, ref push.Ref, committed push.Committed, settled []int64, next time.Time) (bool, error) {
	m.at(beforeCommit, ref.Code)
	ok, err := m.Store.Commit(ctx, ref, committed, settled, next)
	m.at(afterCommit, ref.Code)
	return ok, err
}

type mortalRotation struct {
	push.Rotation
	*executioner
}

// Version is read twice: before the facts, and after they were verified.
func (m mortalRotation) Version(ctx context.Context, ref push.Ref) (int64, error) {
	before, after := beforeVersion, afterVersion
	m.mu.Lock()
	if m.verifying[ref] {
		before, after = beforeVerification, afterVerification
	}
	delete(m.verifying, ref)
	m.mu.Unlock()
	m.at(before, ref.Code)
	version, err := m.Rotation.Version(ctx, ref)
	m.at(after, ref.Code)
	return version, err
}

func (m mortalRotation) Replace(ctx context.Context, ref push.Ref, seen int64, set push.Set) (int64, bool, error) {
	m.at(beforeReplace, ref.Code)
	version, ok, err := m.Rotation.Replace(ctx, ref, seen, set)
	m.at(afterReplace, ref.Code)
	return version, ok, err
}

type mortalBudget struct {
	push.Budget
	*executioner
}

func (m mortalBudget) Admit(ctx context.Context, ask push.Ask) (push.Admission, error) {
	m.at(beforeAdmit, ask.Code)
	admission, err := m.Budget.Admit(ctx, ask)
	m.at(afterAdmit, ask.Code)
	return admission, err
}

type mortalVendor struct {
	push.Vendor
	*executioner
}

func (m mortalVendor) Update(ctx context.Context, call push.Call) error {
	m.at(beforeUpdate, call.Code)
	err := m.Vendor.Update(ctx, call)
	m.at(afterUpdate, call.Code)
	return err
}

type mortalDirty struct {
	push.Dirty
	*executioner
}

func (m mortalDirty) Mark(ctx context.Context, marks ...push.Mark) error {
	for _, mark := range marks {
		m.at(beforePark, mark.Code)
	}
	err := m.Dirty.Mark(ctx, marks...)
	for _, mark := range marks {
		m.at(afterPark, mark.Code)
	}
	return err
}

// newExecutioner waits for the nth time that a step is reached after the file
// "armed" has appeared in dir.
func newExecutioner(at step, meets fate, nth int64, dir string) *executioner {
	return &executioner{
		step: at, fate: meets, nth: nth, armed: filepath.Join(dir, armedFile), grave: filepath.Join(dir, graveFile),
		freed: filepath.Join(dir, freedFile), verifying: map[push.Ref]bool{},
	}
}
