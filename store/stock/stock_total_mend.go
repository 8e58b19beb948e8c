package stock

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
)

// linesOff is how many more lines a ledger has than its record tells.
const linesOff = `(SELECT COUNT(*) FROM stock_transaction WHERE stock_transaction.product_id = stock.product_id) - lines`

// MendTotals counts the lines of all ledgers once a day, and mends what the
// stock records tell of them where that is something else, as promotions' are
// mended.
func MendTotals(s *StockService, actor store.Actor) db.Sweep {
	type counted struct {
		product string
		off     int
	}
	scan := func(rows *sql.Rows) (key []any, c counted, err error) {
		err = rows.Scan(&c.product, &c.off)
		return []any{c.product}, c, err
	}
	return db.Sweep{Name: "totals of ledgers", Every: 24 * time.Hour, Run: func(ctx context.Context) error {
		return db.EachPage(ctx, s.db.Reader, "stock", "product_id, "+linesOff, []string{"product_id"}, scan, func(list []counted) (err error) {
			for _, c := range list {
				if c.off != 0 && err == nil {
					s.db.Log.Warn("the total of a ledger was wrong, and is mended", "product", c.product, "lines", c.off)
					err = s.mendTotal(ctx, actor, c.product)
				}
			}
			return err
		})
	}}
}

// mendTotal looks once more: of two that mend, the one that comes later finds
// it right.
func (s *StockService) mendTotal(ctx context.Context, actor store.Actor, product string) error {
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		if _, err := stockRows(ctx, t.Session, []string{product}, t.ForUpdate("stock")); err != nil {
			return err
		}
		off, _, err := db.One(ctx, t.Session, db.Scalar[int], `SELECT `+linesOff+` FROM stock WHERE product_id = $1`, product)
		if err != nil {
			return err
		}
		return forgetLines(ctx, t, map[string]int{product: -off})
	})
}
