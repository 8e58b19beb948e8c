package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"portico/store"
)

// WriteQueue groups concurrent writes of one kind into one transaction. The first
// caller leads: its write takes every request that waits when its turn comes. Requests
// that arrive meanwhile form the next group, led by the first of them. In is the input
// of a request, Out its result.
type WriteQueue[In, Out any] struct {
	// Write runs the requests of a group and sets Out or Err of each; a failed one must
	// change nothing. It returns ErrUnchanged if nothing was written, and sets Err to
	// ErrWriteAlone for a request that must be retried alone. Any other error fails the
	// whole group. It may run again. It must take locks in one global order.
	Write func(ctx context.Context, t *Tx, group []*QueuedRequest[In, Out]) error

	// WriteAlone runs one request in a write of its own. nil means with Write.
	WriteAlone func(r *QueuedRequest[In, Out])

	Size    func(In) int // size of a request
	MaxSize int          // largest total size of a group

	mu        sync.Mutex
	waiting   []*QueuedRequest[In, Out]
	hasLeader bool          // a leader runs or was chosen
	full      chan struct{} // closed when the group is complete; nil while nobody waits for it
	lastGroup int           // requests of the previous write, and those that waited at its end
	lastEnd   time.Time     // end of the previous write
	lastTook  time.Duration // of the previous write
}

// QueuedRequest is one request. It succeeds or fails as a whole.
type QueuedRequest[In, Out any] struct {
	Ctx   context.Context
	Actor store.Actor
	In    In

	Out          Out
	Err          error
	lockTimedOut bool          // timed out on a lock: its caller retries it alone
	done         chan struct{} // closed when Out, Err or lockTimedOut is set
	lead         chan struct{} // closed when it becomes the leader
}

var (
	// ErrUnchanged rolls back a write that changed nothing, which saves a disk sync.
	ErrUnchanged = errors.New("nothing was changed")
	// ErrWriteAlone is the error of a request that must be retried alone.
	ErrWriteAlone = errors.New("must be retried alone")
)

// maxGather bounds how long a leader waits for more requests. The callers of 32 requests need about
// 3 ms of one core to read their responses and to send the next requests.
const maxGather = 5 * time.Millisecond

// Do runs a request in a group. A request with an idempotency key runs alone, because
// the key is stored in its own transaction.
func (q *WriteQueue[In, Out]) Do(ctx context.Context, s *DB, actor store.Actor, in In) (out Out, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	r := &QueuedRequest[In, Out]{Ctx: ctx, Actor: actor, In: in, done: make(chan struct{}), lead: make(chan struct{})}
	if store.IdempotencyKeyOf(ctx) != nil || q.Size(in) > q.MaxSize {
		q.writeAlone(s, r)
		return r.Out, r.Err
	}
	q.join(r)
	select {
	case <-r.lead:
		q.waitForGroup()
		q.writeGroup(ctx, s)
		<-r.done
	case <-r.done:
	}
	if r.lockTimedOut {
		q.writeLocked(s, r)
	}
	return r.Out, r.Err
}

// writeLocked retries a request alone after its group timed out on a lock, which another
// request of the group may need.
func (q *WriteQueue[In, Out]) writeLocked(s *DB, r *QueuedRequest[In, Out]) {
	r.Ctx = withLockMode(r.Ctx, lockMode{short: true})
	q.writeAlone(s, r)
	r.dropOutOnError()
}

// join adds a request, which becomes the leader if there is none, and ends waitForGroup if the group is complete.
func (q *WriteQueue[In, Out]) join(r *QueuedRequest[In, Out]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	q.promoteLeader()
	if q.full != nil && len(q.waiting) >= q.lastGroup {
		close(q.full)
		q.full = nil
	}
}

// promoteLeader makes the first request the leader if there is none.
func (q *WriteQueue[In, Out]) promoteLeader() {
	if !q.hasLeader && len(q.waiting) > 0 {
		q.hasLeader = true
		close(q.waiting[0].lead)
	}
}

// waitForGroup waits for the callers of the previous group, which most likely call again at
// once; otherwise two halves would commit alternately. It waits at most as long as the
// previous write took, counted from its end, and never with a single client.
func (q *WriteQueue[In, Out]) waitForGroup() {
	q.mu.Lock()
	rest := min(q.lastTook, maxGather) - time.Since(q.lastEnd)
	if len(q.waiting) >= q.lastGroup || rest <= 0 {
		q.mu.Unlock()
		return
	}
	full := make(chan struct{})
	q.full = full
	q.mu.Unlock()
	enough := time.NewTimer(rest)
	defer enough.Stop()
	select {
	case <-full:
	case <-enough.C:
		q.mu.Lock()
		q.full = nil
		q.mu.Unlock()
	}
}

// take removes and returns as many requests as fit, the leader first.
func (q *WriteQueue[In, Out]) take() []*QueuedRequest[In, Out] {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.Size(q.waiting[n].In) <= q.MaxSize) {
		size += q.Size(q.waiting[n].In)
		n++
	}
	group := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group
}

// stepDown ends the leadership, after a write of size requests that began at a time, and promotes the next leader.
func (q *WriteQueue[In, Out]) stepDown(size int, began time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lastGroup, q.lastEnd = size+len(q.waiting), time.Now()
	q.lastTook = q.lastEnd.Sub(began)
	q.hasLeader = false
	q.promoteLeader()
}

// writeGroup runs the waiting requests in one write, and ends the wait of their callers. If the write times out on a lock,
// each caller retries its request alone (writeLocked). If it fails for another reason than the database, or Write asks for
// it, the leader runs the requests alone. Another error is that of each request.
func (q *WriteQueue[In, Out]) writeGroup(ctx context.Context, s *DB) {
	var group []*QueuedRequest[In, Out]
	var begun time.Time
	var tx *Tx
	err := s.Update(withLockMode(context.WithoutCancel(ctx), lockMode{once: true}), "", func(ctx context.Context, t *Tx) error {
		tx = t
		if group == nil { // nil at the first attempt
			group, begun = q.take(), time.Now()
		}
		for _, r := range group {
			var none Out
			r.Out, r.Err = none, r.Ctx.Err()
		}
		return q.Write(ctx, t, group)
	})
	if group == nil { // Update failed before it called Write
		group, begun = q.take(), time.Now()
	}
	q.stepDown(len(group), begun)
	unchanged := errors.Is(err, ErrUnchanged)
	if unchanged {
		err = nil
	}
	for _, r := range group {
		switch {
		case err == nil && !errors.Is(r.Err, ErrWriteAlone): // Out or Err is set
			if r.Err == nil && !unchanged {
				store.ReportWrite(r.Ctx, tx.versions)
			}
		case errors.Is(err, store.ErrLockTimeout): // only some of the group need the lock
			r.lockTimedOut = true
		case errors.Is(r.Err, ErrWriteAlone), len(group) > 1 && !isDatabaseError(err):
			q.writeAlone(s, r)
		default:
			r.Err = err
		}
		r.finish()
	}
}

// finish ends the wait of the caller.
func (r *QueuedRequest[In, Out]) finish() {
	r.dropOutOnError()
	close(r.done)
}

// dropOutOnError makes a failed request return the zero value.
func (r *QueuedRequest[In, Out]) dropOutOnError() {
	if r.Err != nil {
		var none Out
		r.Out = none
	}
}

// writeAlone runs one request in a write of its own.
func (q *WriteQueue[In, Out]) writeAlone(s *DB, r *QueuedRequest[In, Out]) {
	if q.WriteAlone != nil {
		q.WriteAlone(r)
		return
	}
	r.Out, r.Err = UpdateOnce(r.Ctx, s, store.IdempotencyKeyOf(r.Ctx), r.Actor, func(ctx context.Context, t *Tx) (Out, error) {
		r.Err = nil
		err := q.Write(ctx, t, []*QueuedRequest[In, Out]{r})
		if errors.Is(err, ErrUnchanged) {
			err = r.Err // nil commits, and stores the key; an error stores none
		}
		return r.Out, err
	})
}
