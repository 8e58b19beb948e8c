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

// Cache holds responses within a budget of bytes. Its methods are safe for concurrent use. Lookup and Enabled accept a nil Cache.
type Cache struct {
	entries      boundedEntries // nil if nothing is cached; a *Response by its key, what Set added by its name
	hits, misses atomic.Uint64

	mu    sync.Mutex
	calls map[callKey]*call // those under way
}

// boundedEntries is the part of otter.Cache in use. Packages that import this one would each compile the cache again if its
// type were a field of Cache.
type boundedEntries interface {
	GetIfPresent(cachekey.Key) (Entry, bool)
	Set(cachekey.Key, Entry) (Entry, bool)
	ComputeIfPresent(cachekey.Key, func(Entry) (Entry, otter.ComputeOp)) (Entry, bool)
	CleanUp()
	WeightedSize() uint64
}

// Entry is what a Cache holds within its budget: a *Response, or what a cache in front knows of a request.
type Entry interface {
	Size() int // in bytes
}

// Lookup returns the entry of a name or key; nil if there is none.
func (c *Cache) Lookup(name cachekey.Key) Entry {
	if !c.Enabled() {
		return nil
	}
	kept, _ := c.entries.GetIfPresent(name)
	return kept
}

// Set adds an entry. Its name must not be the key of a response.
func (c *Cache) Set(name cachekey.Key, kept Entry) {
	if c.Enabled() {
		c.entries.Set(name, kept)
	}
}

// Add adds a response under a key, unless it is cached under one already, and returns the key that it has.
func (c *Cache) Add(key cachekey.Key, resp *Response) cachekey.Key {
	if !c.Enabled() {
		return key
	}
	if !resp.place.CompareAndSwap(nil, &place{c, key}) {
		return resp.place.Load().key
	}
	c.entries.Set(key, resp)
	return key
}

// weighAgain measures the size of an entry again, because it has changed.
func (c *Cache) weighAgain(name cachekey.Key) {
	c.entries.ComputeIfPresent(name, func(kept Entry) (Entry, otter.ComputeOp) { return kept, otter.WriteOp })
}

// CountHit counts a request that was answered by an entry of Lookup.
func (c *Cache) CountHit() { c.hits.Add(1) }

// Moment is when a response is requested, and in which state of the data.
type Moment struct {
	Time  time.Time
	State dependency.State
}

// callKey is the key of a response that is being built in a state.
type callKey struct {
	key  cachekey.Key
	turn uint64 // of Moment.State
}

// call is a response that is being built.
type call struct {
	done chan struct{}
	resp *Response // set before done is closed, like err
	err  error
}

// NewCache returns a cache of a number of bytes. With 0 it caches nothing.
func NewCache(budget uint64) *Cache {
	c := &Cache{calls: map[callKey]*call{}}
	if budget > 0 {
		c.entries = otter.Must(&otter.Options[cachekey.Key, Entry]{
			MaximumWeight: budget,
			Weigher: func(name cachekey.Key, kept Entry) uint32 {
				return uint32(min(entryOverhead+name.Size()+kept.Size(), 1<<31))
			},
		})
	}
	return c
}

// maxBodyBytes is the size limit of cached bodies: a few larger ones would evict all others. Concurrent requests share them
// all the same.
const maxBodyBytes = 1 << 20

// entryOverhead is the size of a key and its place in the cache, in bytes.
const entryOverhead = 160

// Enabled reports whether the cache caches anything.
func (c *Cache) Enabled() bool { return c != nil && c.entries != nil }

// Get returns the cached response of a key that is valid at a moment; nil if there is none.
func (c *Cache) Get(key cachekey.Key, at Moment) *Response {
	if !c.Enabled() {
		return nil
	}
	entry, _ := c.entries.GetIfPresent(key)
	if kept, ok := entry.(*Response); ok && kept.ValidAt(at) {
		c.hits.Add(1)
		return kept
	}
	return nil
}

// Do returns the cached response of a key that is valid at a moment, else what write returns, and caches it. Concurrent calls
// with the same key and state wait for one of them to call write. A response that is not valid at the moment is neither
// cached nor shared. All of them get its error, which is not cached; but after a panic, or if the context of the caller ended,
// each calls write itself.
func (c *Cache) Do(ctx context.Context, key cachekey.Key, at Moment, write func() (*Response, error)) (*Response, error) {
	if !c.Enabled() {
		return write()
	}
	if kept := c.Get(key, at); kept != nil {
		return kept, nil
	}
	c.misses.Add(1)
	c.mu.Lock()
	id := callKey{key, at.State.Turn()}
	running, joined := c.calls[id]
	if !joined {
		running = &call{done: make(chan struct{})}
		c.calls[id] = running
	}
	c.mu.Unlock()
	if !joined {
		return c.build(id, at, running, write)
	}
	select {
	case <-running.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case running.resp != nil && running.resp.ValidAt(at):
		return running.resp, nil
	case running.err != nil && !isCallerError(running.err):
		return nil, running.err
	}
	return write()
}

// build calls write for all calls of Do that wait for running, and caches the response.
func (c *Cache) build(id callKey, at Moment, running *call, write func() (*Response, error)) (*Response, error) {
	defer func() { // after a panic too
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
		close(running.done)
	}()
	resp, err := write()
	running.resp, running.err = resp, err
	if err == nil && resp.ValidAt(at) && len(resp.Body) <= maxBodyBytes {
		c.Add(id.key, resp)
	}
	return resp, err
}

// isCallerError reports whether an error concerns only the request that got it.
func isCallerError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Stats counts hits and misses since the start, and the bytes in use.
type Stats struct{ Hits, Misses, Bytes uint64 }

// Stats returns the statistics.
func (c *Cache) Stats() Stats {
	s := Stats{Hits: c.hits.Load(), Misses: c.misses.Load()}
	if c.Enabled() {
		c.entries.CleanUp() // includes recent entries in the size
		s.Bytes = c.entries.WeightedSize()
	}
	return s
}
