package board

import (
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// kept is how far back a Tally counts, in minutes.
const kept = 60

// Tally counts by the minute what a refresher does, over an hour. Time comes in
// with each call. It is safe for concurrent use.
type Tally struct {
	mu      sync.Mutex
	minutes [kept]minute // by the minute's number modulo kept
}

// minute is what was done in one minute since 1970.
type minute struct {
	number  int64
	sampled bool // Busy has been told
	Activity
}

// NewTally returns one that has counted nothing.
func NewTally() *Tally { return &Tally{} }

// Fresh is one push that WeCom has confirmed.
type Fresh struct {
	Age       time.Duration // of its earliest event
	Slow      bool          // the code is in the slow lane
	Throttled bool          // it waited for vendor budget
}

// Fresh counts a push.
func (t *Tally) Fresh(now time.Time, f Fresh) {
	t.note(now, func(m *minute) {
		switch {
		case f.Throttled:
			m.Throttled.Note(f.Age)
		case f.Slow:
			m.Slow.Note(f.Age)
		default:
			m.Promised.Note(f.Age)
		}
	})
}

// Called counts a call to WeCom, by the class of its error; "" is none.
func (t *Tally) Called(now time.Time, class reason.Reason) {
	t.note(now, func(m *minute) {
		m.Calls++
		if class != "" {
			m.Errors = added(m.Errors, map[reason.Reason]int{class: 1})
		}
	})
}

// Refused counts a push that the vendor budget does not let go yet.
func (t *Tally) Refused(now time.Time, cause reason.Reason) {
	t.note(now, func(m *minute) { m.Refusals = added(m.Refusals, map[reason.Reason]int{cause: 1}) })
}

// Ended counts a refresh by how it ended.
func (t *Tally) Ended(now time.Time, outcome push.Outcome) {
	ending, why := push.Describe(outcome)
	t.note(now, func(m *minute) {
		if why == reason.Panicked {
			m.Panics++
		}
		if ending == "done" || ending != "fail" && slices.Contains(outside, why) {
			m.Accounted++
		}
	})
}

// outside are the reasons of waits that lie outside the refreshers and have a
// pace, or an alert, of their own: those of the alert RollcallStuck, and what an
// operator holds.
var outside = []reason.Reason{
	reason.Throttled, reason.Blocked, reason.SlowLane, reason.Backoff, reason.BreakerOpen,
	reason.Suspended, reason.OnHold, reason.Credentials, reason.Overflow, reason.NobodyLeft,
}

// Busy tells how many codes are in line or in flight; it is to be told at every
// report.
func (t *Tally) Busy(now time.Time, codes int) {
	t.note(now, func(m *minute) {
		if !m.sampled || codes < m.Busy {
			m.sampled, m.Busy = true, codes
		}
	})
}

// note changes the count of the minute of now.
func (t *Tally) note(now time.Time, change func(*minute)) {
	number := numberOf(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &t.minutes[number%kept]
	if m.number < number {
		*m = minute{number: number}
	}
	if m.number == number { // else the clock went back by an hour
		change(m)
	}
}

// Over adds up the current minute and those before it, as many in all as the
// span has, at most an hour. So five minutes are four to five.
func (t *Tally) Over(now time.Time, span time.Duration) Activity {
	total := Activity{Refusals: map[reason.Reason]int{}, Errors: map[reason.Reason]int{}}
	busy, last := -1, numberOf(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	for number := last - int64(span/time.Minute) + 1; number <= last; number++ {
		m := &t.minutes[number%kept]
		if m.number != number {
			busy = 0 // nobody looked: no work that is known of
			continue
		}
		total.add(m.Activity)
		if busy < 0 || m.Busy < busy {
			busy = m.Busy
		}
	}
	total.Busy = max(busy, 0)
	return total
}

func numberOf(t time.Time) int64 { return t.Unix() / 60 }
