package pushtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The vendor's names of the calls.
const (
	opUpdate = "update_contact_way"
	opGet    = "get_contact_way"
)

// Answer is what becomes of one call at the fake vendor. The zero value
// applies the call at once and answers with success.
type Answer struct {
	// Err is what the caller gets; nil is success.
	Err error
	// Lost means that the call takes no effect. A success is never lost.
	Lost bool
	// Lands is how long after the send the call takes effect. The caller of a
	// successful call waits for it; one that fails does not.
	Lands time.Duration
}

// Way is what the fake vendor holds of a contact way.
type Way struct {
	Members    []string
	Remark     string
	State      string
	SkipVerify bool
}

// Sent is one call that reached the fake vendor.
type Sent struct {
	push.Call
	At time.Time
}

// Vendor is push.Vendor in memory: it holds contact ways by config ID and
// refuses what WeCom refuses (an unknown config, no member or more than 100, a
// bad member). It never sends a call after its deadline.
type Vendor struct {
	Hooks
	// Answer, when set, decides what becomes of a call that would succeed.
	Answer func(call push.Call) Answer
	// BadMembers holds the errcode with which a list that has this member is
	// refused.
	BadMembers map[string]int

	clock *Clock
	mu    sync.Mutex
	ways  map[string]Way
	sent  []Sent
	wire  []*flight
}

// flight is a call on its way.
type flight struct {
	lands  time.Time
	call   push.Call
	landed bool
}

var _ push.Vendor = (*Vendor)(nil)

// NewVendor returns a vendor without contact ways.
func NewVendor(clock *Clock) *Vendor {
	return &Vendor{clock: clock, ways: map[string]Way{}, BadMembers: map[string]int{}}
}

// Update sends the call and answers as Answer says.
func (v *Vendor) Update(ctx context.Context, call push.Call) error {
	var answer Answer
	var sent *flight
	tried := false
	if err := v.do(ctx, OpUpdate, func() { tried = true; answer, sent = v.send(call) }); err != nil {
		return &push.CallError{Op: opUpdate, Unknown: tried, Err: err}
	}
	if answer.Err != nil {
		return answer.Err
	}
	for sent != nil && !v.hasLanded(sent) {
		if v.Step == nil {
			v.land(sent) // nobody else could move the clock
			break
		}
		v.Step(OpUpdateWire)
		if err := ctx.Err(); err != nil {
			return &push.CallError{Op: opUpdate, Unknown: true, Err: err}
		}
		v.Land()
	}
	return nil
}

func (v *Vendor) send(call push.Call) (Answer, *flight) {
	now := v.clock.Now()
	if now.After(call.Deadline) {
		return Answer{Err: &push.CallError{Op: opUpdate, Message: "not sent: past its deadline"}}, nil
	}
	call.Members = slices.Clone(call.Members)
	v.mu.Lock()
	v.sent = append(v.sent, Sent{Call: call, At: now})
	errcode := v.refusal(call)
	v.mu.Unlock()
	if errcode != 0 {
		return Answer{Err: &push.CallError{Op: opUpdate, HTTPStatus: 200, ErrCode: errcode, Message: "refused"}}, nil
	}
	var answer Answer
	if v.Answer != nil {
		answer = v.Answer(call)
	}
	if answer.Lost && answer.Err != nil {
		return answer, nil
	}
	sent := &flight{lands: now.Add(answer.Lands), call: call}
	v.mu.Lock()
	v.wire = append(v.wire, sent)
	v.mu.Unlock()
	v.Land()
	return answer, sent
}

func (v *Vendor) refusal(call push.Call) int {
	if _, ok := v.ways[call.ConfigID]; !ok {
		return 41044
	}
	if len(call.Members) > roster.MaxListed {
		return 41041
	}
	if len(call.Members) == 0 {
		return 40031
	}
	for _, m := range call.Members {
		if errcode := v.BadMembers[m]; errcode != 0 {
			return errcode
		}
	}
	return 0
}

// Land applies every call on the wire whose time has come, in order of landing
// and then of sending. A scheduler calls it after it moved the clock.
func (v *Vendor) Land() {
	now := v.clock.Now()
	v.mu.Lock()
	due := slices.DeleteFunc(slices.Clone(v.wire), func(f *flight) bool { return f.lands.After(now) })
	v.mu.Unlock()
	slices.SortStableFunc(due, func(a, b *flight) int { return a.lands.Compare(b.lands) })
	for _, f := range due {
		v.land(f)
	}
}

func (v *Vendor) land(f *flight) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f.landed {
		return
	}
	f.landed = true
	v.wire = slices.DeleteFunc(v.wire, func(other *flight) bool { return other == f })
	if _, ok := v.ways[f.call.ConfigID]; ok {
		v.ways[f.call.ConfigID] = Way{
			Members: f.call.Members, Remark: f.call.Remark, State: f.call.State, SkipVerify: f.call.SkipVerify,
		}
	}
}

func (v *Vendor) hasLanded(f *flight) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return f.landed
}

// Exists reports whether there is such a contact way.
func (v *Vendor) Exists(ctx context.Context, _ push.Ref, configID string) (bool, error) {
	exists := false
	err := v.do(ctx, OpExists, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		_, exists = v.ways[configID]
	})
	if err != nil {
		return false, &push.CallError{Op: opGet, Unknown: true, Err: fmt.Errorf("no answer: %w", err)}
	}
	return exists, nil
}

// AddWay makes the vendor hold a contact way with these members.
func (v *Vendor) AddWay(configID string, members ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ways[configID] = Way{Members: slices.Clone(members)}
}

// RemoveWay makes the vendor forget a contact way.
func (v *Vendor) RemoveWay(configID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.ways, configID)
}

// Way returns what the vendor holds; false: no such contact way.
func (v *Vendor) Way(configID string) (Way, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	way, ok := v.ways[configID]
	way.Members = slices.Clone(way.Members)
	return way, ok
}

// Sent returns every call that reached the vendor, refused ones included.
func (v *Vendor) Sent() []Sent {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.sent)
}

// OnWire is how many calls have not landed yet.
func (v *Vendor) OnWire() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.wire)
}
