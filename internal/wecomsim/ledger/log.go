package ledger

import (
	"iter"
	"sync"
)

// Stamper is an item that takes its number in the log.
type Stamper[T any] interface {
	Stamped(seq uint64) T
}

// Log is an append-only log of calls (Entry) or of scans. It is safe for
// concurrent use; readers do not stop writers.
type Log[T Stamper[T]] struct {
	mu    sync.Mutex
	keep  int // 0: all
	items []T // a ring once len == keep
	head  int // oldest item
	next  uint64
}

// chunk is how many items a reader copies at a time.
const chunk = 512

// NewLog returns a log of the newest keep items; keep 0 loses nothing.
func NewLog[T Stamper[T]](keep int) *Log[T] { return &Log[T]{keep: max(0, keep), next: 1} }

// Append adds the item under the next number, which it returns.
func (l *Log[T]) Append(item T) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq := l.next
	l.next++
	item = item.Stamped(seq)
	if l.keep == 0 || len(l.items) < l.keep {
		l.items = append(l.items, item)
		return seq
	}
	l.items[l.head] = item
	l.head = (l.head + 1) % l.keep
	return seq
}

// Len returns how many items are kept and how many were lost to the bound.
func (l *Log[T]) Len() (kept, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items), int(l.next-1) - len(l.items)
}

// All yields the kept items in order, up to the last one at the call. Items
// that the bound drops meanwhile are passed over.
func (l *Log[T]) All() iter.Seq[T] { return l.After(0) }

// After yields the kept items with a greater number.
func (l *Log[T]) After(seq uint64) iter.Seq[T] {
	l.mu.Lock()
	end := l.next
	l.mu.Unlock()
	return func(yield func(T) bool) {
		var buf []T
		for at := seq + 1; at < end; {
			buf, at = l.copy(buf[:0], at, end)
			for _, item := range buf {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// copy appends up to chunk items numbered from on, before end, and returns
// where to go on.
func (l *Log[T]) copy(buf []T, from, end uint64) ([]T, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest := l.next - uint64(len(l.items))
	from = max(from, oldest)
	end = min(end, l.next)
	for ; from < end && len(buf) < chunk; from++ {
		buf = append(buf, l.items[(l.head+int(from-oldest))%len(l.items)])
	}
	if from >= l.next { // emptied by Clear while we read
		from = max(from, end)
	}
	return buf, max(from, 1)
}

// Clear drops all items. Numbers go on, so that a reader's place stays valid.
func (l *Log[T]) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items, l.head = nil, 0
}
