package shop

import "sync"

// catalogWatch notifies subscribers when another release may be served: after a publication
// or rollback, or a change of a rule.
type catalogWatch struct {
	mu          sync.Mutex
	subscribers map[chan struct{}]struct{}
}

// WatchCatalogs returns a channel that receives after changes of catalogs, rules or served
// releases, by any process. Several changes may be one receive. Call end to unsubscribe.
func (s *Store) WatchCatalogs() (changed <-chan struct{}, end func()) {
	w, wake := &s.catalogWatch, make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subscribers == nil {
		w.subscribers = map[chan struct{}]struct{}{}
	}
	w.subscribers[wake] = struct{}{}
	return wake, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.subscribers, wake)
	}
}

// watched reports whether there are subscribers.
func (w *catalogWatch) watched() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.subscribers) > 0
}

// notify notifies all subscribers.
func (w *catalogWatch) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wake := range w.subscribers {
		select {
		case wake <- struct{}{}:
		default: // already notified
		}
	}
}
