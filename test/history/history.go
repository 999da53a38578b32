package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// History is what the facts of one code asked for, list after list, and what
// WeCom took. Lists are sorted. The zero value is empty; its methods may be called from
// several goroutines.
type History struct {
	mu    sync.Mutex
	asked []asked
	taken []Taken
}

// asked is a list and the instant from which the facts asked for it.
type asked struct {
	at      time.Time
	members []string
}

// Taken is a push that WeCom took.
type Taken struct {
	Members  []string
	Written  int64     // WeCom's count of the writes on this contact way
	Received time.Time // when the call arrived
	Applied  time.Time // when it took effect
}

// Judgement is what became of a code's pushes.
type Judgement struct {
	Pushes int
	// Extra are the pushes that brought WeCom the list that it had.
	Extra int
	// Stale tells of each push of a list decided from older facts than one that
	// WeCom had taken before it arrived, and of each list that the facts never
	// asked for.
	Stale []string
}

// Ask notes a list before the fact behind it is stored: whatever list a
// refresher decides, the history has had it.
func (h *History) Ask(at time.Time, members []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, asked{at, members})
}

// Take notes a push. They may be told in any order.
func (h *History) Take(p Taken) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.Members = slices.Sorted(slices.Values(p.Members))
	h.taken = append(h.taken, p)
}

// Judge goes through the pushes in the order in which WeCom took them. Those that
// arrived before since are not judged: somebody else has made them, and their
// lists are known to WeCom all the same.
func (h *History) Judge(since time.Time) Judgement {
	h.mu.Lock()
	defer h.mu.Unlock()
	pushes := slices.SortedFunc(slices.Values(h.taken), func(a, b Taken) int { return cmp.Compare(a.Written, b.Written) })
	var out Judgement
	var explained []explanation
	for i, p := range pushes {
		judged := !p.Received.Before(since)
		if judged {
			out.Pushes++
		}
		if judged && i > 0 && slices.Equal(pushes[i-1].Members, p.Members) {
			out.Extra++
		}
		from := 0
		for _, e := range explained {
			if !e.applied.After(p.Received) {
				from = max(from, e.list)
			}
		}
		list := h.find(from, p)
		switch {
		case list >= 0:
			explained = append(explained, explanation{p.Applied, list})
		case judged:
			out.Stale = append(out.Stale, h.story(pushes[max(0, i-3):i+1]))
		}
	}
	return out
}

// explanation is the oldest list that a push can have been decided from, given
// those before it.
type explanation struct {
	applied time.Time
	list    int
}

// find looks for a list, not older than from, that the push can have been
// decided from. Two calls that are on the wire at once have no order that
// anybody could keep, so from only counts what was taken before it arrived.
func (h *History) find(from int, p Taken) int {
	for i := from; i < len(h.asked) && !h.asked[i].at.After(p.Applied); i++ {
		if slices.Equal(h.asked[i].members, p.Members) {
			return i
		}
	}
	return -1
}

// story tells of the last of some pushes, which is stale.
func (h *History) story(pushes []Taken) string {
	var b strings.Builder
	for i, a := range h.asked[max(0, len(h.asked)-8):] {
		fmt.Fprintf(&b, "\n  list %d asked for %s %v", max(0, len(h.asked)-8)+i, clock(a.at), a.members)
	}
	for _, p := range pushes {
		fmt.Fprintf(&b, "\n  write %d arrived %s, took effect %s %v", p.Written, clock(p.Received), clock(p.Applied), p.Members)
	}
	return b.String()
}

func clock(t time.Time) string { return t.Format("15:04:05.000") }
