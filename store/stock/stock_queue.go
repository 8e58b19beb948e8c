package stock

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// stockBatch is changes all of which are made or none.
type stockBatch struct {
	changes []StockChange
	order   []int // of the changes, by product
}

type (
	stockQueue   = db.WriteQueue[stockBatch, []*StockTransaction]
	stockRequest = db.QueuedRequest[stockBatch, []*StockTransaction]
)

const stockGroup = 4096 // changes that are written together, about

// newStockQueue has one write make the transactions that wait: it reads each
// balance once and writes it once, however many sell of it.
func newStockQueue(s *StockService) *stockQueue {
	return &stockQueue{MaxSize: stockGroup, Size: func(b stockBatch) int { return len(b.changes) },
		Write: func(ctx context.Context, t *db.Tx, group []*stockRequest) error {
			return (&stockWrite{Tx: t, store: s}).transactAll(ctx, group)
		}}
}

// TransactStock makes all the changes or none, and writes the ledger with
// them. A product that comes twice is changed twice, in order. The answer is
// in the order of the changes.
//
// INVALID for an unknown action; NOT_FOUND for a product without a record;
// CONFLICT when ExpectedAvailable is not what is there; UNPROCESSABLE for a
// quantity out of bounds or too little stock. Every faulty change is told, of
// very many the first ones.
func (s *StockService) TransactStock(ctx context.Context, actor store.Actor, changes []StockChange) ([]*StockTransaction, error) {
	if len(changes) == 0 || len(changes) > MaxStockChanges {
		return nil, store.Unprocessablef([]string{"changes"}, "must hold between 1 and %d changes, not %d", MaxStockChanges, len(changes))
	}
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(changes[a].ProductID, changes[b].ProductID) })
	return s.sales.Do(ctx, s.db, actor, stockBatch{changes, order})
}

// transactAll makes the changes of requests in the order in which they came.
// A request that cannot be made has its own error, and changes nothing.
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
