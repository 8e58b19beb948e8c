package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"portico/store"
)

// WriteQueue gathers writes of one kind that wait, so that one transaction and
// one commit serve them all. The first to come leads: it begins a write, which
// takes whoever waits when its turn has come. Meanwhile the next ones gather,
// and when it is done their first leads.
//
// In is what is asked, Out what is answered.
type WriteQueue[In, Out any] struct {
	// write makes the requests that it can make, and sets the answer of each:
	// one that is wrong has its own error and changes nothing. It is ErrUnchanged
	// where nothing was written, and ErrAlone the answer of a request that is to
	// be tried alone. Another error is that of all of them, and it may run again.
	// What it locks it must lock in one order everywhere.
	Write func(ctx context.Context, t *Tx, group []*QueuedRequest[In, Out]) error

	// alone makes one request in a write of its own. nil is as write makes it.
	Alone func(r *QueuedRequest[In, Out])

	Size func(In) int // of a request, of which a write takes so many as come to most
	Most int

	mu      sync.Mutex
	waiting []*QueuedRequest[In, Out]
	led     bool          // one leads, or is about to
	full    chan struct{} // closed when the crowd is there; nil where nobody waits for it
	crowd   int           // who asked during the write before
	ended   time.Time     // that write
	took    time.Duration
}

// QueuedRequest is made as a whole or not at all.
type QueuedRequest[In, Out any] struct {
	Ctx   context.Context
	Actor store.Actor
	In    In

	Out  Out
	Err  error
	held bool          // to be made alone, by the one who asks
	done chan struct{} // closed when out or err is there, or it is held
	lead chan struct{} // closed when it is to lead
}

var (
	// ErrUnchanged rolls back a write that came to nothing, so that no disk has
	// to turn for it.
	ErrUnchanged = errors.New("nothing was changed")

	ErrAlone = errors.New("is to be tried alone")
)

// longestGather bounds how long a leader waits for others.
const longestGather = 2 * time.Millisecond

// Ask has a request made, together with those of others unless it is under an
// idempotency key, which is kept in a transaction of its own.
func (q *WriteQueue[In, Out]) Ask(ctx context.Context, s *DB, actor store.Actor, in In) (out Out, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	r := &QueuedRequest[In, Out]{Ctx: ctx, Actor: actor, In: in, done: make(chan struct{}), lead: make(chan struct{})}
	if store.KeyGiven(ctx) != nil || q.Size(in) > q.Most {
		q.makeAlone(s, r)
		return r.Out, r.Err
	}
	q.join(r)
	select {
	case <-r.lead:
		q.gather()
		q.makeTogether(ctx, s)
		<-r.done
	case <-r.done:
	}
	if r.held {
		q.makeHeld(s, r)
	}
	return r.Out, r.Err
}

// makeHeld makes a request alone whose group met rows that another transaction
// holds, which need not be its own. It waits for them, and keeps no other request
// waiting.
func (q *WriteQueue[In, Out]) makeHeld(s *DB, r *QueuedRequest[In, Out]) {
	r.Ctx = withLockMode(r.Ctx, lockMode{glance: true})
	if q.makeAlone(s, r); r.Err != nil {
		var none Out
		r.Out = none
	}
}

func (q *WriteQueue[In, Out]) join(r *QueuedRequest[In, Out]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	q.appoint()
	if q.full != nil && len(q.waiting) >= q.crowd {
		close(q.full)
		q.full = nil
	}
}

// appoint has the first one lead where none does.
func (q *WriteQueue[In, Out]) appoint() {
	if !q.led && len(q.waiting) > 0 {
		q.led = true
		close(q.waiting[0].lead)
	}
}

// gather waits for those who asked during the write before and were answered by
// it: they most likely ask again at once, and each half of the crowd would
// commit alone for ever. It takes no longer than that write did, from its end
// on, for then a commit is not dearer than the wait; one client waits for
// nobody.
func (q *WriteQueue[In, Out]) gather() {
	q.mu.Lock()
	rest := min(q.took, longestGather) - time.Since(q.ended)
	if len(q.waiting) >= q.crowd || rest <= 0 {
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

// take ends the wait of as many as fit in one write, the leader first.
func (q *WriteQueue[In, Out]) take() []*QueuedRequest[In, Out] {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.Size(q.waiting[n].In) <= q.Most) {
		size += q.Size(q.waiting[n].In)
		n++
	}
	group := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group
}

// pass ends the lead of one that made a group since a time.
func (q *WriteQueue[In, Out]) pass(made int, since time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.crowd, q.ended = made+len(q.waiting), time.Now()
	q.took = q.ended.Sub(since)
	q.led = false
	q.appoint()
}

// makeTogether makes what waits, and answers it. When that fails as a whole,
// each is tried alone.
func (q *WriteQueue[In, Out]) makeTogether(ctx context.Context, s *DB) {
	var group []*QueuedRequest[In, Out]
	var begun time.Time
	var tx *Tx
	err := s.Update(withLockMode(context.WithoutCancel(ctx), lockMode{once: true}), "", func(ctx context.Context, t *Tx) error {
		tx = t
		if group == nil { // else it runs again
			group, begun = q.take(), time.Now()
		}
		for _, r := range group {
			var none Out
			r.Out, r.Err = none, r.Ctx.Err()
		}
		return q.Write(ctx, t, group)
	})
	if group == nil {
		group, begun = q.take(), time.Now()
	}
	q.pass(len(group), begun)
	unchanged := errors.Is(err, ErrUnchanged)
	if unchanged {
		err = nil
	}
	for _, r := range group {
		switch {
		case err == nil && !errors.Is(r.Err, ErrAlone):
			if r.Err == nil && !unchanged {
				store.TellWrite(r.Ctx, tx.left)
			}
		case errors.Is(err, store.ErrHeld): // one of them waits for somebody, the others need not
			r.held = true
		case errors.Is(r.Err, ErrAlone), len(group) > 1 && !isTrouble(err):
			q.makeAlone(s, r)
		default:
			r.Err = err
		}
		r.answer()
	}
}

// answer ends the wait for a request.
func (r *QueuedRequest[In, Out]) answer() {
	if r.Err != nil {
		var none Out
		r.Out = none
	}
	close(r.done)
}

// makeAlone makes one request in a write of its own.
func (q *WriteQueue[In, Out]) makeAlone(s *DB, r *QueuedRequest[In, Out]) {
	if q.Alone != nil {
		q.Alone(r)
		return
	}
	r.Out, r.Err = UpdateOnce(r.Ctx, s, store.KeyGiven(r.Ctx), r.Actor, func(ctx context.Context, t *Tx) (Out, error) {
		r.Err = nil
		err := q.Write(ctx, t, []*QueuedRequest[In, Out]{r})
		if errors.Is(err, ErrUnchanged) {
			err = r.Err // which keeps no key
		}
		return r.Out, err
	})
}
