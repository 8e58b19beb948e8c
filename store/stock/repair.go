package stock

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
)

// lengthError is the number of ledger entries minus the stored number.
const lengthError = `(SELECT COUNT(*) FROM stock_transaction WHERE stock_transaction.product_id = stock.product_id) - lines`

// RepairLedgerLengths compares the stored lengths of all ledgers with the entries once a day, and
// corrects them.
func (s *Service) RepairLedgerLengths(actor store.Actor) db.Sweep {
	type counted struct {
		product string
		off     int // lengthError
	}
	scan := func(rows *sql.Rows) (key []any, c counted, err error) {
		err = rows.Scan(&c.product, &c.off)
		return []any{c.product}, c, err
	}
	return db.Sweep{Name: "totals of ledgers", Every: 24 * time.Hour, Run: func(ctx context.Context) error {
		return db.EachPage(ctx, s.db.Reader, "stock", "product_id, "+lengthError, []string{"product_id"}, scan, func(list []counted) (err error) {
			for _, c := range list {
				if c.off != 0 && err == nil {
					s.db.Log.Warn("corrected the stored length of a stock ledger", "product", c.product, "lines", c.off)
					err = s.repairLedgerLength(ctx, actor, c.product)
				}
			}
			return err
		})
	}}
}

// repairLedgerLength counts again under a lock, because another server may have corrected it.
func (s *Service) repairLedgerLength(ctx context.Context, actor store.Actor, product string) error {
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		if _, err := stockRows(ctx, t.Session, []string{product}, t.ForUpdate("stock")); err != nil {
			return err
		}
		off, _, err := db.One(ctx, t.Session, db.Scalar[int], `SELECT `+lengthError+` FROM stock WHERE product_id = $1`, product)
		if err != nil {
			return err
		}
		return subtractEntries(ctx, t, map[string]int{product: -off})
	})
}
