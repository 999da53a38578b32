package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Ports are what a Dispatcher needs from the world.
type Ports struct {
	Queue     Queue
	Pools     Pools
	Directory Directory
	Senders   map[Via]Sender
	Alerts    Alerts
	Observer  Observer
}

// Dispatcher sends the deliveries that are due. Any number of them may run, in
// any number of processes: what two of them do to one row excludes each other.
type Dispatcher struct {
	Ports
	opts Options

	working sync.WaitGroup
	mu      sync.Mutex // never held over I/O
	busy    map[Lane]bool
	paused  map[Lane]time.Time // until when
	last    Lane               // the one that was begun last
}

// NewDispatcher returns a Dispatcher.
func NewDispatcher(ports Ports, opts Options) *Dispatcher {
	return &Dispatcher{Ports: ports, opts: opts, busy: map[Lane]bool{}, paused: map[Lane]time.Time{}}
}

// Sweep begins to work on the lanes that have something due, as far as there is
// room, and does not wait for them: a receiver that is slow holds up its own
// lane and no sweep. ctx ends the work too. What goes wrong with a delivery is
// logged; the error is about finding them.
func (d *Dispatcher) Sweep(ctx context.Context) error {
	now := d.opts.Now()
	lanes, err := d.Queue.DueLanes(ctx, now)
	if err != nil {
		return fmt.Errorf("find deliveries that are due: %w", err)
	}
	for _, lane := range d.choose(lanes, now) {
		d.working.Go(func() {
			defer d.leave(lane)
			d.work(ctx, lane)
		})
	}
	return nil
}

// Wait returns when all work that was begun has ended. End the contexts of the
// sweeps first.
func (d *Dispatcher) Wait() { d.working.Wait() }

// choose takes as many idle lanes as there is room for. They take turns: the
// first is the one after that which was begun last.
func (d *Dispatcher) choose(lanes []Lane, now time.Time) []Lane {
	d.mu.Lock()
	defer d.mu.Unlock()
	for lane, until := range d.paused {
		if !now.Before(until) {
			delete(d.paused, lane)
		}
	}
	var chosen []Lane
	for _, lane := range inTurn(lanes, d.last) {
		if len(d.busy) == d.opts.Lanes {
			break
		}
		if _, rests := d.paused[lane]; rests || d.busy[lane] {
			continue
		}
		d.busy[lane], d.last = true, lane
		chosen = append(chosen, lane)
	}
	return chosen
}

func (d *Dispatcher) leave(lane Lane) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, lane)
}

func (d *Dispatcher) pause(lane Lane) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused[lane] = d.opts.Now().Add(pauseFor)
}

// work is one lane's turn.
func (d *Dispatcher) work(ctx context.Context, lane Lane) {
	terms, err := d.terms(ctx, lane)
	if err != nil {
		d.pause(lane)
		d.complain(ctx, lane, err)
		return
	}
	for begun := d.opts.Now(); ctx.Err() == nil && d.opts.Now().Sub(begun) < turnFor; {
		more, err := d.some(ctx, lane, terms)
		if err != nil {
			d.complain(ctx, lane, err)
			return
		}
		if !more {
			return
		}
	}
}

// some works on a few deliveries of a lane at once and reports whether there
// may be more.
func (d *Dispatcher) some(ctx context.Context, lane Lane, terms terms) (bool, error) {
	rows, err := d.Queue.Due(ctx, lane, d.opts.Now(), d.opts.LaneWidth)
	if err != nil {
		return false, fmt.Errorf("read deliveries: %w", err)
	}
	errs := make([]error, len(rows))
	begun := 0
	var sending sync.WaitGroup
	for i, row := range rows {
		if terms.sender.Admit(terms.channels) > 0 {
			break // it stays where it is, and nothing is written
		}
		begun++
		sending.Go(func() { errs[i] = d.deliver(ctx, row, terms) })
	}
	sending.Wait()
	return begun == d.opts.LaneWidth, errors.Join(errs...)
}

func (d *Dispatcher) complain(ctx context.Context, lane Lane, err error) {
	if ctx.Err() != nil {
		return // it was told to stop
	}
	d.opts.Logger.ErrorContext(ctx, "deliveries could not be worked on; they wait", "tenant", lane.Tenant, "via", lane.Via, "error", err)
}
