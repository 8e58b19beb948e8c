package stock

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// Kind is imported after the ledger, so that the ledger explains the balances.
var Kind = authoring.Kind{
	Name: "stock", Create: func() authoring.Source { return &Source{} },
	Write: writeStocks, Export: exportStocks,
	After: "stock_transaction", Column: "product_id",
	Inputs: store.PathRenames{{"available", "quantity"}},
}

// TransactionKind is the kind of ledger entries.
var TransactionKind = authoring.Kind{
	Name: "stock_transaction", Create: func() authoring.Source { return &TransactionSource{} },
	Write: writeStockTransactions, Export: exportStockTransactions, Ledger: true,
}

// writeStocks sets balances. It adds the difference from the ledger as an entry.
func writeStocks(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = resource.Key()
	}
	before, err := StocksByID(ctx, w, ids)
	if err != nil {
		return nil, err
	}
	var balances []balance
	var lines [][]any
	for _, resource := range sources {
		r := resource.(*Source)
		had, known := before[r.ID]
		if !known {
			had = &Stock{ProductID: r.ID, CreatedAt: w.Now, UpdatedAt: w.Now}
		}
		want := r.Stock(had, w.Now)
		if known && *want == *had {
			continue
		}
		entered := 0
		if want.Available != had.Available || want.Allocated != had.Allocated {
			lines = append(lines, []any{store.NewID(), r.ID, string(StockSet), want.Available, want.Available - had.Available,
				want.Allocated - had.Allocated, "import", "", string(w.Actor), store.Micros(w.Now)})
			entered = 1
		}
		balances = append(balances, balance{before[r.ID], want, entered})
		changed = append(changed, r.ID)
	}
	if err := putStocks(ctx, w, balances); err != nil {
		return nil, err
	}
	return changed, w.InsertRows(ctx, "stock_transaction", stockTransactionInsert, lines)
}

// Stock returns the record after the import: had with the units of the line, and with its times where it has them. Without
// a time, a change of units is one of now.
func (r *Source) Stock(had *Stock, now time.Time) *Stock {
	want := &Stock{ProductID: r.ID, Available: r.Available, Allocated: r.Allocated, CreatedAt: had.CreatedAt, UpdatedAt: had.UpdatedAt}
	if r.CreatedAt != "" {
		want.CreatedAt = store.StoredTime(r.CreatedAt)
	}
	switch {
	case r.UpdatedAt != "":
		want.UpdatedAt = store.StoredTime(r.UpdatedAt)
	case want.Available != had.Available || want.Allocated != had.Allocated:
		want.UpdatedAt = now
	}
	return want
}

// StocksByID reads records; products without one are missing.
func StocksByID(ctx context.Context, w *authoring.Writer, ids []string) (map[string]*Stock, error) {
	return stocksByID(ctx, w.Session, ids)
}

func stocksByID(ctx context.Context, in db.Session, ids []string) (map[string]*Stock, error) {
	stocks, err := db.CollectIn(ctx, in, scanStock, store.Unique(ids), `SELECT `+stockColumns+` FROM stock WHERE product_id IN ($in)`)
	return store.IndexBy(stocks, func(s *Stock) string { return s.ProductID }), err
}

// LedgerLengths reads the lengths of ledgers; products without a record are missing.
func LedgerLengths(ctx context.Context, in db.Session, ids []string) (map[string]int, error) {
	return ledgerLengths(ctx, in, ids, "")
}

// LockLedgerLengths is LedgerLengths, and locks the records until w commits.
func LockLedgerLengths(ctx context.Context, w *authoring.Writer, ids []string) (map[string]int, error) {
	return ledgerLengths(ctx, w.Session, ids, w.ForUpdate("stock"))
}

func ledgerLengths(ctx context.Context, in db.Session, ids []string, lock string) (map[string]int, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids))) // the same lock order everywhere
	lines, err := db.CollectIn(ctx, in, db.ScanPair[string, int], ids, `SELECT product_id, lines FROM stock WHERE product_id IN ($in) ORDER BY product_id`+lock)
	return db.PairMap(lines), err
}

// balance is a change of a record; had is nil for a new one.
type balance struct {
	had, want *Stock
	entered   int // ledger entries that the same import adds; the record counts them in its column lines
}

// putStocks writes each record only if it is unchanged since it was read; otherwise the whole write runs again
// (ErrRetryWrite). New records continue the ledgers of deleted ones and raise the counter. The products are added to
// Writer.StockChanged.
func putStocks(ctx context.Context, w *authoring.Writer, balances []balance) error {
	slices.SortFunc(balances, func(a, b balance) int { return strings.Compare(a.want.ProductID, b.want.ProductID) })
	var fresh [][]any
	for _, b := range balances {
		w.StockChanged = append(w.StockChanged, b.want.ProductID)
		row := []any{b.want.ProductID, b.want.Available, b.want.Allocated, store.Micros(b.want.CreatedAt), store.Micros(b.want.UpdatedAt), b.entered}
		if b.had == nil {
			fresh = append(fresh, row)
			continue
		}
		n, err := w.Exec(ctx, `
			UPDATE stock SET available = $2, allocated = $3, created_at = $4, updated_at = $5, lines = lines + $6, revision = revision + 1
			WHERE product_id = $1 AND available = $7 AND allocated = $8`, append(row, b.had.Available, b.had.Allocated)...)
		if err != nil {
			return err
		}
		if n == 0 {
			return db.ErrRetryWrite
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := w.InsertRows(ctx, "stock", strings.Split(stockColumns+", lines", ", "), fresh); err != nil {
		if w.DB.IsDuplicate(err) {
			return db.ErrRetryWrite
		}
		return err
	}
	created := make([]string, len(fresh))
	for i, row := range fresh {
		created[i] = row[0].(string)
	}
	if _, err := resumeLedgers(ctx, w.Tx, created); err != nil {
		return err
	}
	_, err := w.Exec(ctx, `UPDATE counter SET value = value + $1 WHERE name = 'stock'`, len(fresh))
	return err
}

// writeStockTransactions adds entries to the ledger and to the balances. It skips entries
// that exist, and those of a period that was carried over.
func writeStockTransactions(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	var ids, products []string
	for _, resource := range sources {
		line := resource.(*TransactionSource)
		ids, products = append(ids, line.ID), append(products, line.ProductID)
	}
	known, err := w.Existing(ctx, "stock_transaction", ids)
	if err != nil {
		return nil, err
	}
	before, err := StocksByID(ctx, w, products)
	if err != nil {
		return nil, err
	}
	carried, err := carriedOver(ctx, w.Session, products)
	if err != nil {
		return nil, err
	}
	var lines [][]any
	after, entered := map[string]*Stock{}, map[string]int{} // by product: the record after the entries, and their number
	for _, resource := range sources {
		r := resource.(*TransactionSource)
		if upTo, is := carried[r.ProductID]; known[r.ID] || is && store.Micros(store.StoredTime(r.CreatedAt)) <= upTo {
			continue
		}
		if after[r.ProductID] == nil {
			after[r.ProductID] = r.Opening(before[r.ProductID])
		}
		toAvailable, toAllocated := r.Apply(after[r.ProductID])
		entered[r.ProductID]++
		changed = append(changed, r.ID)
		lines = append(lines, []any{r.ID, r.ProductID, r.Action, r.Quantity, toAvailable, toAllocated,
			r.Reason, r.Reference, r.Actor, store.Micros(store.StoredTime(r.CreatedAt))})
	}
	var balances []balance
	for id, b := range after {
		if b.Available < 0 || b.Allocated < 0 || b.Total() > MaxStock {
			return nil, store.Unprocessablef(nil, "The stock transactions of the product %q result in %d available and %d allocated units. Put them in the order in which they were made.", id, b.Available, b.Allocated)
		}
		balances = append(balances, balance{before[id], b, entered[id]})
	}
	if err := putStocks(ctx, w, balances); err != nil {
		return nil, err
	}
	return changed, w.InsertRows(ctx, "stock_transaction", stockTransactionInsert, lines)
}

// Opening returns the record before the entry.
func (r *TransactionSource) Opening(had *Stock) *Stock {
	if had == nil {
		return &Stock{ProductID: r.ProductID, CreatedAt: store.StoredTime(r.CreatedAt)}
	}
	copied := *had
	return &copied
}

// Apply changes a record and returns the differences that the entry made. Its time becomes that of the record.
func (r *TransactionSource) Apply(b *Stock) (toAvailable, toAllocated int) {
	change := Change{Action: Action(r.Action), Quantity: r.Quantity}
	toAvailable, toAllocated = change.deltas(b.Available)
	toAllocated += r.Allocated
	b.Available, b.Allocated, b.UpdatedAt = b.Available+toAvailable, b.Allocated+toAllocated, store.StoredTime(r.CreatedAt)
	return toAvailable, toAllocated
}

func exportStocks(ctx context.Context, e *authoring.Exporter) error {
	scan := func(rows *sql.Rows) ([]any, *Stock, error) {
		stock, err := scanStock(rows)
		return []any{stock.ProductID}, stock, err
	}
	return authoring.EachRow(ctx, e, "product_id", "stock", stockColumns, []string{"product_id"}, scan, func(stocks []*Stock) error {
		for _, s := range stocks {
			if err := e.Line(store.Encode(Source{Type: "stock", ID: s.ProductID, Available: s.Available, Allocated: s.Allocated,
				Total: s.Total(), CreatedAt: store.FormatTime(s.CreatedAt), UpdatedAt: store.FormatTime(s.UpdatedAt)})); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportStockTransactions skips the ledgers of deleted records: importing them would
// create the records again. It writes none by id, since the entries of a ledger never change.
func exportStockTransactions(ctx context.Context, e *authoring.Exporter) error {
	if e.Only != nil {
		return nil
	}
	recorded := []db.Condition{{Clause: "EXISTS (SELECT 1 FROM stock WHERE stock.product_id = stock_transaction.product_id)"}}
	scan := func(rows *sql.Rows) ([]any, *Transaction, error) {
		line, err := scanStockTransaction(rows)
		return []any{store.Micros(line.CreatedAt), line.ID}, line, err
	}
	return db.EachPageWhere(ctx, e.In, "stock_transaction", recorded, stockTransactionColumns, []string{"created_at", "id"}, scan, func(lines []*Transaction) error {
		for _, l := range lines {
			r := TransactionSource{Type: "stock_transaction", ID: l.ID, ProductID: l.ProductID, Action: string(l.Action),
				Quantity: l.Quantity, Reason: l.Reason, Reference: l.Reference, Actor: string(l.Actor), CreatedAt: store.FormatTime(l.CreatedAt)}
			_, usual := (&Change{Action: l.Action, Quantity: l.Quantity}).deltas(0)
			r.Allocated = l.AllocatedDelta - usual
			if err := e.Line(store.Encode(r)); err != nil {
				return err
			}
		}
		return nil
	})
}
