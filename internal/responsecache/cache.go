// Package answers keeps finished answers, so that one asked for again is
// written and not made.
//
// The promise on its door: nothing in this room is ever out of date, and
// nothing in it is anyone's. A key names everything that an answer follows
// from but the clock: the identity of a release, which never changes, the
// language, the currency, and what was asked. The clock is in the answer, as
// the time it holds for. A fragment of answers follows from content alone, and
// its key is a hash of that. So nothing is ever taken out for being wrong, only
// for want of room; and whoever asks must have been let in, and their release
// chosen, before there is a key.
package responsecache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// Cache keeps answers within a budget of bytes. Its methods may be called from
// many goroutines.
type Cache struct {
	entries                      *otter.Cache[key, entry] // nil where nothing is kept
	hits, misses                 atomic.Uint64
	fragmentHits, fragmentMisses atomic.Uint64 // fragments

	mu      sync.Mutex
	flights map[string]*flight
}

// key is an answer's, or a fragment's.
type key struct {
	name string
	step uint64
	hash [16]byte
}

// entry tells its size in bytes.
type entry interface{ size() int }

// flight is an answer that is being made.
type flight struct {
	done chan struct{}
	resp *Response // set before done is closed, like err
	err  error
}

// NewCache makes a room for so many bytes; with 0 nothing is kept, and each
// answer is made for the one who asks.
func NewCache(budget uint64) *Cache {
	r := &Cache{flights: map[string]*flight{}}
	if budget > 0 {
		r.entries = otter.Must(&otter.Options[key, entry]{
			MaximumWeight: budget,
			Weigher:       func(k key, kept entry) uint32 { return uint32(min(entryOverhead+len(k.name)+kept.size(), 1<<31)) },
		})
	}
	return r
}

// maxBodyBytes is the longest body that is kept, in bytes: a few larger ones would take
// the room of all others. Those who ask for it at the same time share it.
const maxBodyBytes = 1 << 20

// entryOverhead is what a key takes, and its place, in bytes.
const entryOverhead = 160

// Enabled tells whether anything is kept at all.
func (r *Cache) Enabled() bool { return r != nil && r.entries != nil }

// Get returns the answer that is kept under a key and holds at a moment; nil
// when there is none.
func (r *Cache) Get(name string, at time.Time) *Response {
	if !r.Enabled() {
		return nil
	}
	if kept, ok := r.entries.GetIfPresent(key{name: name}); ok && kept.(*Response).ValidAt(at) {
		r.hits.Add(1)
		return kept.(*Response)
	}
	return nil
}

// Fragment returns a part of answers that is kept; nil for none. step is how it
// was written, of names the content that it was written of: what follows from
// both alone holds for ever, and is nobody's.
func (r *Cache) Fragment(step uint64, of [16]byte) any {
	if kept, ok := r.entries.GetIfPresent(key{step: step, hash: of}); ok {
		r.fragmentHits.Add(1)
		return kept.(fragment).value
	}
	return nil
}

// SetFragment keeps one that had to be made, of a size in bytes.
func (r *Cache) SetFragment(step uint64, of [16]byte, made any, size int) {
	r.fragmentMisses.Add(1)
	r.entries.Set(key{step: step, hash: of}, fragment{made, size})
}

type fragment struct {
	value any
	bytes int
}

func (f fragment) size() int { return f.bytes }

// Do returns the answer that is kept under a key and holds at a moment, else
// what write makes, which is kept then. Those who ask for the same at the same
// time wait for one of them to make it. What does not hold at the moment it
// was asked for is not kept, nor shared. An error is told to all of them and
// kept for nobody; where it is that the maker's client has gone, or a panic,
// each of the others makes their own.
func (r *Cache) Do(ctx context.Context, name string, at time.Time, write func() (*Response, error)) (*Response, error) {
	if !r.Enabled() {
		return write()
	}
	if kept := r.Get(name, at); kept != nil {
		return kept, nil
	}
	r.misses.Add(1)
	r.mu.Lock()
	under, joined := r.flights[name]
	if !joined {
		under = &flight{done: make(chan struct{})}
		r.flights[name] = under
	}
	r.mu.Unlock()
	if !joined {
		return r.fly(name, at, under, write)
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

// fly makes an answer for all who wait for it.
func (r *Cache) fly(name string, at time.Time, f *flight, write func() (*Response, error)) (*Response, error) {
	defer func() { // a panic passes by here
		r.mu.Lock()
		delete(r.flights, name)
		r.mu.Unlock()
		close(f.done)
	}()
	answer, err := write()
	f.resp, f.err = answer, err
	if err == nil && answer.ValidAt(at) && len(answer.Body) <= maxBodyBytes {
		r.entries.Set(key{name: name}, answer)
	}
	return answer, err
}

// isCallerError tells an error that only the one who got it has.
func isCallerError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Stats is what became of the room so far: answers found, answers that had to
// be made, fragments found and made, and the bytes it holds now.
type Stats struct{ Hits, Misses, FragmentHits, FragmentMisses, Bytes uint64 }

// Stats returns them.
func (r *Cache) Stats() Stats {
	s := Stats{Hits: r.hits.Load(), Misses: r.misses.Load(), FragmentHits: r.fragmentHits.Load(), FragmentMisses: r.fragmentMisses.Load()}
	if r.Enabled() {
		r.entries.CleanUp() // what was added of late is weighed
		s.Bytes = r.entries.WeightedSize()
	}
	return s
}
