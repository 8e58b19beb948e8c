package stock

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Delete deletes the stock record of a product and adds an entry to its ledger. The
// ledger stays readable by product id, and a new record continues it.
//
// It returns NOT_FOUND for a product without a record, and UNPROCESSABLE while units are
// allocated to orders.
func (s *Service) Delete(ctx context.Context, actor store.Actor, productID string) error {
	missing := store.NotFoundf([]string{"product_id"}, "has no stock record: %q", store.Abbreviate(productID))
	if !store.IsID(productID) {
		return missing
	}
	_, err := db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (deleted bool, err error) {
		w := &stockWrite{Tx: t, store: s}
		if err := w.lock(ctx, []string{productID}); err != nil {
			return false, err
		}
		row := w.found[productID]
		switch {
		case row == nil:
			return false, missing
		case row.Allocated > 0:
			return false, store.Unprocessablef([]string{"product_id"},
				"has %d allocated units: %q; deallocate them, then delete the stock record", row.Allocated, productID)
		}
		if _, err := w.change(actor, &Change{ProductID: productID, Action: StockSet, Reason: "deleted"}, row); err != nil {
			return false, err
		}
		row.deleted = true
		w.markChanged(row)
		if _, err := t.Exec(ctx, `
			INSERT INTO stock_deleted (product_id, created_at, deleted_at, revision, lines)
			SELECT product_id, created_at, $2, $3, lines + 1 FROM stock WHERE product_id = $1`,
			productID, store.Micros(row.UpdatedAt), row.revision); err != nil {
			return false, err
		}
		if _, err := t.Exec(ctx, `DELETE FROM stock WHERE product_id = $1`, productID); err != nil {
			return false, err
		}
		if _, err := t.Exec(ctx, `UPDATE counter SET value = value - 1 WHERE name = 'stock'`); err != nil {
			return false, err
		}
		t.Record(store.NewAuditEvent(store.AuditStock, productID, store.AuditDeleted))
		return true, w.finish(ctx)
	})
	return err
}

// resumeLedgers lets newly inserted records continue the ledgers of deleted records of the same products: it adds their
// lengths, and sets a revision after the last one, which it returns by product. Call it after the insert, which waits for
// uncommitted deletions.
func resumeLedgers(ctx context.Context, t *db.Tx, products []string) (revisions map[string]int64, err error) {
	revisions = map[string]int64{}
	type deleted struct {
		product         string
		revision, lines int64
	}
	found, err := db.CollectIn(ctx, t.Session, func(rows *sql.Rows) (d deleted, err error) {
		return d, rows.Scan(&d.product, &d.revision, &d.lines)
	}, slices.Sorted(slices.Values(products)), `DELETE FROM stock_deleted WHERE product_id IN ($in) RETURNING product_id, revision, lines`)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b deleted) int { return strings.Compare(a.product, b.product) })
	for _, d := range found {
		revisions[d.product] = d.revision + 1
		if _, err := t.Exec(ctx, `UPDATE stock SET revision = $2, lines = lines + $3 WHERE product_id = $1`, d.product, d.revision+1, d.lines); err != nil {
			return nil, err
		}
	}
	return revisions, nil
}
