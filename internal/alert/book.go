package alert

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// key is what alerts are merged by.
type key struct {
	kind    reason.Reason
	tenant  string
	subject string
}

func (a Alert) key() key { return key{a.Kind, a.Tenant, a.Subject} }

// String joins the parts with a character that no identifier holds.
func (k key) String() string { return k.kind.String() + "|" + k.tenant + "|" + k.subject }

// notice is an alert to be told, as it was when its turn came.
type notice struct {
	Alert
	merged  int       // more of the same that it stands for
	since   time.Time // when the first of those came
	span    trace.SpanContext
	claimed bool
	tries   int // that failed
}

// entry is what the book knows of one key: that it waits to be told, or was
// told at toldAt and what came since.
type entry struct {
	notice
	waits  bool
	toldAt time.Time
}

// book decides what is told when. It is not safe for concurrent use.
type book struct {
	opts    Options
	entries map[key]*entry
	queue   []*entry    // those that wait, the oldest first
	sent    []time.Time // of the messages of the last minute
	retryAt time.Time   // nothing is told before, because the last one failed
	dropped int         // since it was told last
}

func newBook(opts Options) *book { return &book{opts: opts, entries: map[key]*entry{}} }

// raise takes an alert in. It returns the fate of one that is not told by
// itself, "" for one that will be.
func (b *book) raise(al Alert, span trace.SpanContext, now time.Time) Fate {
	if e := b.entries[al.key()]; e != nil {
		if e.merged == 0 {
			e.since = now
		}
		e.Alert, e.span = al, span
		e.merged++
		return Merged
	}
	if len(b.entries) >= b.opts.MaxOpen {
		b.dropped++
		return Dropped
	}
	e := &entry{notice: notice{Alert: al, span: span}}
	b.entries[al.key()] = e
	b.enqueue(e)
	return ""
}

func (b *book) enqueue(e *entry) {
	e.waits = true
	b.queue = append(b.queue, e)
}

// next returns the alerts of one kind that are to be told in one message now,
// or when to ask again; zero: when something is raised.
func (b *book) next(now time.Time) ([]notice, time.Time) {
	wake := b.turn(now)
	if len(b.queue) == 0 {
		return nil, wake
	}
	if at := b.mayTell(now); at.After(now) {
		return nil, at
	}
	kind := b.queue[0].Kind
	var batch []notice
	b.queue = slices.DeleteFunc(b.queue, func(e *entry) bool {
		if e.Kind != kind {
			return false
		}
		batch = append(batch, e.notice)
		e.waits, e.toldAt, e.merged, e.tries = false, now, 0, 0
		return true
	})
	return batch, time.Time{}
}

// turn ends the intervals that are over: what came meanwhile is told now, and a
// key without news is forgotten. It returns when the next one ends.
func (b *book) turn(now time.Time) (wake time.Time) {
	for k, e := range b.entries {
		ends := e.toldAt.Add(b.opts.Interval)
		switch {
		case e.waits:
		case now.Before(ends):
			if wake.IsZero() || ends.Before(wake) {
				wake = ends
			}
		case e.merged == 0:
			delete(b.entries, k)
		default:
			e.merged-- // the last one is the one that is told
			e.claimed = false
			b.enqueue(e)
		}
	}
	return wake
}

// mayTell is when the next message may go.
func (b *book) mayTell(now time.Time) time.Time {
	b.sent = slices.DeleteFunc(b.sent, func(at time.Time) bool { return !now.Before(at.Add(time.Minute)) })
	at := now
	if len(b.sent) >= b.opts.PerMinute {
		at = b.sent[0].Add(time.Minute)
	}
	if b.retryAt.After(at) {
		at = b.retryAt
	}
	return at
}

// settle notes what became of notices and returns those whose fate is final.
func (b *book) settle(notices []notice, fate Fate, now time.Time) []notice {
	if fate == Sent || fate == Failed {
		b.sent = append(b.sent, now) // a refused message may count as well
	}
	b.retryAt = time.Time{}
	if fate == Failed {
		b.retryAt = now.Add(b.opts.RetryAfter)
	}
	return slices.DeleteFunc(slices.Clone(notices), func(n notice) bool { return fate == Failed && b.again(n) })
}

// again queues a notice that could not be told, unless it was tried often
// enough. Its entry is still there, and does not wait: only next changes that,
// and whoever tells does one thing after the other.
func (b *book) again(n notice) bool {
	if n.tries+1 >= b.opts.MaxTries {
		return false
	}
	e := b.entries[n.key()]
	e.tries, e.claimed = n.tries+1, n.claimed
	e.merged += n.merged
	if n.merged > 0 {
		e.since = n.since
	}
	b.enqueue(e)
	return true
}

// untold are the alerts that wait.
func (b *book) untold() []notice {
	out := make([]notice, len(b.queue))
	for i, e := range b.queue {
		out[i] = e.notice
	}
	return out
}
