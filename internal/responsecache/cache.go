// Package responsecache caches finished responses (Response) in a Cache, whose budget a cache in front of the handlers shares.
//
// The key of a response covers all that it depends on except the Moment: the catalog, the language, the currency and the
// operation. A Response carries the time during which it is valid, and what it was made from. So nothing needs
// invalidation, entries are evicted only for memory, and no entry holds data of a user: callers check access and choose
// the catalog before there is a key. It must not import the store or the APIs.
package responsecache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"portico/internal/cachekey"
	"portico/internal/dependency"
)

// Cache holds responses within a budget of bytes. Its methods are safe for concurrent use.
type Cache struct {
	entries      *otter.Cache[cachekey.Key, Entry] // nil where nothing is kept; a *Response unless Set added it
	hits, misses atomic.Uint64

	mu    sync.Mutex
	calls map[callKey]*call
}

// Entry is what a Cache holds within its budget: a *Response, or what a cache in front knows of a request.
type Entry interface {
	Size() int // in bytes
}

// Lookup returns the entry of a name or key; nil if there is none.
func (r *Cache) Lookup(name cachekey.Key) Entry {
	if !r.Enabled() {
		return nil
	}
	kept, _ := r.entries.GetIfPresent(name)
	return kept
}

// Set adds an entry. Its name must not be the key of a response.
func (r *Cache) Set(name cachekey.Key, kept Entry) {
	if r.Enabled() {
		r.entries.Set(name, kept)
	}
}

// Add adds a response under a key, unless it has one already, and returns its key.
func (r *Cache) Add(key cachekey.Key, resp *Response) cachekey.Key {
	if !r.Enabled() {
		return key
	}
	if !resp.place.CompareAndSwap(nil, &place{r, key}) {
		return resp.place.Load().key
	}
	r.entries.Set(key, resp)
	return key
}

// weighAgain measures the size of an entry again, because it has changed.
func (r *Cache) weighAgain(name cachekey.Key) {
	r.entries.ComputeIfPresent(name, func(kept Entry) (Entry, otter.ComputeOp) { return kept, otter.WriteOp })
}

// CountHit counts a request that was answered by an entry of Lookup.
func (r *Cache) CountHit() { r.hits.Add(1) }

// Moment is when a response is requested, and in which state of the data.
type Moment struct {
	Time  time.Time
	State dependency.State
}

// callKey is the key of a response that is being built in a state.
type callKey struct {
	name cachekey.Key
	turn uint64
}

// call is a response that is being built.
type call struct {
	done chan struct{}
	resp *Response // set before done is closed, like err
	err  error
}

// NewCache returns a cache of a number of bytes. With 0 it caches nothing.
func NewCache(budget uint64) *Cache {
	r := &Cache{calls: map[callKey]*call{}}
	if budget > 0 {
		r.entries = otter.Must(&otter.Options[cachekey.Key, Entry]{
			MaximumWeight: budget,
			Weigher: func(name cachekey.Key, kept Entry) uint32 {
				return uint32(min(entryOverhead+name.Size()+kept.Size(), 1<<31))
			},
		})
	}
	return r
}

// maxBodyBytes is the size limit of cached bodies: a few larger ones would evict all others. Concurrent requests share them
// all the same.
const maxBodyBytes = 1 << 20

// entryOverhead is the size of a key and its place in the cache, in bytes.
const entryOverhead = 160

// Enabled reports whether the cache caches anything.
func (r *Cache) Enabled() bool { return r != nil && r.entries != nil }

// Get returns the cached response of a key that is valid at a moment; nil if there is none.
func (r *Cache) Get(name cachekey.Key, at Moment) *Response {
	if !r.Enabled() {
		return nil
	}
	entry, _ := r.entries.GetIfPresent(name)
	if kept, ok := entry.(*Response); ok && kept.ValidAt(at) {
		r.hits.Add(1)
		return kept
	}
	return nil
}

// Do returns the cached response of a key that is valid at a moment, else what write returns, and caches it. Concurrent calls
// with the same key and state wait for one of them to call write. A response that is not valid at the moment is neither
// cached nor shared. All of them get its error, which is not cached; but after a panic, or if the context of the caller ended,
// each calls write itself.
func (r *Cache) Do(ctx context.Context, name cachekey.Key, at Moment, write func() (*Response, error)) (*Response, error) {
	if !r.Enabled() {
		return write()
	}
	if kept := r.Get(name, at); kept != nil {
		return kept, nil
	}
	r.misses.Add(1)
	r.mu.Lock()
	id := callKey{name, at.State.Turn()}
	under, joined := r.calls[id]
	if !joined {
		under = &call{done: make(chan struct{})}
		r.calls[id] = under
	}
	r.mu.Unlock()
	if !joined {
		return r.build(id, at, under, write)
	}
	select {
	case <-under.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case under.resp != nil && under.resp.ValidAt(at):
		return under.resp, nil
	case under.err != nil && !isCallerError(under.err):
		return nil, under.err
	}
	return write()
}

// build builds a response for all who wait for it.
func (r *Cache) build(id callKey, at Moment, f *call, write func() (*Response, error)) (*Response, error) {
	defer func() { // after a panic too
		r.mu.Lock()
		delete(r.calls, id)
		r.mu.Unlock()
		close(f.done)
	}()
	answer, err := write()
	f.resp, f.err = answer, err
	if err == nil && answer.ValidAt(at) && len(answer.Body) <= maxBodyBytes {
		r.Add(id.name, answer)
	}
	return answer, err
}

// isCallerError reports whether an error concerns only the request that got it.
func isCallerError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Stats counts hits and misses since the start, and the bytes in use.
type Stats struct{ Hits, Misses, Bytes uint64 }

// Stats returns the statistics.
func (r *Cache) Stats() Stats {
	s := Stats{Hits: r.hits.Load(), Misses: r.misses.Load()}
	if r.Enabled() {
		r.entries.CleanUp() // includes recent entries in the size
		s.Bytes = r.entries.WeightedSize()
	}
	return s
}
