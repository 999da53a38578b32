package wecom

import "container/list"

// bounded is a map that holds at most max entries and gives up the one that
// was not asked for longest. It is not safe for concurrent use.
type bounded[V any] struct {
	max     int
	entries map[string]*list.Element
	order   *list.List // front: asked for last
}

type boundedEntry[V any] struct {
	key   string
	value V
}

func newBounded[V any](limit int) *bounded[V] {
	return &bounded[V]{max: limit, entries: make(map[string]*list.Element), order: list.New()}
}

// at returns the key's value, made by create when there is none.
func (b *bounded[V]) at(key string, create func() V) V {
	if element, ok := b.entries[key]; ok {
		b.order.MoveToFront(element)
		return element.Value.(boundedEntry[V]).value
	}
	value := create()
	b.entries[key] = b.order.PushFront(boundedEntry[V]{key, value})
	if b.order.Len() > b.max {
		oldest := b.order.Back()
		b.order.Remove(oldest)
		delete(b.entries, oldest.Value.(boundedEntry[V]).key)
	}
	return value
}

// get returns the key's value without making one.
func (b *bounded[V]) get(key string) (V, bool) {
	element, ok := b.entries[key]
	if !ok {
		var none V
		return none, false
	}
	b.order.MoveToFront(element)
	return element.Value.(boundedEntry[V]).value, true
}
