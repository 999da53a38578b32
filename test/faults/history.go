package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// history is what the facts of one code asked for, list after list, and what
// WeCom took. Lists are sorted. Its methods may be called from several
// goroutines.
type history struct {
	mu    sync.Mutex
	asked []asked
	taken []taken
}

// asked is a list and the instant from which the facts asked for it.
type asked struct {
	at      time.Time
	members []string
}

// taken is a push that WeCom took.
type taken struct {
	members  []string
	written  int64     // WeCom's count of the writes on this contact way
	received time.Time // when the call arrived
	applied  time.Time // when it took effect
}

// judgement is what became of a code's pushes.
type judgement struct {
	pushes int
	// extra are the pushes that brought WeCom the list that it had.
	extra int
	// stale tells of each push of a list decided from older facts than one that
	// WeCom had taken before it arrived, and of each list that the facts never
	// asked for.
	stale []string
}

// ask notes a list before the fact behind it is stored: whatever list a
// refresher decides, the history has had it.
func (h *history) ask(at time.Time, members []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, asked{at, members})
}

func (h *history) take(p taken) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(p.members)
	h.taken = append(h.taken, p)
}

// judge goes through the pushes in the order in which WeCom took them.
func (h *history) judge() judgement {
	h.mu.Lock()
	defer h.mu.Unlock()
	pushes := slices.SortedFunc(slices.Values(h.taken), func(a, b taken) int { return cmp.Compare(a.written, b.written) })
	out := judgement{pushes: len(pushes)}
	var explained []explanation
	for i, p := range pushes {
		if i > 0 && slices.Equal(pushes[i-1].members, p.members) {
			out.extra++
		}
		from := 0
		for _, e := range explained {
			if !e.applied.After(p.received) {
				from = max(from, e.list)
			}
		}
		list := h.find(from, p)
		if list < 0 {
			out.stale = append(out.stale, h.story(pushes[max(0, i-3):i+1]))
			continue
		}
		explained = append(explained, explanation{p.applied, list})
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
func (h *history) find(from int, p taken) int {
	for i := from; i < len(h.asked) && !h.asked[i].at.After(p.applied); i++ {
		if slices.Equal(h.asked[i].members, p.members) {
			return i
		}
	}
	return -1
}

// story tells of the last of some pushes, which is stale.
func (h *history) story(pushes []taken) string {
	var b strings.Builder
	for i, a := range h.asked[max(0, len(h.asked)-8):] {
		fmt.Fprintf(&b, "\n  list %d asked for %s %v", max(0, len(h.asked)-8)+i, clock(a.at), a.members)
	}
	for _, p := range pushes {
		fmt.Fprintf(&b, "\n  write %d arrived %s, took effect %s %v", p.written, clock(p.received), clock(p.applied), p.members)
	}
	return b.String()
}

func clock(t time.Time) string { return t.Format("15:04:05.000") }
