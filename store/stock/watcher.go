package stock

import "portico/store/db"

// stockWatch notifies subscribers of stock changes: of this process's writes after their
// commit, of others' when the poll reads them for the cache. While the cache is not
// followed, it reads the watched products itself, once for all subscribers.
type stockWatch struct {
	*db.Notifier[stockRow]

	// Used by the poll loop only.
	lanes       map[db.Topic]int64 // at the last read of the watched products
	cacheBehind bool               // the cache was not followed since
}

func newStockWatch() *stockWatch {
	// Cells hold only the lowest bits of a revision.
	later := func(state, known stockRow) bool { return int32(uint32(state.revision)-uint32(known.revision)) > 0 }
	return &stockWatch{Notifier: db.NewNotifier(later), cacheBehind: true}
}

// StockWatcher is a subscription to the stock of products.
type StockWatcher struct{ *db.Subscription[stockRow] }

// stock returns a copy of the record.
func (r *stockRow) stock() *Stock {
	stock := r.Stock
	return &stock
}

// Newest returns the newest stock of a product that changed, and a function that marks it
// as delivered; nil if there is none.
func (w *StockWatcher) Newest() (stock *Stock, took func()) {
	row, ok := w.Subscription.Newest()
	if !ok {
		return nil, nil
	}
	return row.stock(), func() { w.Ack(row) }
}

// publishAll publishes versions of records to their watchers.
func (w *stockWatch) publishAll(rows []stockRow) {
	for i := range rows {
		w.Publish(rows[i].ProductID, rows[i])
	}
}
