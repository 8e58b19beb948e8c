package shop

import "sync"

// catalogWatch wakes those who want to know when another release may be served:
// a catalog was published or rolled back, or a rule was changed.
type catalogWatch struct {
	mu     sync.Mutex
	wanted map[chan struct{}]struct{}
}

// WatchCatalogs returns a channel that receives whenever catalogs, rules or
// what is served of them changed, whichever process changed it. Several changes
// may be one receipt. end ends it.
func (s *Store) WatchCatalogs() (changed <-chan struct{}, end func()) {
	w, wake := &s.catalogWatch, make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wanted == nil {
		w.wanted = map[chan struct{}]struct{}{}
	}
	w.wanted[wake] = struct{}{}
	return wake, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.wanted, wake)
	}
}

// wake wakes them.
func (w *catalogWatch) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wake := range w.wanted {
		select {
		case wake <- struct{}{}:
		default: // it is to look anyway
		}
	}
}
