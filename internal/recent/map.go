// Package recent remembers what was used or asked lately, in bounded memory.
//
// It owns which entry of a Map is forgotten when there is no room, and who asks
// anew for an Answer. It refuses to own how long an entry of a Map is true: one
// that may become wrong carries its own time.
package recent

import (
	"container/list"
	"sync"
)

// Map keeps the most recently used entries, as many as its size and no more. It
// is safe for concurrent use.
type Map[K comparable, V any] struct {
	size    int
	mu      sync.Mutex
	entries map[K]*list.Element // of *entry[K, V]
	order   *list.List          // front: used last
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// NewMap returns an empty Map; size is 1 or more.
func NewMap[K comparable, V any](size int) *Map[K, V] {
	return &Map[K, V]{size: size, entries: make(map[K]*list.Element), order: list.New()}
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
// meanwhile. Of several callers at once all get the same. build must not use
// the Map.
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

// Delete forgets the entry of a key, if there is one.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if place, ok := m.entries[key]; ok {
		m.remove(place)
	}
}

// Len is how many entries there are.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.order.Len()
}

func (m *Map[K, V]) get(key K) (V, bool) {
	place, ok := m.entries[key]
	if !ok {
		var none V
		return none, false
	}
	m.order.MoveToFront(place)
	return m.at(place).value, true
}

func (m *Map[K, V]) put(key K, value V) {
	if place, ok := m.entries[key]; ok {
		m.order.MoveToFront(place)
		m.at(place).value = value
		return
	}
	m.entries[key] = m.order.PushFront(&entry[K, V]{key, value})
	if m.order.Len() > m.size {
		m.remove(m.order.Back())
	}
}

func (m *Map[K, V]) remove(place *list.Element) {
	m.order.Remove(place)
	delete(m.entries, m.at(place).key)
}

func (m *Map[K, V]) at(place *list.Element) *entry[K, V] { return place.Value.(*entry[K, V]) }
