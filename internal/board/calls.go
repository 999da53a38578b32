package board

import (
	"sync"
	"time"
)

// TenantMinute is what a tenant asked of its budget in one minute, as one process
// saw it since it told last.
type TenantMinute struct {
	Tenant string
	Minute
}

// Calls counts what tenants ask of their budget until it is told, in bounded
// memory. It is safe for concurrent use.
type Calls struct {
	mu      sync.Mutex
	room    int
	pending map[callKey]*Minute
	lost    int
}

type callKey struct {
	tenant string
	minute int64 // since 1970
}

// NewCalls returns one with room for so many tenants' minutes; asks that find
// none are counted as lost.
func NewCalls(room int) *Calls { return &Calls{room: room, pending: map[callKey]*Minute{}} }

// Granted counts a call that may go.
func (c *Calls) Granted(now time.Time, tenant string) { c.count(now, tenant, Minute{Granted: 1}) }

// Refused counts an ask that has to wait.
func (c *Calls) Refused(now time.Time, tenant string) { c.count(now, tenant, Minute{Refused: 1}) }

func (c *Calls) count(now time.Time, tenant string, one Minute) {
	key := callKey{tenant, numberOf(now)}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.pending[key]
	if m == nil {
		if len(c.pending) >= c.room {
			c.lost++
			return
		}
		m = &Minute{At: time.Unix(key.minute*60, 0).UTC()}
		c.pending[key] = m
	}
	m.Granted += one.Granted
	m.Refused += one.Refused
}

// Take hands over at most limit tenants' minutes and forgets them, and says how
// many asks found no room since the last time. The others wait for the next.
func (c *Calls) Take(limit int) (minutes []TenantMinute, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, m := range c.pending {
		if len(minutes) == limit {
			break
		}
		minutes = append(minutes, TenantMinute{key.tenant, *m})
		delete(c.pending, key)
	}
	lost, c.lost = c.lost, 0
	return minutes, lost
}
