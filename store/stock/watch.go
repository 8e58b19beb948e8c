package stock

import (
	"context"
	"maps"

	"portico/store"
	"portico/store/db"
)

// Watch subscribes to the stock of products: first the current record of each, then
// every change, by any process. A deleted record has no units. Close the watcher when done.
func (s *Service) Watch(ctx context.Context, productIDs []string) (*StockWatcher, error) {
	w := &StockWatcher{s.stockWatch.Subscribe(productIDs)} // before the read, so that no change is missed
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

// The cache follows the database if each poll reads the rows that other processes wrote, found by the versions of
// their lanes (change_feed.go). A cache that does not, because it is off or has just been dropped, leaves the watchers behind:
// they are read from the database until it follows again.

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
