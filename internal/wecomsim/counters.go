package wecomsim

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// CallCount is how many calls to one API ended in one way.
type CallCount struct {
	API     string `json:"api"`
	ErrCode int    `json:"errcode"`
	Fault   string `json:"fault,omitempty"` // "" is the plain answer
	Calls   uint64 `json:"calls"`
}

// Counters are totals since New, ClearRecords or Reset. They lose nothing to
// the bounds of the logs.
type Counters struct {
	Calls []CallCount `json:"calls"` // sorted by API, errcode, fault
	// Scans is how many customers scanned; ScansLost of them met nobody.
	Scans     uint64 `json:"scans"`
	ScansLost uint64 `json:"scans_lost"`
	// Events is how many callbacks were to be sent: delivered, given up after
	// all attempts, dropped on purpose, or still under way.
	Events    uint64 `json:"events"`
	Attempts  uint64 `json:"attempts"`
	Delivered uint64 `json:"delivered"`
	GivenUp   uint64 `json:"given_up"`
	Dropped   uint64 `json:"dropped"`
}

// Of returns the number of calls to an API that ended with the errcode, with
// or without a fault.
func (c Counters) Of(api string, errcode int) uint64 {
	var n uint64
	for _, count := range c.Calls {
		if count.API == api && count.ErrCode == errcode {
			n += count.Calls
		}
	}
	return n
}

// Counters returns the totals.
func (s *Sim) Counters() Counters { return s.counts.read() }

type counters struct {
	mu    sync.Mutex
	calls map[CallCount]uint64 // keys have Calls 0

	scans, scansLost, events, attempts, delivered, givenUp, dropped atomic.Uint64
}

func (c *counters) call(key CallCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[CallCount]uint64{}
	}
	c.calls[key]++
}

func (c *counters) read() Counters {
	c.mu.Lock()
	calls := make([]CallCount, 0, len(c.calls))
	for key, n := range c.calls {
		key.Calls = n
		calls = append(calls, key)
	}
	c.mu.Unlock()
	slices.SortFunc(calls, func(a, b CallCount) int {
		return cmp.Or(cmp.Compare(a.API, b.API), cmp.Compare(a.ErrCode, b.ErrCode), cmp.Compare(a.Fault, b.Fault))
	})
	return Counters{
		Calls: calls,
		Scans: c.scans.Load(), ScansLost: c.scansLost.Load(),
		Events: c.events.Load(), Attempts: c.attempts.Load(), Delivered: c.delivered.Load(),
		GivenUp: c.givenUp.Load(), Dropped: c.dropped.Load(),
	}
}

func (c *counters) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.calls, func(CallCount, uint64) bool { return true })
	for _, n := range []*atomic.Uint64{&c.scans, &c.scansLost, &c.events, &c.attempts, &c.delivered, &c.givenUp, &c.dropped} {
		n.Store(0)
	}
}
