package shop

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"portico/store"
)

// writeQueue gathers writes of one kind that wait, so that one transaction and
// one commit serve them all. The first to come leads: it begins a write, which
// takes whoever waits when its turn has come. Meanwhile the next ones gather,
// and when it is done their first leads.
//
// In is what is asked, Out what is answered.
type writeQueue[In, Out any] struct {
	// write makes the requests that it can make, and sets the answer of each:
	// one that is wrong has its own error and changes nothing. It is errUnchanged
	// where nothing was written, and errAlone the answer of a request that is to
	// be tried alone. Another error is that of all of them, and it may run again.
	// What it locks it must lock in one order everywhere.
	write func(ctx context.Context, t *tx, group []*queuedRequest[In, Out]) error

	// alone makes one request in a write of its own. nil is as write makes it.
	alone func(r *queuedRequest[In, Out])

	size func(In) int // of a request, of which a write takes so many as come to most
	most int

	mu      sync.Mutex
	waiting []*queuedRequest[In, Out]
	led     bool          // one leads, or is about to
	full    chan struct{} // closed when the crowd is there; nil where nobody waits for it
	crowd   int           // who asked during the write before
	ended   time.Time     // that write
	took    time.Duration
}

// queuedRequest is made as a whole or not at all.
type queuedRequest[In, Out any] struct {
	ctx   context.Context
	actor store.Actor
	in    In

	out  Out
	err  error
	done chan struct{} // closed when out or err is there
	lead chan struct{} // closed when it is to lead
}

var (
	// errUnchanged rolls back a write that came to nothing, so that no disk has
	// to turn for it.
	errUnchanged = errors.New("nothing was changed")

	errAlone = errors.New("is to be tried alone")
)

// longestGather bounds how long a leader waits for others.
const longestGather = 2 * time.Millisecond

// ask has a request made, together with those of others unless it is under an
// idempotency key, which is kept in a transaction of its own.
func (q *writeQueue[In, Out]) ask(ctx context.Context, s *Store, actor store.Actor, in In) (out Out, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	r := &queuedRequest[In, Out]{ctx: ctx, actor: actor, in: in, done: make(chan struct{}), lead: make(chan struct{})}
	if keyGiven(ctx) != nil || q.size(in) > q.most {
		q.makeAlone(s, r)
		return r.out, r.err
	}
	q.join(r)
	select {
	case <-r.lead:
		q.gather()
		q.makeTogether(ctx, s)
		<-r.done
	case <-r.done:
	}
	return r.out, r.err
}

func (q *writeQueue[In, Out]) join(r *queuedRequest[In, Out]) {
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
func (q *writeQueue[In, Out]) appoint() {
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
func (q *writeQueue[In, Out]) gather() {
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
func (q *writeQueue[In, Out]) take() []*queuedRequest[In, Out] {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.size(q.waiting[n].in) <= q.most) {
		size += q.size(q.waiting[n].in)
		n++
	}
	group := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group
}

// pass ends the lead of one that made a group since a time.
func (q *writeQueue[In, Out]) pass(made int, since time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.crowd, q.ended = made+len(q.waiting), time.Now()
	q.took = q.ended.Sub(since)
	q.led = false
	q.appoint()
}

// makeTogether makes what waits, and answers it. When that fails as a whole,
// each is tried alone.
func (q *writeQueue[In, Out]) makeTogether(ctx context.Context, s *Store) {
	var group []*queuedRequest[In, Out]
	var begun time.Time
	err := s.update(context.WithoutCancel(ctx), "", func(ctx context.Context, t *tx) error {
		if group == nil { // else it runs again
			group, begun = q.take(), time.Now()
		}
		for _, r := range group {
			var none Out
			r.out, r.err = none, r.ctx.Err()
		}
		return q.write(ctx, t, group)
	})
	if group == nil {
		group, begun = q.take(), time.Now()
	}
	q.pass(len(group), begun)
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	var apart errgroup.Group
	apart.SetLimit(heldAtOnce)
	defer apart.Wait()
	for _, r := range group {
		switch {
		case err == nil && !errors.Is(r.err, errAlone):
		case errors.Is(err, store.ErrHeld) && len(group) > 1: // one of them waits for somebody, the others need not
			apart.Go(func() error {
				q.makeAlone(s, r)
				r.answer()
				return nil
			})
			continue
		case errors.Is(r.err, errAlone), len(group) > 1 && !isTrouble(err):
			q.makeAlone(s, r)
		default:
			r.err = err
		}
		r.answer()
	}
}

// heldAtOnce is how many requests wait for rows that somebody holds, each in a
// transaction of its own, after they failed together.
const heldAtOnce = 4

// answer ends the wait for a request.
func (r *queuedRequest[In, Out]) answer() {
	if r.err != nil {
		var none Out
		r.out = none
	}
	close(r.done)
}

// makeAlone makes one request in a write of its own.
func (q *writeQueue[In, Out]) makeAlone(s *Store, r *queuedRequest[In, Out]) {
	if q.alone != nil {
		q.alone(r)
		return
	}
	r.out, r.err = updateOnce(r.ctx, s, keyGiven(r.ctx), r.actor, func(ctx context.Context, t *tx) (Out, error) {
		r.err = nil
		err := q.write(ctx, t, []*queuedRequest[In, Out]{r})
		if errors.Is(err, errUnchanged) {
			err = r.err // which keeps no key
		}
		return r.out, err
	})
}
