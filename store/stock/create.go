package stock

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// Create creates the stock record of a product, which need not exist yet, and adds
// the available units to its ledger.
//
// It returns INVALID for a malformed id, UNPROCESSABLE for a quantity out of range or an
// id that is the name of a resource, and CONFLICT if there is a record: only transactions
// change one, so that concurrent changes are not lost.
func (s *Service) Create(ctx context.Context, actor store.Actor, productID string, available int) (*Stock, error) {
	opening := Change{ProductID: productID, Action: StockSet, Quantity: available} // checked as a set, which may be 0
	if faults := opening.check(); len(faults) > 0 {
		return nil, faults
	}
	if ResourceName(productID) {
		return nil, store.Unprocessablef([]string{"product_id"}, "must be a product's id, got %q, which is the name of a resource", productID)
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Stock, error) {
		w := &stockWrite{Tx: t, store: s}
		// save, which counts the ledger entries, is not called: the row is written here, with an entry unless it is empty.
		row := &stockRow{Stock: Stock{ProductID: productID, Available: available, CreatedAt: t.Now, UpdatedAt: t.Now}, revision: 1, newEntries: min(available, 1)}
		fresh, err := t.Insert(ctx, stockRowInserter, 1, func(values []any, _ int) []any { return row.values(values) })
		if err != nil {
			return nil, err
		}
		if fresh == 0 {
			return nil, &store.Error{Code: store.Conflict, Reason: store.AlreadyExists, Path: []string{"product_id"}, Detail: "already has a stock record: \"" + productID + "\"; change it with a transaction"}
		}
		// The number of records: the total of their list, and how a load of the cache notices an incomplete restore.
		if _, err := t.Exec(ctx, `UPDATE counter SET value = value + 1 WHERE name = 'stock'`); err != nil {
			return nil, err
		}
		revisions, err := resumeLedgers(ctx, t, []string{productID}) // updates the row, so it comes after the insert
		if err != nil {
			return nil, err
		}
		row.revision = max(row.revision, revisions[productID])
		w.rows = []*stockRow{row}
		if available > 0 {
			opening.Action = StockIncrement // the ledger shows an increment from zero
			w.addEntry(actor, &opening, row.Stock, available, 0)
		}
		t.Record(store.NewAuditEvent(store.AuditStock, productID, store.AuditCreated, store.MemberChange{Path: []string{"available"}, After: store.Encode(available)}))
		return &row.Stock, w.finish(ctx)
	})
}
