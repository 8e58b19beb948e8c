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
// to, before any is written. It takes some 50 bytes of memory for each
// product with transactions.
type ledgerCheck struct {
	service  *ExchangeService
	seed     maphash.Seed
	products map[uint64]ledgerState
	fresh    bool // the store has no stock, so nothing is there already
	write    bool // new lines are written whatever the store had
	left     int  // new lines of products whose stock stays as it is
}

// ledgerState is what the lines of a product come to.
type ledgerState struct {
	available, allocated int32
	lines                int32 // in the file, that the store has or will have
	unexplained          int32 // in the store, that the file has not shown yet
	begun                bool  // a line was new, so that the rest is checked
	stays                bool  // others have written its stock, so that new lines are left
}

func newLedgerCheck(ctx context.Context, s *ExchangeService, write bool) (*ledgerCheck, error) {
	stocked, _, err := db.One(ctx, s.db.Reader, db.Scalar[int], `SELECT value FROM counter WHERE name = 'stock'`)
	return &ledgerCheck{service: s, seed: maphash.MakeSeed(), products: map[uint64]ledgerState{}, fresh: stocked == 0, write: write}, err
}

// of is what the lines of a product come to; the zero state where there are none.
func (c *ledgerCheck) of(product string) ledgerState {
	return c.products[maphash.String(c.seed, product)]
}

// begin decides whether new lines of a product are written. A record that was
// there has new lines only if all that its ledger has stood in the file before
// them: then an import made it that was interrupted.
func (c *ledgerCheck) begin(state *ledgerState, line *stock.StockTransactionSource, had *stock.Stock) {
	if state.begun || state.stays {
		return
	}
	state.stays = had != nil && !c.write && (state.lines == 0 || state.unexplained > 0)
	state.begun = !state.stays
	opening := line.Opening(had)
	state.available, state.allocated = int32(opening.Available), int32(opening.Allocated)
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
	known, before, entered, err := c.there(ctx, ids, products)
	if err != nil {
		return nil, err
	}
	fresh := map[string]bool{} // that a line of this batch has
	for _, d := range lines {
		line := d.source.(*stock.StockTransactionSource)
		if fresh[line.ID] {
			continue
		}
		key := maphash.String(c.seed, line.ProductID)
		state, seen := c.products[key]
		if !seen {
			state.unexplained = int32(entered[line.ProductID])
		}
		if known[line.ID] {
			state.lines++
			state.unexplained--
			c.products[key] = state
			continue
		}
		if c.begin(&state, line, before[line.ProductID]); state.stays {
			c.left++
			c.products[key] = state
			continue
		}
		b := &stock.Stock{Available: int(state.available), Allocated: int(state.allocated)}
		fresh[line.ID] = true
		line.Apply(b)
		if b.Available < 0 || b.Allocated < 0 || b.Total() > store.MaxStock {
			list = append(list, ImportFault{d.line, d.kind, store.Unprocessablef([]string{"quantity"},
				"must leave the product %q between 0 and %d units, not %d available and %d allocated; transactions stand in the order in which they were made, each once",
				line.ProductID, store.MaxStock, b.Available, b.Allocated)})
			b.Available, b.Allocated = max(0, min(b.Available, store.MaxStock)), max(0, min(b.Allocated, store.MaxStock)) // one fault is enough
		}
		state.available, state.allocated = int32(b.Available), int32(b.Allocated)
		state.lines++
		c.products[key] = state
	}
	return list, nil
}

// there reads what the store has of some lines and products.
func (c *ledgerCheck) there(ctx context.Context, ids, products []string) (known map[string]bool, before map[string]*stock.Stock, entered map[string]int, err error) {
	if c.fresh {
		return nil, nil, nil, nil
	}
	w := &authoring.Writer{Tx: &db.Tx{Session: c.service.db.Reader}}
	if known, err = w.Existing(ctx, "stock_transaction", ids); err != nil {
		return nil, nil, nil, err
	}
	if entered, err = stock.LedgerLines(ctx, c.service.db.Reader, products); err != nil {
		return nil, nil, nil, err
	}
	before, err = stock.StocksByID(ctx, w, products)
	return known, before, entered, err
}
