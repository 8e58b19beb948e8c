package stock

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// NewService returns a service whose cache may take so many bytes; 0 disables it.
func NewService(d *db.DB, bytes uint64) *Service {
	s := &Service{db: d, stockWatch: newStockWatch(), cache: newStockCache(bytes, d.Log)}
	s.transactions = newStockQueue(s)
	return s
}

// maxGroupChanges is about how many changes one transaction has.
const maxGroupChanges = 4096

// newStockQueue groups concurrent transactions: each record is read and written once per
// group.
func newStockQueue(s *Service) *stockQueue {
	return &stockQueue{MaxSize: maxGroupChanges, Size: func(b stockBatch) int { return len(b.changes) },
		Write: func(ctx context.Context, t *db.Tx, group []*stockRequest) error {
			return (&stockWrite{Tx: t, store: s}).transactAll(ctx, group)
		}}
}

// Transact makes all changes or none, and adds them to the ledger. Repeated products
// change in order. The result is in the order of changes.
//
// It returns INVALID for an unknown action, NOT_FOUND for a product without a record,
// CONFLICT if ExpectedAvailable differs, and UNPROCESSABLE for a quantity out of range or
// insufficient stock. It reports every wrong change, up to 20.
func (s *Service) Transact(ctx context.Context, actor store.Actor, changes []Change) ([]*Transaction, error) {
	if len(changes) == 0 || len(changes) > MaxStockChanges {
		return nil, store.Unprocessablef([]string{"changes"}, "must have between 1 and %d changes, got %d", MaxStockChanges, len(changes))
	}
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(changes[a].ProductID, changes[b].ProductID) })
	return s.transactions.Do(ctx, s.db, actor, stockBatch{changes, order})
}

// transactAll runs requests in their order, as WriteQueue.Write. A failed one gets its own error and changes nothing.
func (w *stockWrite) transactAll(ctx context.Context, group []*stockRequest) error {
	var products []string
	for _, r := range group {
		for i := range r.In.changes {
			if store.IsID(r.In.changes[i].ProductID) {
				products = append(products, r.In.changes[i].ProductID)
			}
		}
	}
	if err := w.lock(ctx, products); err != nil {
		return err
	}
	for _, r := range group {
		if r.Err == nil {
			r.Out, r.Err = w.transact(r.Actor, r.In.changes, r.In.order)
		}
	}
	if len(w.rows) == 0 {
		return db.ErrUnchanged
	}
	if err := w.save(ctx); err != nil {
		return err
	}
	return w.finish(ctx)
}
