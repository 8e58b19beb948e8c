package stock

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/db"
)

// stockWrite is a write to stock: the locked records, the changed ones, and the new ledger
// entries.
type stockWrite struct {
	*db.Tx
	store *Service

	found   map[string]*stockRow // locked records, by product
	rows    []*stockRow          // changed records
	entries []*Transaction       // to write to the ledger
}

// lock reads and locks the records of products, and sorts products. All writes lock in the order of ids, to avoid deadlocks.
func (w *stockWrite) lock(ctx context.Context, products []string) error {
	slices.Sort(products)
	rows, err := stockRows(ctx, w.Session, slices.Compact(products), w.ForUpdate("stock"))
	w.found = make(map[string]*stockRow, len(rows))
	for i := range rows {
		w.found[rows[i].ProductID] = &rows[i]
	}
	return err
}

// transact applies changes to the records in memory, in an order, all or none. It reports malformed changes first, then those
// that a record does not allow. After a failed change it skips later ones of the same product.
func (w *stockWrite) transact(actor store.Actor, changes []Change, order []int) ([]*Transaction, error) {
	var faulty store.Errors
	wrong := make([]bool, len(changes))
	for i := range changes {
		for _, fault := range changes[i].check() {
			wrong[i] = true
			faulty = append(faulty, fault.At("changes", strconv.Itoa(i)))
		}
	}
	made := make([]*Transaction, len(changes))
	before := make([]Stock, 0, len(changes)) // to undo the changes
	lines := len(w.entries)
	var failed map[string]bool // products with a failed change
	for _, i := range order {
		product := changes[i].ProductID
		if !wrong[i] && !failed[product] {
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
		if failed == nil {
			failed = map[string]bool{}
		}
		failed[product] = true
	}
	if len(faulty) == 0 {
		for _, was := range before {
			w.markChanged(w.found[was.ProductID])
		}
		return made, nil
	}
	for _, was := range slices.Backward(before) {
		w.found[was.ProductID].Stock = was
	}
	w.entries = w.entries[:lines]
	return nil, faulty.Truncated()
}

// change applies one change to a record, nil if missing, and adds a ledger entry.
func (w *stockWrite) change(actor store.Actor, change *Change, row *stockRow) (*Transaction, *store.Error) {
	if row == nil {
		return nil, store.NotFoundf([]string{"product_id"}, "has no stock record: %q; create one first", change.ProductID)
	}
	if !change.canApply(&row.Stock) {
		return nil, changeError(change, &row.Stock)
	}
	toAvailable, toAllocated := change.deltas(row.Available)
	row.Available += toAvailable
	row.Allocated += toAllocated
	if w.Now.After(row.UpdatedAt) { // updated_at never decreases
		row.UpdatedAt = w.Now
	}
	return w.addEntry(actor, change, row.Stock, toAvailable, toAllocated), nil
}

// markChanged marks a record as changed, with the next revision. Only the first call for a record does something.
func (w *stockWrite) markChanged(row *stockRow) {
	if !row.changed {
		row.changed = true
		row.revision++
		w.rows = append(w.rows, row)
	}
}

// addEntry adds a ledger entry; after is the record after the change.
func (w *stockWrite) addEntry(actor store.Actor, change *Change, after Stock, toAvailable, toAllocated int) *Transaction {
	line := &Transaction{
		ID: store.NewID(), ProductID: change.ProductID, Action: change.Action, Quantity: change.Quantity,
		AvailableDelta: toAvailable, AllocatedDelta: toAllocated,
		Reason: change.Reason, Reference: change.Reference, Actor: actor, Stock: &after,
		CreatedAt: after.UpdatedAt,
	}
	w.entries = append(w.entries, line)
	return line
}

var (
	stockRowUpserter = db.NewInserter("stock", strings.Split(stockRowInsertColumns, ", "), `
		ON CONFLICT (product_id) DO UPDATE
		SET available = excluded.available, allocated = excluded.allocated, updated_at = excluded.updated_at, revision = excluded.revision,
		    lines = stock.lines + excluded.lines`)
	stockRowInserter         = db.NewInserter("stock", strings.Split(stockRowInsertColumns, ", "), ` ON CONFLICT (product_id) DO NOTHING`)
	stockTransactionInserter = db.NewInserter("stock_transaction", strings.Split(stockTransactionColumns, ", "), "")
)

// save writes the changed records. It counts their new ledger entries, by which the database lengthens their ledgers.
func (w *stockWrite) save(ctx context.Context) error {
	for _, line := range w.entries {
		w.found[line.ProductID].newEntries++
	}
	slices.SortFunc(w.rows, func(a, b *stockRow) int { return strings.Compare(a.ProductID, b.ProductID) })
	_, err := w.Insert(ctx, stockRowUpserter, len(w.rows), func(values []any, n int) []any { return w.rows[n].values(values) })
	return err
}

// finish writes the ledger, publishes the change to other processes, and updates the cache and the watchers of this one after
// the commit. Call it last.
func (w *stockWrite) finish(ctx context.Context) error {
	if _, err := w.Insert(ctx, stockTransactionInserter, len(w.entries), func(values []any, n int) []any { return w.entries[n].values(values) }); err != nil {
		return err
	}
	products, states := make([]string, len(w.rows)), make([]stockRow, len(w.rows))
	for i, row := range w.rows {
		products[i], states[i] = row.ProductID, *row
	}
	taken, err := w.store.publishChange(ctx, w.Tx, products)
	w.AfterCommit(func() {
		w.store.cache.applyOwn(states, taken)
		w.store.stockWatch.publishAll(states)
	})
	return err
}
