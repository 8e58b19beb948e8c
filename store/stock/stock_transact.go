package stock

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/db"
)

// stockWrite is one write to stock: the records it has locked, what becomes of
// them, and the lines that it enters in the ledger.
type stockWrite struct {
	*db.Tx
	store *StockService

	found map[string]*stockRow
	rows  []*stockRow // those that are changed
	lines []*StockTransaction
}

// lock finds the records of products, which nobody else changes from now on.
// They are locked in the order of their ids everywhere, or two writes deadlock.
func (w *stockWrite) lock(ctx context.Context, products []string) error {
	w.found = make(map[string]*stockRow, len(products))
	slices.Sort(products)
	return store.Chunked(slices.Compact(products), 512, func(ids []string) error {
		rows, err := stockRows(ctx, w.Session, ids, w.ForUpdate("stock"))
		for i := range rows {
			w.found[rows[i].ProductID] = &rows[i]
		}
		return err
	})
}

// transact makes changes in an order, all or none, and tells what is wrong
// with each: first what is so whatever there is, then what does not go with
// the balances. Once a change is wrong, those of the same product after it are
// not tried: what is there for them is not known.
func (w *stockWrite) transact(actor store.Actor, changes []StockChange, order []int) ([]*StockTransaction, error) {
	var faulty store.Errors
	wrong := make([]bool, len(changes))
	for i := range changes {
		for _, fault := range changes[i].check() {
			wrong[i] = true
			faulty = append(faulty, fault.At("changes", strconv.Itoa(i)))
		}
	}
	made := make([]*StockTransaction, len(changes))
	before := make([]Stock, 0, len(changes)) // to take it all back
	lines := len(w.lines)
	var untold map[string]bool // products
	for _, i := range order {
		product := changes[i].ProductID
		if !wrong[i] && !untold[product] {
			row := w.found[product]
			if row != nil {
				before = append(before, row.Stock)
			}
			var refused *store.Error
			if made[i], refused = w.change(actor, &changes[i], row); refused == nil {
				continue
			}
			faulty = append(faulty, refused.At("changes", strconv.Itoa(i)))
		}
		if untold == nil {
			untold = map[string]bool{}
		}
		untold[product] = true
	}
	if len(faulty) == 0 {
		for _, was := range before {
			w.revise(w.found[was.ProductID])
		}
		return made, nil
	}
	for _, was := range slices.Backward(before) {
		w.found[was.ProductID].Stock = was
	}
	w.lines = w.lines[:lines]
	return nil, faulty.Truncated()
}

// change makes one change to a balance, nil where there is none, and enters it
// in the ledger.
func (w *stockWrite) change(actor store.Actor, change *StockChange, row *stockRow) (*StockTransaction, *store.Error) {
	if row == nil {
		return nil, store.NotFoundf([]string{"product_id"}, "has no stock record: %q; create one first", change.ProductID)
	}
	if !change.fits(&row.Stock) {
		return nil, stockRefused(change, &row.Stock)
	}
	toAvailable, toAllocated := change.deltas(row.Available)
	row.Available += toAvailable
	row.Allocated += toAllocated
	if w.Now.After(row.UpdatedAt) { // which never goes back, whatever waited for whom
		row.UpdatedAt = w.Now
	}
	return w.enter(actor, change, row.Stock, toAvailable, toAllocated), nil
}

// revise has a record written, once.
func (w *stockWrite) revise(row *stockRow) {
	if !row.revised {
		row.revised = true
		row.revision++
		w.rows = append(w.rows, row)
	}
}

// enter adds a line to the ledger; after is the balance that the change left.
func (w *stockWrite) enter(actor store.Actor, change *StockChange, after Stock, toAvailable, toAllocated int) *StockTransaction {
	line := &StockTransaction{
		ID: store.NewID(), ProductID: change.ProductID, Action: change.Action, Quantity: change.Quantity,
		AvailableDelta: toAvailable, AllocatedDelta: toAllocated,
		Reason: change.Reason, Reference: change.Reference, Actor: actor, Stock: &after,
		CreatedAt: after.UpdatedAt,
	}
	w.lines = append(w.lines, line)
	return line
}

var (
	stockRowUpsert = db.NewInserter("stock", strings.Split(stockRowInsertColumns, ", "), `
		ON CONFLICT (product_id) DO UPDATE
		SET available = excluded.available, allocated = excluded.allocated, updated_at = excluded.updated_at, revision = excluded.revision,
		    lines = stock.lines + excluded.lines`)
	stockRowInsert  = db.NewInserter("stock", strings.Split(stockRowInsertColumns, ", "), ` ON CONFLICT (product_id) DO NOTHING`)
	stockLineInsert = db.NewInserter("stock_transaction", strings.Split(stockTransactionColumns, ", "), "")
)

// save writes the records, with how many lines are entered of each.
func (w *stockWrite) save(ctx context.Context) error {
	for _, line := range w.lines {
		w.found[line.ProductID].entered++
	}
	slices.SortFunc(w.rows, func(a, b *stockRow) int { return strings.Compare(a.ProductID, b.ProductID) })
	_, err := w.Insert(ctx, stockRowUpsert, len(w.rows), func(values []any, n int) []any { return w.rows[n].values(values) })
	return err
}

// finish writes the ledger, leaves word of the records, and has this process
// know them once they are durable.
func (w *stockWrite) finish(ctx context.Context) error {
	if _, err := w.Insert(ctx, stockLineInsert, len(w.lines), func(values []any, n int) []any { return w.lines[n].values(values) }); err != nil {
		return err
	}
	products, states := make([]string, len(w.rows)), make([]stockRow, len(w.rows))
	for i, row := range w.rows {
		products[i], states[i] = row.ProductID, *row
	}
	taken, err := w.store.tellStocks(ctx, w.Tx, products)
	w.AfterCommit(func() {
		w.store.live.take(states, taken)
		w.store.stockWatch.tellAll(states)
	})
	return err
}
