package exchange

import (
	"context"
	"hash/maphash"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/stock"
)

// ledgerCheck follows the balances that the stock transactions of a file come
// to, before any is written. It takes some 40 bytes of memory for each
// product with transactions.
type ledgerCheck struct {
	service  *ExchangeService
	seed     maphash.Seed
	balances map[uint64][2]int32 // available and allocated, by product
	fresh    bool                // the store has no stock, so nothing is there already
}

func newLedgerCheck(ctx context.Context, s *ExchangeService) (*ledgerCheck, error) {
	stocked, _, err := db.One(ctx, s.db.Reader, db.Scalar[int], `SELECT value FROM counter WHERE name = 'stock'`)
	return &ledgerCheck{service: s, seed: maphash.MakeSeed(), balances: map[uint64][2]int32{}, fresh: stocked == 0}, err
}

// check tells of each transaction that takes a balance out of its bounds. A
// line that the store has already counts for nothing, as when it is written.
func (c *ledgerCheck) check(ctx context.Context, batch []decoded) (list []ImportFault, err error) {
	var lines []decoded
	var ids, products []string
	for _, d := range batch {
		if line, ok := d.source.(*stock.StockTransactionSource); ok && len(d.faults) == 0 {
			lines, ids, products = append(lines, d), append(ids, line.ID), append(products, line.ProductID)
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	known, before, err := c.there(ctx, ids, products)
	if err != nil {
		return nil, err
	}
	for _, d := range lines {
		line := d.source.(*stock.StockTransactionSource)
		if known[line.ID] {
			continue
		}
		key := maphash.String(c.seed, line.ProductID)
		balance, seen := c.balances[key]
		b := &stock.Stock{Available: int(balance[0]), Allocated: int(balance[1])}
		if !seen {
			b = line.Opening(before[line.ProductID])
		}
		known[line.ID] = true
		line.Apply(b)
		if b.Available < 0 || b.Allocated < 0 || b.Total() > store.MaxStock {
			list = append(list, ImportFault{d.line, d.kind, store.Unprocessablef([]string{"quantity"},
				"must leave the product %q between 0 and %d units, not %d available and %d allocated; transactions stand in the order in which they were made, each once",
				line.ProductID, store.MaxStock, b.Available, b.Allocated)})
			b.Available, b.Allocated = max(0, min(b.Available, store.MaxStock)), max(0, min(b.Allocated, store.MaxStock)) // one fault is enough
		}
		c.balances[key] = [2]int32{int32(b.Available), int32(b.Allocated)}
	}
	return list, nil
}

// there reads what the store has of some lines and products.
func (c *ledgerCheck) there(ctx context.Context, ids, products []string) (known map[string]bool, before map[string]*stock.Stock, err error) {
	if c.fresh {
		return map[string]bool{}, nil, nil
	}
	w := &authoring.Writer{Tx: &db.Tx{Session: c.service.db.Reader}}
	if known, err = w.Existing(ctx, "stock_transaction", ids); err != nil {
		return nil, nil, err
	}
	before, err = stock.StocksByID(ctx, w, products)
	return known, before, err
}
