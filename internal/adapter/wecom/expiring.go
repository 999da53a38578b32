package wecom

import "time"

// expiring is a map whose entries end. It sweeps when it has doubled since the
// last sweep, so its size stays within twice that of what is alive. The zero
// value is empty; it is not safe for concurrent use.
type expiring[V any] struct {
	entries map[string]expiringEntry[V]
	sweepAt int
}

type expiringEntry[V any] struct {
	value V
	ends  time.Time
}

func (m *expiring[V]) get(key string, now time.Time) (V, bool) {
	entry, ok := m.entries[key]
	if !ok || !now.Before(entry.ends) {
		delete(m.entries, key)
		var none V
		return none, false
	}
	return entry.value, true
}

func (m *expiring[V]) put(key string, value V, ends, now time.Time) {
	if m.entries == nil {
		m.entries = make(map[string]expiringEntry[V])
	}
	m.entries[key] = expiringEntry[V]{value, ends}
	if len(m.entries) <= m.sweepAt {
		return
	}
	for other, entry := range m.entries {
		if !now.Before(entry.ends) {
			delete(m.entries, other)
		}
	}
	m.sweepAt = max(64, 2*len(m.entries))
}

func (m *expiring[V]) remove(key string) { delete(m.entries, key) }
