package stock

import (
	"context"
	"maps"

	"portico/store"
	"portico/store/db"
)

// stockWatch notifies subscribers of stock changes: of this process's writes after their commit, of others' when a poll reads
// them.
//
// The cache follows the database if each poll reads the rows that other processes wrote, found by the versions of
// their lanes (change_feed.go). A cache that does not, because it is off or has just been dropped, leaves the watchers behind:
// readWatched reads them from the database until it follows again, once for all subscribers.
type stockWatch struct {
	*db.Notifier[stockRow]

	// Of cacheFollowed and cacheNotFollowed, which the poll loop alone calls.
	lanes       map[db.Topic]int64 // versions at the last read of the watched products
	cacheBehind bool               // the cache has not followed since that read
}

func newStockWatch() *stockWatch {
	// A record of the cache has only the lowest 32 bits of its revision.
	later := func(state, known stockRow) bool { return int32(uint32(state.revision)-uint32(known.revision)) > 0 }
	return &stockWatch{Notifier: db.NewNotifier(later), cacheBehind: true}
}

// Watcher is a subscription to the stock of products.
type Watcher struct{ *db.Subscription[stockRow] }

// stock returns a copy of the record.
func (r *stockRow) stock() *Stock {
	stock := r.Stock
	return &stock
}

// Newest returns the newest stock of a product that changed, and a function that marks it
// as delivered; nil if there is none.
func (w *Watcher) Newest() (stock *Stock, took func()) {
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

// Watch subscribes to the stock of products: first the current record of each, then
// every change, by any process. A deleted record has no units. Close the watcher when done.
func (s *Service) Watch(ctx context.Context, productIDs []string) (*Watcher, error) {
	w := &Watcher{s.stockWatch.Subscribe(productIDs)} // before the read, so that no change is missed
	rows, err := s.stockStates(ctx, productIDs)
	if err != nil {
		w.Close()
		return nil, err
	}
	for _, row := range rows {
		w.Offer(row.ProductID, row)
	}
	return w, nil
}

// Watched reports whether somebody watches stock.
func (s *Service) Watched() bool { return s.stockWatch.Subscribed() }

// stockStates reads records with their revisions, from the cache if possible.
func (s *Service) stockStates(ctx context.Context, ids []string) (rows []stockRow, err error) {
	if s.cache.view(func(cells *stockCells) {
		for _, id := range ids {
			if cell := cells.find(id); cell != nil {
				rows = append(rows, stockRow{Stock: cell.stock(id), revision: int64(cell.revision)})
			}
		}
	}) {
		return rows, nil
	}
	return stockRows(ctx, s.db.Reader, store.ValidIDs(ids), "")
}

// cacheNotFollowed is called by Follow for each poll that the cache does not follow. It reads the watched products if a lane
// has another version than at the last read.
func (s *Service) cacheNotFollowed(ctx context.Context, lanes map[db.Topic]int64) error {
	w := s.stockWatch
	w.cacheBehind = true
	if maps.Equal(lanes, w.lanes) {
		return nil
	}
	return s.readWatched(ctx, lanes)
}

// cacheFollowed is called by Follow with the rows that a poll read for the cache. The first time after cacheNotFollowed it
// reads the watched products once more, since rows may lack changes of the time in between.
func (s *Service) cacheFollowed(ctx context.Context, lanes map[db.Topic]int64, rows []stockRow) error {
	w := s.stockWatch
	w.publishAll(rows)
	if !w.cacheBehind {
		w.lanes = lanes
		return nil
	}
	if err := s.readWatched(ctx, lanes); err != nil {
		return err
	}
	w.cacheBehind = false
	return nil
}

// readWatched reads all watched products from the database.
func (s *Service) readWatched(ctx context.Context, lanes map[db.Topic]int64) error {
	rows, err := stockStatesOf(ctx, s.db.Reader, s.stockWatch.SubscribedIDs())
	s.stockWatch.publishAll(rows)
	if err != nil {
		return err
	}
	s.stockWatch.lanes = lanes
	return nil
}
