package redisbudget

import (
	"sync"
	"time"
)

// memory holds what this instance last saw of each pair that is not full. Since
// a pair never moves backwards, handing the values to the next script call is
// always right, and repairs a Redis that lost its data or did not see the calls
// that were made without it.
type memory struct {
	mu     sync.Mutex
	limit  int
	known  map[string]levels // by keyring base
	offset time.Duration     // Redis's clock minus ours
	swept  time.Time
}

func newMemory(limit int) *memory {
	return &memory{limit: limit, known: make(map[string]levels)}
}

// of returns what is known of a pair; the zero value knows nothing.
func (m *memory) of(keys keyring) levels {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[keys.base]
}

// saw notes the levels of a pair at redisNow, Redis's instant that was read
// after the local instant at.
func (m *memory) saw(keys keyring, l levels, redisNow int64, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset = time.UnixMicro(redisNow).Sub(at)
	m.put(keys, l, redisNow)
}

// charge notes a call that this instance admitted by itself at the local
// instant at. Every instance paces itself at its share; counting each call as
// often as there are instances makes up for those that cannot be seen.
//
// Such a call takes the place of one that was booked ahead before Redis went
// away, so it is not added to what is booked: calls at the sustained rate leave
// an empty bucket behind, and nothing worse. Otherwise the tenant would pay for
// the bookings that nobody used, and stand still for up to the horizon once
// Redis is back.
func (m *memory) charge(keys keyring, p pair, instances int, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := at.Add(m.offset).UnixMicro()
	l := m.known[keys.base]
	cost := int64(instances) * p.common.every
	l.common = max(l.common, min(max(l.common, now), now+p.common.depth())+cost)
	m.put(keys, l, now)
}

// block notes the end of a block, a local instant.
func (m *memory) block(keys keyring, until, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.known[keys.base]
	l.blocked = max(l.blocked, until.Add(m.offset).UnixMicro())
	m.put(keys, l, at.Add(m.offset).UnixMicro())
}

// blockedUntil returns the end of the block that lasts at the local instant
// at; zero when none does.
func (m *memory) blockedUntil(keys keyring, at time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := time.UnixMicro(m.known[keys.base].blocked).Add(-m.offset)
	if !end.After(at) {
		return time.Time{}
	}
	return end
}

// put keeps l if it says more than a full pair does. mu is held.
func (m *memory) put(keys keyring, l levels, now int64) {
	l = l.latest(m.known[keys.base])
	if l.full(now) {
		delete(m.known, keys.base)
		return
	}
	if _, ok := m.known[keys.base]; !ok && len(m.known) >= m.limit && !m.sweep(now) {
		return
	}
	m.known[keys.base] = l
}

// sweep forgets the pairs that are full again, once a second at most, and
// reports whether there is room. mu is held.
func (m *memory) sweep(now int64) bool {
	at := time.UnixMicro(now)
	if since := at.Sub(m.swept); since >= 0 && since < time.Second {
		return false
	}
	m.swept = at
	for base, l := range m.known {
		if l.full(now) {
			delete(m.known, base)
		}
	}
	return len(m.known) < m.limit
}

func (l levels) full(now int64) bool {
	return l.common <= now && l.reserve <= now && l.blocked <= now
}
