package waytest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Fate is how a call at Vendor ends.
type Fate int

// The fates of a call.
const (
	Answered Fate = iota
	Unsent        // surely not applied: there was no connection
	Lost          // not applied, and no answer
	Unheard       // applied, and no answer
)

// Vendor is contactway.Vendor in memory, for one company.
type Vendor struct {
	// Now is the clock.
	Now func() time.Time
	// Fate decides each call; nil answers all. op is "add", "get", "delete" or
	// "list".
	Fate func(op string) Fate
	// Refuse is WeCom's answer to an add; nil takes it.
	Refuse func(contactway.Order) *push.CallError

	mu    sync.Mutex
	next  int
	ways  []held
	calls map[string]int
}

type held struct {
	contactway.Way
	users []string
	made  time.Time
}

var _ contactway.Vendor = (*Vendor)(nil)

// NewVendor returns a Vendor with nothing in it.
func NewVendor(now func() time.Time) *Vendor {
	return &Vendor{Now: now, calls: map[string]int{}}
}

// Ways returns what there is, in the order of making.
func (v *Vendor) Ways() []contactway.Way {
	v.mu.Lock()
	defer v.mu.Unlock()
	ways := make([]contactway.Way, len(v.ways))
	for i, w := range v.ways {
		ways[i] = w.Way
	}
	return ways
}

// Users returns the members of a contact way.
func (v *Vendor) Users(configID string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := v.index(configID); i >= 0 {
		return v.ways[i].users
	}
	return nil
}

// Calls returns how often an operation was called.
func (v *Vendor) Calls(op string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls[op]
}

// Put stores a contact way of somebody else's.
func (v *Vendor) Put(way contactway.Way) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ways = append(v.ways, held{Way: way, made: v.Now()})
}

// begin counts a call and returns its fate.
func (v *Vendor) begin(op string) (Fate, error) {
	v.mu.Lock()
	v.calls[op]++
	v.mu.Unlock()
	fate := Answered
	if v.Fate != nil {
		fate = v.Fate(op)
	}
	if fate == Unsent {
		return fate, &push.CallError{Op: op, Message: "no connection"}
	}
	return fate, nil
}

// end is the error that the caller sees after the call.
func (f Fate) end(op string) error {
	if f == Answered {
		return nil
	}
	return &push.CallError{Op: op, Unknown: true, Message: "no answer"}
}

// Add makes a contact way.
func (v *Vendor) Add(_ context.Context, _ string, order contactway.Order) (contactway.Way, error) {
	fate, err := v.begin("add")
	if err != nil {
		return contactway.Way{}, err
	}
	if v.Now().After(order.SendBy) {
		return contactway.Way{}, &push.CallError{Op: "add", Message: "too late"}
	}
	if v.Refuse != nil {
		if refusal := v.Refuse(order); refusal != nil {
			return contactway.Way{}, refusal
		}
	}
	if fate == Lost {
		return contactway.Way{}, fate.end("add")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next++
	way := contactway.Way{
		ConfigID: fmt.Sprintf("cfg-%03d", v.next), Kind: order.Kind, Remark: order.Remark, State: order.State,
	}
	way.QRCode = "https://qr.example/" + way.ConfigID
	v.ways = append(v.ways, held{Way: way, users: slices.Clone(order.Users), made: v.Now()})
	if err := fate.end("add"); err != nil {
		return contactway.Way{}, err
	}
	return contactway.Way{ConfigID: way.ConfigID, QRCode: way.QRCode}, nil
}

// Get returns a contact way.
func (v *Vendor) Get(_ context.Context, _, configID string) (contactway.Way, bool, error) {
	fate, err := v.begin("get")
	if err == nil {
		err = fate.readEnd("get")
	}
	if err != nil {
		return contactway.Way{}, false, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := v.index(configID); i >= 0 {
		return v.ways[i].Way, true, nil
	}
	return contactway.Way{}, false, nil
}

// readEnd is end of a call that changes nothing: it is never unknown.
func (f Fate) readEnd(op string) error {
	if f == Answered {
		return nil
	}
	return &push.CallError{Op: op, Message: "no answer"}
}

// Delete removes a contact way.
func (v *Vendor) Delete(_ context.Context, _, configID string) error {
	fate, err := v.begin("delete")
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := v.index(configID); i >= 0 && fate != Lost {
		v.ways = slices.Delete(v.ways, i, i+1)
	}
	return fate.end("delete")
}

// List yields the config IDs of what was made within a window.
func (v *Vendor) List(_ context.Context, _ string, made contactway.Window) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		fate, err := v.begin("list")
		if err == nil {
			err = fate.readEnd("list")
		}
		if err != nil {
			yield("", err)
			return
		}
		for _, id := range v.within(made) {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func (v *Vendor) within(made contactway.Window) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ids []string
	for _, w := range v.ways {
		if !w.made.Before(made.From) && !w.made.After(made.To) {
			ids = append(ids, w.ConfigID)
		}
	}
	return ids
}

func (v *Vendor) index(configID string) int {
	return slices.IndexFunc(v.ways, func(w held) bool { return w.ConfigID == configID })
}
