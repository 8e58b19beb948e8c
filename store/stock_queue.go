package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// stockQueue gathers the transactions that wait, so that one write makes them
// all: it reads each balance once and writes it once, however many sell of it,
// and one commit serves them. The first to come leads: it begins a write,
// which takes whoever waits when its turn has come. Meanwhile the next one to
// come leads the next.
type stockQueue struct {
	mu      sync.Mutex
	waiting []*stockRequest
	led     bool // the first of them leads
}

// stockRequest is one batch of changes, all of which are made or none.
type stockRequest struct {
	ctx     context.Context
	actor   Actor
	changes []StockChange
	order   []int // of the changes, by product

	made []*StockTransaction
	err  error
	done chan struct{} // closed when made or err is there
	lead chan struct{} // closed when it is to lead
}

const stockGroup = 4096 // changes that are written together, about

// join puts a request in the queue.
func (q *stockQueue) join(r *stockRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	q.appoint()
}

// appoint has the first one lead where none does.
func (q *stockQueue) appoint() {
	if !q.led && len(q.waiting) > 0 {
		q.led = true
		close(q.waiting[0].lead)
	}
}

// take ends the wait of as many as fit in one write, the leader first.
func (q *stockQueue) take() []*stockRequest {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, changes := 0, 0
	for n < len(q.waiting) && (n == 0 || changes+len(q.waiting[n].changes) <= stockGroup) {
		changes += len(q.waiting[n].changes)
		n++
	}
	group := slices.Clone(q.waiting[:n])
	q.waiting, q.led = slices.Delete(q.waiting, 0, n), false
	q.appoint()
	return group
}

// TransactStock makes all the changes or none, and writes the ledger with
// them. A product that comes twice is changed twice, in order. The answer is
// in the order of the changes.
//
// INVALID for an unknown action; NOT_FOUND for a product without a record;
// CONFLICT when ExpectedAvailable is not what is there; UNPROCESSABLE for a
// quantity out of bounds or too little stock. Every faulty change is told, of
// very many the first ones.
func (s *Store) TransactStock(ctx context.Context, actor Actor, changes []StockChange) ([]*StockTransaction, error) {
	if len(changes) == 0 || len(changes) > MaxStockChanges {
		return nil, unprocessable([]string{"changes"}, "must hold between 1 and %d changes, not %d", MaxStockChanges, len(changes))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(changes[a].ProductID, changes[b].ProductID) })
	r := &stockRequest{ctx: ctx, actor: actor, changes: changes, order: order, done: make(chan struct{}), lead: make(chan struct{})}
	if ctx.Value(idempotencyKeyKey{}) != nil { // which is kept in a transaction of its own
		s.transactAlone(r)
		return r.made, r.err
	}
	s.sales.join(r)
	select {
	case <-r.lead:
		s.transactTogether(ctx)
		<-r.done
	case <-r.done:
	}
	return r.made, r.err
}

// transactTogether makes what waits, and answers it. When that fails as a
// whole, each is tried alone.
func (s *Store) transactTogether(ctx context.Context) {
	var group []*stockRequest
	err := s.update(context.WithoutCancel(ctx), "", func(ctx context.Context, t *tx) error {
		w, err := s.beginStock(ctx, t)
		if err != nil {
			return err
		}
		if group == nil { // else it runs again
			group = s.sales.take()
		}
		return w.transactAll(ctx, group)
	})
	if group == nil {
		group = s.sales.take()
	}
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	for _, r := range group {
		if err != nil && len(group) > 1 && !isClosed(s.closing) {
			s.transactAlone(r)
		} else if err != nil {
			r.made, r.err = nil, err
		}
		close(r.done)
	}
}

// transactAlone makes one request's changes in a write of its own.
func (s *Store) transactAlone(r *stockRequest) {
	if r.err = s.update(r.ctx, r.actor, func(ctx context.Context, t *tx) error {
		w, err := s.beginStock(ctx, t)
		if err != nil {
			return err
		}
		if err := w.transactAll(ctx, []*stockRequest{r}); !errors.Is(err, errUnchanged) {
			return err
		}
		return r.err // which keeps no key
	}, &r.made); r.err != nil {
		r.made = nil
	}
}

// errUnchanged rolls back a write that came to nothing, so that no disk has to
// turn for it.
var errUnchanged = errors.New("nothing was changed")

// transactAll makes the changes of requests in the order in which they came.
// A request that cannot be made has its own error, and changes nothing.
func (w *stockWrite) transactAll(ctx context.Context, group []*stockRequest) error {
	var products []string
	for _, r := range group {
		for i := range r.changes {
			if isID(r.changes[i].ProductID) {
				products = append(products, r.changes[i].ProductID)
			}
		}
	}
	if err := w.lock(ctx, products); err != nil {
		return err
	}
	for _, r := range group {
		if r.made, r.err = nil, r.ctx.Err(); r.err == nil {
			r.made, r.err = w.transact(r.actor, r.changes, r.order)
		}
	}
	if len(w.rows) == 0 {
		return errUnchanged
	}
	if err := w.save(ctx); err != nil {
		return err
	}
	return w.finish(ctx)
}
