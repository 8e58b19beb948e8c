// Package answers keeps finished answers, so that one asked for again is
// written and not made.
//
// The promise on its door: nothing in this room is ever out of date, and
// nothing in it is anyone's. A key names everything that an answer follows
// from but the clock: the identity of a release, which never changes, the
// language, the currency, and what was asked. The clock is in the answer, as
// the time it holds for. So nothing is ever taken out for being wrong, only
// for want of room; and whoever asks must have been let in, and their release
// chosen, before there is a key.
package answers

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// Room keeps answers within a budget of bytes. Its methods may be called from
// many goroutines.
type Room struct {
	kept         *otter.Cache[string, *Answer] // nil where nothing is kept
	hits, misses atomic.Uint64

	mu      sync.Mutex
	flights map[string]*flight
}

// flight is an answer that is being made.
type flight struct {
	done   chan struct{}
	answer *Answer // set before done is closed, like err
	err    error
}

// NewRoom makes a room for so many bytes; with 0 nothing is kept, and each
// answer is made for the one who asks.
func NewRoom(budget uint64) *Room {
	r := &Room{flights: map[string]*flight{}}
	if budget > 0 {
		r.kept = otter.Must(&otter.Options[string, *Answer]{
			MaximumWeight: budget,
			Weigher:       func(key string, a *Answer) uint32 { return uint32(min(len(key)+a.size(), 1<<31)) },
		})
	}
	return r
}

// Keeps tells whether anything is kept at all.
func (r *Room) Keeps() bool { return r != nil && r.kept != nil }

// Get returns the answer that is kept under a key and holds at a moment; nil
// when there is none.
func (r *Room) Get(key string, at time.Time) *Answer {
	if !r.Keeps() {
		return nil
	}
	if kept, ok := r.kept.GetIfPresent(key); ok && kept.Holds(at) {
		r.hits.Add(1)
		return kept
	}
	return nil
}

// Do returns the answer that is kept under a key and holds at a moment, else
// what write makes, which is kept then. Those who ask for the same at the same
// time wait for one of them to make it. What does not hold at the moment it
// was asked for is not kept, nor shared. An error is told to all of them and
// kept for nobody; where it is that the maker's client has gone, or a panic,
// each of the others makes their own.
func (r *Room) Do(ctx context.Context, key string, at time.Time, write func() (*Answer, error)) (*Answer, error) {
	if !r.Keeps() {
		return write()
	}
	if kept := r.Get(key, at); kept != nil {
		return kept, nil
	}
	r.misses.Add(1)
	r.mu.Lock()
	under, joined := r.flights[key]
	if !joined {
		under = &flight{done: make(chan struct{})}
		r.flights[key] = under
	}
	r.mu.Unlock()
	if !joined {
		return r.fly(key, at, under, write)
	}
	select {
	case <-under.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case under.answer != nil && under.answer.Holds(at):
		return under.answer, nil
	case under.err != nil && !isAlone(under.err):
		return nil, under.err
	}
	return write()
}

// fly makes an answer for all who wait for it.
func (r *Room) fly(key string, at time.Time, f *flight, write func() (*Answer, error)) (*Answer, error) {
	defer func() { // a panic passes by here
		r.mu.Lock()
		delete(r.flights, key)
		r.mu.Unlock()
		close(f.done)
	}()
	answer, err := write()
	f.answer, f.err = answer, err
	if err == nil && answer.Holds(at) {
		r.kept.Set(key, answer)
	}
	return answer, err
}

// isAlone tells an error that only the one who got it has.
func isAlone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Stats is what became of the room so far: answers found, answers that had to
// be made, and the bytes it holds now.
type Stats struct{ Hits, Misses, Bytes uint64 }

// Stats returns them.
func (r *Room) Stats() Stats {
	s := Stats{Hits: r.hits.Load(), Misses: r.misses.Load()}
	if r.Keeps() {
		r.kept.CleanUp() // what was added of late is weighed
		s.Bytes = r.kept.WeightedSize()
	}
	return s
}
