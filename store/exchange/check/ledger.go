package check

import (
	"context"
	"hash/maphash"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/stock"
)

// LedgerChecker adds up the stock transactions of a file before any is written. It takes
// about 50 bytes for each product with transactions.
type LedgerChecker struct {
	db       *db.DB
	seed     maphash.Seed
	products map[uint64]ledgerState
	fresh    bool // the store has no stock yet, so nothing is read from it
	write    bool // write new entries in any case (ImportOptions.Stock)
	Skipped  int  // new entries that are skipped
}

// ledgerState is the sum of a product's entries.
type ledgerState struct {
	available, allocated int32 // the balance after the entries so far, once Writing
	Entries              int32 // entries of the file that are or will be stored
	unexplained          int32 // stored entries that the file has not shown yet
	Writing              bool  // there was a new entry, so the rest is checked
	Skipping             bool  // the service wrote its stock, so new entries are skipped
}

// NewLedgerChecker returns a checker without entries.
func NewLedgerChecker(ctx context.Context, d *db.DB, write bool) (*LedgerChecker, error) {
	stocked, _, err := db.One(ctx, d.Reader, db.Scalar[int], `SELECT value FROM counter WHERE name = 'stock'`)
	return &LedgerChecker{db: d, seed: maphash.MakeSeed(), products: map[uint64]ledgerState{}, fresh: stocked == 0, write: write}, err
}

// Of returns the state of a product; zero if it has no entries.
func (c *LedgerChecker) Of(product string) ledgerState {
	return c.products[maphash.String(c.seed, product)]
}

// begin decides at the first new entry of a product whether its new entries are written, and reads the balance before it. An
// existing record gets new ones only if the file showed its whole ledger before: then an interrupted import made it. had is
// the record, nil if there is none.
func (c *LedgerChecker) begin(state *ledgerState, line *stock.TransactionSource, had *stock.Stock) {
	if state.Writing || state.Skipping {
		return
	}
	state.Skipping = had != nil && !c.write && (state.Entries == 0 || state.unexplained > 0)
	state.Writing = !state.Skipping
	opening := line.Opening(had)
	state.available, state.allocated = int32(opening.Available), int32(opening.Allocated)
}

// Check reports each transaction that takes a balance out of range. Entries that are
// already stored do not count.
func (c *LedgerChecker) Check(ctx context.Context, batch []Line) (list []ImportError, err error) {
	var lines []Line
	var ids, products []string
	for _, d := range batch {
		if line, ok := d.Source.(*stock.TransactionSource); ok && len(d.Errors) == 0 {
			lines, ids, products = append(lines, d), append(ids, line.ID), append(products, line.ProductID)
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	known, before, entered, err := c.existing(ctx, ids, products)
	if err != nil {
		return nil, err
	}
	added := map[string]bool{} // ids of new entries in this batch
	for _, d := range lines {
		line := d.Source.(*stock.TransactionSource)
		if added[line.ID] {
			continue
		}
		key := maphash.String(c.seed, line.ProductID)
		state, seen := c.products[key]
		if !seen {
			state.unexplained = int32(entered[line.ProductID])
		}
		if known[line.ID] {
			state.Entries++
			state.unexplained--
			c.products[key] = state
			continue
		}
		c.begin(&state, line, before[line.ProductID])
		if state.Skipping {
			c.Skipped++
			c.products[key] = state
			continue
		}
		b := &stock.Stock{Available: int(state.available), Allocated: int(state.allocated)}
		added[line.ID] = true
		line.Apply(b)
		if b.Available < 0 || b.Allocated < 0 || b.Total() > stock.MaxStock {
			list = append(list, ImportError{Line: d.Number, Type: d.Kind, Err: store.Unprocessablef([]string{"quantity"},
				"must leave the product %q between 0 and %d units, got %d available and %d allocated; list each transaction once, in order",
				line.ProductID, stock.MaxStock, b.Available, b.Allocated)})
			b.Available, b.Allocated = max(0, min(b.Available, stock.MaxStock)), max(0, min(b.Allocated, stock.MaxStock)) // report once
		}
		state.available, state.allocated = int32(b.Available), int32(b.Allocated)
		state.Entries++
		c.products[key] = state
	}
	return list, nil
}

// existing reads what the store has: which entries, and of each product the stock record and the number of entries.
func (c *LedgerChecker) existing(ctx context.Context, ids, products []string) (known map[string]bool, before map[string]*stock.Stock, entered map[string]int, err error) {
	if c.fresh {
		return nil, nil, nil, nil
	}
	w := &authoring.Writer{Tx: &db.Tx{Session: c.db.Reader}}
	if known, err = w.Existing(ctx, "stock_transaction", ids); err != nil {
		return nil, nil, nil, err
	}
	if entered, err = stock.LedgerLengths(ctx, c.db.Reader, products); err != nil {
		return nil, nil, nil, err
	}
	before, err = stock.StocksByID(ctx, w, products)
	return known, before, entered, err
}
