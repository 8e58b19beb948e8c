package stock

import (
	"context"
	"maps"

	"portico/store"
	"portico/store/db"
)

// stockWatch tells those who watch products of their stock, from what passes by
// for liveStock: what this process wrote as it is durable, what others wrote as
// the poll reads it. Where the cells are not followed, it reads the products
// that are watched itself, once for all who watch.
type stockWatch struct {
	*db.Notifier[stockRow]

	// Of the poll alone.
	lanes  map[db.Topic]int64 // as they were when the products were last read
	behind bool               // the cells were not followed meanwhile
}

func newStockWatch() *stockWatch {
	// A process knows of the revision in its cells the lowest bits alone.
	later := func(told, known stockRow) bool { return int32(uint32(told.revision)-uint32(known.revision)) > 0 }
	return &stockWatch{Notifier: db.NewNotifier(later), behind: true}
}

// StockWatcher follows the stock of products.
type StockWatcher struct{ *db.Subscription[stockRow] }

// Stock is a state that a watcher is told.
func (r *stockRow) stock() *Stock {
	stock := r.Stock
	return &stock
}

// WatchStock follows the stock of products: of each that has a record as it is,
// then whenever it has changed, whichever process changed it. A record that was
// deleted has no units. The watcher must be closed.
func (s *StockService) WatchStock(ctx context.Context, productIDs []string) (*StockWatcher, error) {
	w := &StockWatcher{s.stockWatch.Subscribe(productIDs)} // before it is read, so that nothing is missed between
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

// Newest is the newest stock of a product that changed, and what takes it as
// told; nil when there is none.
func (w *StockWatcher) Newest() (stock *Stock, took func()) {
	row, ok := w.Subscription.Newest()
	if !ok {
		return nil, nil
	}
	return row.stock(), func() { w.Ack(row) }
}

// stockStates reads records with their revisions, from memory where they are
// there.
func (s *StockService) stockStates(ctx context.Context, ids []string) (rows []stockRow, err error) {
	if s.live.look(func(cells *stockCells) {
		for _, id := range ids {
			if cell := cells.find(id); cell != nil {
				rows = append(rows, stockRow{Stock: cell.stock(id), revision: int64(cell.revision)})
			}
		}
	}) {
		return rows, nil
	}
	err = store.Chunked(store.ValidIDs(ids), 512, func(ids []string) error {
		found, err := stockRows(ctx, s.db.Reader, ids, "")
		rows = append(rows, found...)
		return err
	})
	return rows, err
}

// tellAll takes in states.
func (w *stockWatch) tellAll(rows []stockRow) {
	for i := range rows {
		w.Publish(rows[i].ProductID, rows[i])
	}
}

// unfollowed is told at each look at the lanes at which the cells were not
// followed.
func (s *StockService) unfollowedStock(ctx context.Context, lanes map[db.Topic]int64) error {
	w := s.stockWatch
	w.behind = true
	if maps.Equal(lanes, w.lanes) {
		return nil
	}
	return s.readWatched(ctx, lanes)
}

// followed is told of what was read for the cells.
func (s *StockService) followedStock(ctx context.Context, lanes map[db.Topic]int64, rows []stockRow) error {
	w := s.stockWatch
	w.tellAll(rows)
	if !w.behind {
		w.lanes = lanes
		return nil
	}
	if err := s.readWatched(ctx, lanes); err != nil {
		return err
	}
	w.behind = false
	return nil
}

// readWatched reads all that is watched anew, from the database.
func (s *StockService) readWatched(ctx context.Context, lanes map[db.Topic]int64) error {
	if err := store.Chunked(s.stockWatch.SubscribedIDs(), 512, func(ids []string) error {
		rows, err := stockStatesOf(ctx, s.db.Reader, ids)
		s.stockWatch.tellAll(rows)
		return err
	}); err != nil {
		return err
	}
	s.stockWatch.lanes = lanes
	return nil
}
