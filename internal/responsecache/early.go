package responsecache

import (
	"sync"
	"sync/atomic"

	"portico/internal/cachekey"
)

// earlyResponses are responses of a state that nobody is shown yet. They are beside the entries, which have the
// responses of the present state under the same keys, and become entries when they are first requested.
type earlyResponses struct {
	budget int          // in bytes
	count  atomic.Int64 // of byKey

	mu    sync.Mutex
	byKey map[cachekey.Key]*Response
	bytes int
}

// get returns the response of a key if it is valid at a moment; nil for none. It takes it out, unless the moment is
// early.
func (e *earlyResponses) get(key cachekey.Key, at Moment) *Response {
	if e.count.Load() == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	found := e.byKey[key]
	if found == nil || !found.ValidAt(at) {
		return nil
	}
	if !at.Early {
		e.remove(key, found)
	}
	return found
}

// set adds a response if the budget allows it.
func (e *earlyResponses) set(key cachekey.Key, response *Response) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if before := e.byKey[key]; before != nil {
		e.remove(key, before)
	}
	size := earlySize(key, response)
	if e.bytes+size > e.budget {
		return
	}
	if e.byKey == nil {
		e.byKey = map[cachekey.Key]*Response{}
	}
	e.byKey[key] = response
	e.bytes += size
	e.count.Add(1)
}

func (e *earlyResponses) remove(key cachekey.Key, response *Response) {
	delete(e.byKey, key)
	e.bytes -= earlySize(key, response)
	e.count.Add(-1)
}

// earlySize leaves out compressed bodies, which may be created meanwhile.
func earlySize(key cachekey.Key, response *Response) int {
	return entryOverhead + key.Size() + response.Size() - int(response.compressedBytes.Load())
}

// DropEarly removes the responses of early moments that nobody requested since. An eighth of the budget is for them,
// besides the budget.
func (r *Cache) DropEarly() {
	r.early.mu.Lock()
	defer r.early.mu.Unlock()
	r.early.byKey, r.early.bytes = nil, 0
	r.early.count.Store(0)
}

// Hottest calls visit for entries, those that are requested most first, until it returns false. visit must be short
// and must not use the cache.
func (r *Cache) Hottest(visit func(Entry) bool) {
	if !r.Enabled() {
		return
	}
	for found := range r.entries.Hottest() {
		if !visit(found.Value) {
			return
		}
	}
}

// Encoding returns the name of a compressed body that some client was sent, such as gzip; empty for none.
func (a *Response) Encoding() string {
	for i := range a.compressed {
		if a.compressed[i].sent.Load() {
			return encodings[i].Name
		}
	}
	return ""
}
