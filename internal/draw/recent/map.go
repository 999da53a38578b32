// Package recent remembers what was used lately, in bounded memory.
//
// It owns which entries are forgotten when there is no room. It refuses to own
// how long an entry is true: an entry that may become wrong carries its own
// time.
package recent

import "sync"

// Map keeps at least the size most recently used entries and at most twice as
// many. It is safe for concurrent use.
//
// It has two generations. What is written or read goes into the young one; when
// that is full it becomes the old one, and the old one is forgotten. So nothing
// is linked or timed, and no access moves more than one entry.
type Map[K comparable, V any] struct {
	size       int
	mu         sync.Mutex
	young, old map[K]V
}

// NewMap returns an empty Map; size is 1 or more.
func NewMap[K comparable, V any](size int) *Map[K, V] {
	return &Map[K, V]{size: size, young: make(map[K]V)}
}

// Get returns the entry of a key and whether there is one.
func (m *Map[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(key)
}

// Put writes the entry of a key.
func (m *Map[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, value)
}

// GetOrPut returns the entry of a key; when there is none, the one that it made
// meanwhile. Of several callers at once all get the same.
func (m *Map[K, V]) GetOrPut(key K, build func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.get(key); ok {
		return value
	}
	value := build()
	m.put(key, value)
	return value
}

// Update replaces the entry of a key by what change makes of it. change is
// given the entry and whether there is one, and must not use the Map.
func (m *Map[K, V]) Update(key K, change func(V, bool) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, change(m.get(key)))
}

func (m *Map[K, V]) get(key K) (V, bool) {
	if value, ok := m.young[key]; ok {
		return value, true
	}
	value, ok := m.old[key]
	if ok {
		m.put(key, value)
	}
	return value, ok
}

func (m *Map[K, V]) put(key K, value V) {
	if _, there := m.young[key]; !there && len(m.young) >= m.size {
		m.old, m.young = m.young, make(map[K]V)
	}
	m.young[key] = value
}
