package wecom

import "container/list"

// bounded is a map that holds at most max entries and gives up the one that
// was not asked for longest. It is not safe for concurrent use.
type bounded[V any] struct {
	max     int
	entries map[string]boundedEntry[V]
	order   *list.List // of keys; front: asked for last
}

type boundedEntry[V any] struct {
	value V
	place *list.Element
}

func newBounded[V any](limit int) *bounded[V] {
	return &bounded[V]{max: limit, entries: make(map[string]boundedEntry[V]), order: list.New()}
}

// at returns the key's value, made by create when there is none.
func (b *bounded[V]) at(key string, create func() V) V {
	if value, ok := b.get(key); ok {
		return value
	}
	entry := boundedEntry[V]{value: create(), place: b.order.PushFront(key)}
	b.entries[key] = entry
	if b.order.Len() > b.max {
		oldest, _ := b.order.Remove(b.order.Back()).(string)
		delete(b.entries, oldest)
	}
	return entry.value
}

// get returns the key's value without making one.
func (b *bounded[V]) get(key string) (V, bool) {
	entry, ok := b.entries[key]
	if ok {
		b.order.MoveToFront(entry.place)
	}
	return entry.value, ok
}
