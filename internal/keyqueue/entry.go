package keyqueue

import (
	"container/heap"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

type state uint8

const (
	ready    state = iota // waits for a worker
	working               // a worker is on it
	shed                  // on its way to the dirty set
	held                  // waits for its deadline
	returned              // the broker has its message; only its age is kept
	resting               // done; only how often it ran is kept
)

const notInHeap = -1

// entry is one key.
type entry[M any] struct {
	key     Key
	state   state
	message M    // the one message that is un-acked here
	again   bool // working: touched since the last Observe

	published     time.Time // earliest publish time that the current work covers
	sinceObserved time.Time // earliest publish time after the last Observe; zero: none
	waited        reason.Reason
	rechecks      uint // how often it was brought forward in vain since it was last done

	wait      Wait
	dueAt     time.Time // held: wait.Until, or earlier by a newer message
	local     bool      // held: becomes ready here when due, the broker is not asked
	paidUntil time.Time // every run costs one Recheck; this is until when they are paid for
	heapIndex int

	next *entry[M] // in the tenant's list of ready keys
}

// charge notes a run at now, which costs interval.
func (e *entry[M]) charge(now time.Time, interval time.Duration) {
	if e.paidUntil.Before(now) {
		e.paidUntil = now
	}
	e.paidUntil = e.paidUntil.Add(interval)
}

// mayRunAt is when the next of runs at one an interval, with a burst, is due.
func (e *entry[M]) mayRunAt(burst int, interval time.Duration) time.Time {
	return e.paidUntil.Add(-time.Duration(burst-1) * interval)
}

func (e *entry[M]) notePublished(at time.Time) {
	target := &e.published
	if e.state == working || e.state == shed {
		target = &e.sinceObserved
	}
	if target.IsZero() || at.Before(*target) {
		*target = at
	}
}

// cover moves what arrived during the work under the work.
func (e *entry[M]) cover() {
	if e.sinceObserved.IsZero() {
		return
	}
	if e.published.IsZero() || e.sinceObserved.Before(e.published) {
		e.published = e.sinceObserved
	}
	e.sinceObserved = time.Time{}
}

func (e *entry[M]) noteWait(cause reason.Reason) {
	e.cover()
	if e.waited != reason.Throttled {
		e.waited = cause
	}
}

// deadlines is a heap of held and returned keys by dueAt.
type deadlines[M any] []*entry[M]

func (d deadlines[M]) Len() int           { return len(d) }
func (d deadlines[M]) Less(i, j int) bool { return d[i].dueAt.Before(d[j].dueAt) }
func (d deadlines[M]) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].heapIndex, d[j].heapIndex = i, j
}

// Push is for container/heap only.
func (d *deadlines[M]) Push(x any) {
	e := x.(*entry[M])
	e.heapIndex = len(*d)
	*d = append(*d, e)
}

// Pop is for container/heap only.
func (d *deadlines[M]) Pop() any {
	old := *d
	e := old[len(old)-1]
	old[len(old)-1] = nil
	e.heapIndex = notInHeap
	*d = old[:len(old)-1]
	return e
}

func (d *deadlines[M]) push(e *entry[M]) { heap.Push(d, e) }

func (d *deadlines[M]) fix(e *entry[M]) { heap.Fix(d, e.heapIndex) }

func (d *deadlines[M]) remove(e *entry[M]) {
	if e.heapIndex != notInHeap {
		heap.Remove(d, e.heapIndex)
	}
}

// popUntil takes the earliest entry that is due at now, or nil.
func (d *deadlines[M]) popUntil(now time.Time) *entry[M] {
	if len(*d) == 0 || (*d)[0].dueAt.After(now) {
		return nil
	}
	return heap.Pop(d).(*entry[M])
}
