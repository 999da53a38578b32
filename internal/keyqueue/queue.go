package keyqueue

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Key names a code within its tenant.
type Key struct {
	Tenant string
	Code   string
}

// Options of a Queue. All are required.
type Options[M any] struct {
	// Compare orders the messages of one key as the broker stored them:
	// negative when a is older than b, 0 when they are the same message.
	Compare func(a, b M) int
	// TenantCap is the most keys of one tenant in work at once; at least 1.
	TenantCap int
	// MaxHold is the longest single hold.
	MaxHold time.Duration
	// Recheck is how long after its arrival a newer message brings a held key
	// forward. It doubles each time that the key, brought forward, had to be
	// held again: a storm soon stops recomputing a key that has to wait anyway.
	Recheck time.Duration
	// Burst is how many times a key runs without a pause; beyond that the keys
	// of its tenant share PaceRate, and the pause is MaxPace when they are
	// many. So a storm over many keys costs one run a key and MaxPace however
	// many its events are, and a single hot key is not held up. At least 1.
	Burst int
	// PaceRate is the runs a second of one tenant beyond its keys' bursts.
	PaceRate int
	// MaxPace is the longest pause between two runs of a key that has events.
	MaxPace time.Duration
	// Remember is how long a key's earliest publish time outlives the
	// hand-back of its message.
	Remember time.Duration
}

// maxDoublings bounds the doubling of Recheck.
const maxDoublings = 10

// Touch is the arrival of a message.
type Touch[M any] struct {
	Key
	Message     M
	PublishedAt time.Time
}

// Work is a key handed to a worker. It has to be returned by exactly one of
// Done, Hold or Park.
type Work[M any] struct {
	Key
	Message M // the newest message of the key at the time of the hand-out
}

// Wait says until when a key is held and why.
type Wait struct {
	Until time.Time
	Cause reason.Reason
	// Firm holds are those of a failure: no newer message shortens them.
	Firm bool
}

// Ending is what became of a key that was in work.
type Ending[M any] struct {
	// Acks are the messages that are done with: none or one.
	Acks []M
	// PublishedAt is the publish time of the earliest message the work covered.
	PublishedAt time.Time
	// Waited is the cause of the longest-lasting kind of wait that the key
	// went through since then: Throttled before all others; "" is none.
	Waited reason.Reason
	// Again is true when the key runs again, for a message that came too late.
	Again bool
}

// Queue holds the keys of one consumer. Its methods are not safe for
// concurrent use.
type Queue[M any] struct {
	opts     Options[M]
	entries  map[Key]*entry[M]
	tenants  map[string]*tenant[M]
	turns    ring[M]
	due      deadlines[M]
	inFlight int
	ready    int
	shedding int
	held     map[reason.Reason]int
	heldSum  int
}

// New returns an empty queue.
func New[M any](opts Options[M]) *Queue[M] {
	return &Queue[M]{
		opts:    opts,
		entries: map[Key]*entry[M]{},
		tenants: map[string]*tenant[M]{},
		held:    map[reason.Reason]int{},
	}
}

// Touch takes in a message and returns those to ack in its stead: the older
// one of its key, or itself when it is the older one, or none.
func (q *Queue[M]) Touch(t Touch[M], now time.Time) []M {
	e, known := q.entries[t.Key]
	if !known || e.state == returned || e.state == resting {
		q.admit(e, t, now)
		return nil
	}
	order := q.opts.Compare(t.Message, e.message)
	if order == 0 {
		return nil // delivered twice; the one we have stands for both
	}
	e.notePublished(t.PublishedAt)
	if order < 0 {
		return []M{t.Message} // covered by the newer one, which was stored after its facts
	}
	older := e.message
	e.message = t.Message
	if e.state == working || e.state == shed {
		e.again = true
	}
	if e.state == held {
		q.bringForward(e, now)
	}
	return []M{older}
}

// admit takes in the message of a key that has none here. A key that comes
// back from the broker has waited enough; one that ran often just now pauses.
func (q *Queue[M]) admit(e *entry[M], t Touch[M], now time.Time) {
	if e == nil {
		e = &entry[M]{key: t.Key, heapIndex: notInHeap}
		q.entries[t.Key] = e
		q.tenant(t.Tenant).keys++
	}
	rested := e.state != resting
	q.due.remove(e)
	e.message = t.Message
	e.notePublished(t.PublishedAt)
	if rested {
		q.makeReady(e)
	} else {
		q.paceOrReady(e, now)
	}
}

// Next hands out the next key whose tenant's turn it is; false when no key may
// be worked on now.
func (q *Queue[M]) Next(now time.Time) (Work[M], bool) {
	t := q.turns.pop()
	if t == nil {
		return Work[M]{}, false
	}
	e := t.take()
	t.inFlight++
	q.ready--
	q.inFlight++
	e.state = working
	e.charge(now, q.pace(t))
	q.takeTurn(t)
	return Work[M]{Key: e.key, Message: e.message}, true
}

// Observe notes that the worker on key is about to read its facts: every
// message received until now is covered by what it reads.
func (q *Queue[M]) Observe(key Key) {
	if e := q.entries[key]; e != nil && e.state == working {
		e.again = false
		e.cover()
	}
}

// Done ends the work on key: its message is to be acked, unless one arrived
// after the last Observe; then the key runs again for that.
func (q *Queue[M]) Done(key Key, now time.Time) Ending[M] {
	e := q.leaveWork(key)
	end := Ending[M]{PublishedAt: e.published, Waited: e.waited, Again: e.again}
	if e.again {
		q.rerun(e, now)
		return end
	}
	end.Acks = []M{e.message}
	q.rest(e, now)
	return end
}

// Park ends the work on a key that the dirty set now holds. It is Done, except
// that nothing was brought up to date.
func (q *Queue[M]) Park(key Key, now time.Time) Ending[M] { return q.Done(key, now) }

// Hold ends the work on key and lets it wait. A wait beyond MaxHold is cut: it
// is then several holds.
func (q *Queue[M]) Hold(key Key, wait Wait, now time.Time) {
	e := q.leaveWork(key)
	if latest := now.Add(q.opts.MaxHold); wait.Until.After(latest) {
		wait.Until = latest
	}
	q.enterHold(e, wait)
	if e.again {
		e.again = false
		q.bringForward(e, now)
	}
}

func (q *Queue[M]) enterHold(e *entry[M], wait Wait) {
	e.state, e.wait, e.dueAt, e.local = held, wait, wait.Until, false
	e.noteWait(wait.Cause)
	q.held[wait.Cause]++
	q.heldSum++
	q.tenant(e.key.Tenant).countHeld(wait.Cause, 1)
	q.due.push(e)
}

// bringForward lets a newer message shorten a hold that is no failure's.
func (q *Queue[M]) bringForward(e *entry[M], now time.Time) {
	if e.wait.Firm {
		return
	}
	if at := now.Add(q.opts.Recheck << min(e.rechecks, maxDoublings)); at.Before(e.dueAt) {
		e.dueAt, e.local = at, true
		q.due.fix(e)
	}
}

// Expired is what became due.
type Expired[M any] struct {
	// Nacks are messages to give back to the broker: their keys may have
	// another owner by now.
	Nacks []M
	// Ready counts the keys that became ready here instead: a newer message
	// brought them forward, or they paused after a burst, and the message by
	// its arrival showed that they are ours.
	Ready int
}

// Due ends every hold whose time has come.
func (q *Queue[M]) Due(now time.Time) Expired[M] {
	var out Expired[M]
	for {
		e := q.due.popUntil(now)
		switch {
		case e == nil:
			return out
		case e.state == returned || e.state == resting:
			q.forget(e)
		case e.local:
			q.leaveHold(e)
			e.rechecks++
			q.makeReady(e)
			out.Ready++
		default:
			out.Nacks = append(out.Nacks, q.giveBack(e, now))
		}
	}
}

// NextDue is when Due has something to do; false when nothing waits.
func (q *Queue[M]) NextDue() (time.Time, bool) {
	if len(q.due) == 0 {
		return time.Time{}, false
	}
	return q.due[0].dueAt, true
}

// HandBack ends all holds at once, because a sibling joined: as long as a
// message is un-acked here the broker withholds its whole hash from the new
// owner. The messages are to be given back.
func (q *Queue[M]) HandBack(now time.Time) []M {
	waiting := q.due
	q.due = make(deadlines[M], 0, len(waiting))
	nacks := make([]M, 0, q.heldSum)
	for _, e := range waiting {
		if e.state == held {
			nacks = append(nacks, q.giveBack(e, now))
		} else {
			q.due.push(e)
		}
	}
	return nacks
}

// SetTenantCap changes the most keys of one tenant in work at once; n below 1
// counts as 1.
func (q *Queue[M]) SetTenantCap(name string, n int) {
	t := q.tenant(name)
	t.limit = max(n, 1)
	q.takeTurn(t)
}

func (q *Queue[M]) makeReady(e *entry[M]) {
	t := q.tenant(e.key.Tenant)
	if e.state == returned {
		t.back.add(e)
	} else {
		t.fresh.add(e)
	}
	e.state = ready
	q.ready++
	q.takeTurn(t)
}

// rerun takes up a key whose work is over but that was touched meanwhile.
func (q *Queue[M]) rerun(e *entry[M], now time.Time) {
	e.again = false
	e.published, e.sinceObserved = e.sinceObserved, time.Time{}
	e.waited, e.rechecks = "", 0
	e.state = ready
	q.paceOrReady(e, now)
}

// pace is the time between two runs of a key beyond its burst.
func (q *Queue[M]) pace(t *tenant[M]) time.Duration {
	return min(q.opts.MaxPace, time.Duration(t.keys)*time.Second/time.Duration(q.opts.PaceRate))
}

// paceOrReady makes a key ready, or lets it pause when it has used its burst.
func (q *Queue[M]) paceOrReady(e *entry[M], now time.Time) {
	at := e.mayRunAt(q.opts.Burst, q.pace(q.tenant(e.key.Tenant)))
	if !at.After(now) {
		q.makeReady(e)
		return
	}
	q.enterHold(e, Wait{Until: at, Cause: reason.Paced, Firm: true})
	e.local = true
}

// rest ends the stay of a key that is done; how often it ran is remembered
// until that is of no importance any more.
func (q *Queue[M]) rest(e *entry[M], now time.Time) {
	if !e.paidUntil.After(now) {
		q.forget(e)
		return
	}
	var none M
	*e = entry[M]{key: e.key, state: resting, message: none, paidUntil: e.paidUntil, dueAt: e.paidUntil, heapIndex: notInHeap}
	q.due.push(e)
}

func (q *Queue[M]) forget(e *entry[M]) {
	delete(q.entries, e.key)
	t := q.tenant(e.key.Tenant)
	t.keys--
	q.takeTurn(t)
}

func (q *Queue[M]) leaveWork(key Key) *entry[M] {
	e := q.entries[key]
	if e.state == shed {
		q.shedding--
		return e
	}
	t := q.tenant(key.Tenant)
	t.inFlight--
	q.inFlight--
	q.takeTurn(t)
	return e
}

func (q *Queue[M]) leaveHold(e *entry[M]) {
	q.held[e.wait.Cause]--
	q.heldSum--
	q.tenant(e.key.Tenant).countHeld(e.wait.Cause, -1)
}

// giveBack ends a hold whose entry has left the heap. What is known of the
// key's age stays for a while: the message that comes back is not the oldest
// that the key stands for.
func (q *Queue[M]) giveBack(e *entry[M], now time.Time) M {
	q.leaveHold(e)
	e.state = returned
	e.dueAt = now.Add(q.opts.Remember)
	q.due.push(e)
	return e.message
}
