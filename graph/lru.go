package graph

import "container/list"

// lru keeps values within a budget of bytes: those that were asked for last.
// One goroutine at a time may call its methods.
type lru[V any] struct {
	budget int
	bytes  int
	order  *list.List // of *kept[V], the latest in front
	places map[string]*list.Element
	leave  func(key string, value V) // is called for each that leaves
}

type kept[V any] struct {
	key   string
	value V
	size  int
}

func newLRU[V any](budget int, leave func(string, V)) *lru[V] {
	return &lru[V]{budget: budget, order: list.New(), places: map[string]*list.Element{}, leave: leave}
}

// find returns what is kept under a key; ok is false for nothing.
func (l *lru[V]) find(key []byte) (value V, ok bool) {
	place, ok := l.places[string(key)] // which copies nothing
	if !ok {
		return value, false
	}
	l.order.MoveToFront(place)
	return place.Value.(*kept[V]).value, true
}

// add keeps a value of a size in bytes, and returns the one that is kept:
// another request may have been as quick.
func (l *lru[V]) add(key string, value V, size int) V {
	if place, ok := l.places[key]; ok {
		return place.Value.(*kept[V]).value
	}
	l.places[key] = l.order.PushFront(&kept[V]{key, value, size})
	l.bytes += size
	for l.bytes > l.budget && l.order.Len() > 1 {
		l.drop(l.order.Back())
	}
	return value
}

// remove keeps a key no longer, if it was kept.
func (l *lru[V]) remove(key string) {
	if place, ok := l.places[key]; ok {
		l.drop(place)
	}
}

func (l *lru[V]) drop(place *list.Element) {
	leaving := l.order.Remove(place).(*kept[V])
	delete(l.places, leaving.key)
	l.bytes -= leaving.size
	l.leave(leaving.key, leaving.value)
}
