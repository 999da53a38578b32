package limits

import (
	"sync"
	"time"
)

// meter counts the calls of one owner (a corp or an IP) to one API against
// all windows of its scope. Calls that are refused are not counted.
type meter struct {
	mu           sync.Mutex
	windows      []Window
	kind         Kind
	last         int64 // latest time seen, ns; time never goes back
	blockedUntil int64
	blockedBy    Window
	log          ring
	within       []int   // per window: sliding: how many of log's newest are within; fixed: count
	start        []int64 // per window: start of the fixed window
}

func newMeter(kind Kind, windows []Window) *meter {
	return &meter{
		windows: windows, kind: kind,
		within: make([]int, len(windows)), start: make([]int64, len(windows)),
	}
}

// check moves the windows to now and reports whether one more call is in
// order. A call beyond a window starts that window's block. The caller holds mu.
func (m *meter) check(now time.Time) (Breach, bool) {
	m.last = max(m.last, now.UnixNano())
	if m.last < m.blockedUntil {
		return Breach{Window: m.blockedBy, Until: time.Unix(0, m.blockedUntil)}, false
	}
	m.advance()
	for i, w := range m.windows {
		if m.within[i] >= w.Calls {
			return m.block(i), false
		}
	}
	return Breach{}, true
}

// block starts the block of the longest window that is full, window i or one
// behind it.
func (m *meter) block(i int) Breach {
	for j := i; j < len(m.windows); j++ {
		if m.within[j] < m.windows[j].Calls {
			continue
		}
		if until := m.last + int64(m.windows[j].Block); until >= m.blockedUntil {
			m.blockedUntil, m.blockedBy = until, m.windows[j]
		}
	}
	return Breach{Window: m.blockedBy, Until: time.Unix(0, m.blockedUntil)}
}

// advance drops what lies before the windows.
func (m *meter) advance() {
	keep := 0
	for i, w := range m.windows {
		if m.kind == Fixed {
			if start := m.last - m.last%int64(w.Length); start != m.start[i] {
				m.start[i], m.within[i] = start, 0
			}
			continue
		}
		for m.within[i] > 0 && m.log.newest(m.within[i]) <= m.last-int64(w.Length) {
			m.within[i]--
		}
		keep = max(keep, m.within[i])
	}
	m.log.keep(keep)
}

// count adds the call that check has just allowed. The caller holds mu.
func (m *meter) count() {
	for i := range m.windows {
		m.within[i]++
	}
	if m.kind != Fixed && len(m.windows) > 0 {
		m.log.push(m.last)
	}
}

// ring is a queue of times that grows as needed.
type ring struct {
	buf  []int64
	head int
	n    int
}

// newest returns the k-th newest entry, from 1.
func (r *ring) newest(k int) int64 { return r.buf[(r.head+r.n-k)%len(r.buf)] }

// keep drops all but the newest n entries.
func (r *ring) keep(n int) {
	if r.n > n {
		r.head = (r.head + r.n - n) % len(r.buf)
		r.n = n
	}
}

func (r *ring) push(t int64) {
	if r.n == len(r.buf) {
		grown := make([]int64, max(16, 2*r.n))
		for i := range r.n {
			grown[i] = r.buf[(r.head+i)%len(r.buf)]
		}
		r.buf, r.head = grown, 0
	}
	r.buf[(r.head+r.n)%len(r.buf)] = t
	r.n++
}
