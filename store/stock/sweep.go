package stock

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"
	"time"

	"portico/store"
	"portico/store/db"
)

// carryOverActor is the actor of entries that replace older ones.
const carryOverActor store.Actor = "system:carried-over"

// SweepLedger replaces all old ledger entries of a product by one that sets their sum, so
// that the ledger still adds up to the balance.
func (s *Service) SweepLedger(kept time.Duration) db.Sweep {
	return s.db.RetentionSweep("ledger", time.Hour, kept, s.carryOver, func(ctx context.Context, before int64, most int) (int, error) {
		// The newest old entries; before them are entries that were carried over.
		n, _, err := db.One(ctx, s.db.Reader, db.Scalar[int], `
			SELECT COUNT(*) FROM (
			    SELECT actor FROM stock_transaction WHERE created_at < $1 ORDER BY created_at DESC, id DESC LIMIT $2) AS newest
			WHERE actor <> $3`, before, most, string(carryOverActor))
		return n, err
	})
}

// carryOver finds the products with entries to carry over, by age.
func (s *Service) carryOver(ctx context.Context, before int64) error {
	old := []db.Condition{{Clause: "created_at < ?", Values: []any{before}}, {Clause: "actor <> ?", Values: []any{string(carryOverActor)}}}
	scan := func(rows *sql.Rows) (key []any, product string, err error) {
		var created int64
		var id string
		err = rows.Scan(&created, &id, &product)
		return []any{created, id}, product, err
	}
	return db.EachPageWhere(ctx, s.db.Reader, "stock_transaction", old, "created_at, id, product_id", []string{"created_at", "id"}, scan, func(products []string) error {
		return s.carryOverEach(ctx, store.Unique(products), before)
	})
}

// carryOverEach carries over the entries of products, as many in a transaction as its time allows. A product with more stays
// first.
func (s *Service) carryOverEach(ctx context.Context, products []string, before int64) error {
	sizer := s.db.NewBatchSizer()
	for len(products) > 0 {
		rest, lines := products, 0
		if err := s.db.Update(ctx, carryOverActor, func(ctx context.Context, t *db.Tx) error {
			return sizer.Run(func(rows int) (int, error) {
				rest, lines = products, 0 // the write may run again
				gone := map[string]int{}
				for len(rest) > 0 && lines < rows {
					n, err := carryOver(ctx, t, rest[0], before, rows)
					if err != nil {
						return 0, err
					}
					if n > 1 { // one remains
						gone[rest[0]] += n - 1
					}
					if lines += n; n < rows {
						rest = rest[1:]
					}
				}
				return lines, subtractEntries(ctx, t, gone)
			})
		}); err != nil {
			return err
		}
		db.AddSwept(ctx, int64(lines))
		db.Throttle(ctx)
		products = rest
	}
	return nil
}

// carryOver replaces the oldest entries of a product, at most so many, by one, and returns their number; 0 if there is nothing
// to replace. It keeps imported entries whose sum no entry can set: a negative one, or one above MaxStock.
func carryOver(ctx context.Context, t *db.Tx, product string, before int64, most int) (n int, err error) {
	lines, err := db.Collect(ctx, t.Session, scanStockTransaction, `
		SELECT `+stockTransactionColumns+` FROM stock_transaction
		WHERE product_id = $1 AND created_at < $2 ORDER BY created_at, id LIMIT $3`, product, before, most)
	if err != nil || len(lines) == 0 || len(lines) == 1 && lines[0].Actor == carryOverActor {
		return 0, err
	}
	last := lines[len(lines)-1]
	sum := &Transaction{ID: store.NewID(), ProductID: product, Action: StockSet, Reason: "carried over", Actor: carryOverActor, CreatedAt: last.CreatedAt}
	for _, line := range lines {
		sum.AvailableDelta += line.AvailableDelta
		sum.AllocatedDelta += line.AllocatedDelta
	}
	sum.Quantity = sum.AvailableDelta
	if sum.AvailableDelta < 0 || sum.AllocatedDelta < 0 || sum.AvailableDelta+sum.AllocatedDelta > MaxStock {
		return 0, nil
	}
	gone, err := t.Exec(ctx, `DELETE FROM stock_transaction WHERE product_id = $1 AND (created_at, id) <= ($2, $3)`, product, store.Micros(last.CreatedAt), last.ID)
	if err != nil {
		return 0, err
	}
	if gone != int64(len(lines)) {
		return 0, db.ErrRetryWrite
	}
	_, err = t.Insert(ctx, stockTransactionInserter, 1, func(values []any, _ int) []any { return sum.values(values) })
	return len(lines), err
}

// subtractEntries subtracts from the ledger lengths of records, in lock order and at the end of
// the write, so that sales wait only briefly.
func subtractEntries(ctx context.Context, t *db.Tx, gone map[string]int) error {
	for _, product := range slices.Sorted(maps.Keys(gone)) {
		n, err := t.Exec(ctx, `UPDATE stock SET lines = lines - $2 WHERE product_id = $1`, product, gone[product])
		if err == nil && n == 0 {
			_, err = t.Exec(ctx, `UPDATE stock_deleted SET lines = lines - $2 WHERE product_id = $1`, product, gone[product])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// carriedOver returns until when the ledgers of products were carried over, in
// microseconds; others are missing.
func carriedOver(ctx context.Context, in db.Session, products []string) (map[string]int64, error) {
	upTo, err := db.CollectIn(ctx, in, db.ScanPair[string, int64], store.Unique(products), `
		SELECT product_id, created_at FROM stock_transaction
		WHERE actor = $1 AND id IN (
		    SELECT (SELECT id FROM stock_transaction AS line WHERE line.product_id = stock.product_id ORDER BY created_at, id LIMIT 1)
		    FROM (SELECT product_id FROM stock UNION ALL SELECT product_id FROM stock_deleted) AS stock WHERE product_id IN ($in))`, string(carryOverActor))
	return db.PairMap(upTo), err
}

// SweepChanges deletes published changes that existed at the previous sweep. Processes
// further behind reload all stock.
func (s *Service) SweepChanges() db.Sweep {
	const every = 10 * time.Minute
	var mu sync.Mutex           // held during a sweep
	var seen map[db.Topic]int64 // versions of the lanes at the previous sweep
	var at time.Time            // of the previous sweep
	return db.Sweep{
		Name: "stock changes", Every: every,
		Run: func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			lanes, err := stockLanes(ctx, s.db.Reader)
			if err != nil || seen != nil && s.db.Now().Sub(at).Abs() < every {
				return err
			}
			for lane, version := range seen {
				if err := s.db.InBatches(ctx, "", func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
					return t.Exec(ctx, `
						DELETE FROM stock_change WHERE lane = $1 AND version IN (
						    SELECT version FROM stock_change WHERE lane = $1 AND version <= $2 ORDER BY version LIMIT $3)`, string(lane), version, rows)
				}); err != nil {
					return err
				}
			}
			seen, at = lanes, s.db.Now()
			return nil
		},
	}
}
