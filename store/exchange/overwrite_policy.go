package exchange

import (
	"context"
	"slices"

	"portico/store/authoring"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/settings"
	"portico/store/stock"
)

// overwritePolicy decides which lines may overwrite data that the running service writes: stock,
// ledgers and settings.
type overwritePolicy struct {
	options  ImportOptions
	ledger   *check.LedgerChecker
	settings bool // the stored settings are no longer those of a new database
}

func newOverwritePolicy(ctx context.Context, s *Service, options ImportOptions) (*overwritePolicy, error) {
	ledger, err := check.NewLedgerChecker(ctx, s.db, options.Stock)
	if err != nil {
		return nil, err
	}
	version, _, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT version FROM change WHERE topic = $1`, string(db.TopicSettings))
	return &overwritePolicy{options: options, ledger: ledger, settings: version > 1}, err // 1 is a new database
}

// writable returns the sources of a kind that may be written, including unchanged ones.
func (p *overwritePolicy) writable(ctx context.Context, w *authoring.Writer, kind string, sources []authoring.Source) ([]authoring.Source, error) {
	switch {
	case kind == "stock_transaction" && !p.options.Stock:
		return filtered(sources, func(line *stock.TransactionSource) bool { return !p.ledger.Of(line.ProductID).Skipping }), nil
	case kind == "stock" && !p.options.Stock:
		return p.writableStocks(ctx, w, sources)
	case kind == "settings" && !p.options.Settings && p.settings:
		same, err := settings.SameAsStored(ctx, w, sources)
		if err != nil || same {
			return sources, err
		}
		return nil, nil
	}
	return sources, nil
}

// writableStocks returns the records of new products, and of products whose record this
// import created from the file's ledger entries and nobody has written since. If an earlier
// import created it, the record may only set its times.
func (p *overwritePolicy) writableStocks(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]authoring.Source, error) {
	ids := make([]string, len(sources))
	for i, source := range sources {
		ids[i] = source.Key()
	}
	had, err := stock.StocksByID(ctx, w, ids)
	if err != nil {
		return nil, err
	}
	entries := map[string]int{} // stored ledger entries by product
	if made := slices.DeleteFunc(ids, func(id string) bool { return had[id] == nil || p.ledger.Of(id).Entries == 0 }); len(made) > 0 {
		if entries, err = stock.LockLedgerLengths(ctx, w, made); err != nil {
			return nil, err
		}
	}
	return filtered(sources, func(s *stock.Source) bool {
		had, ledger := had[s.ID], p.ledger.Of(s.ID)
		if had == nil || *s.Stock(had, w.Now) == *had {
			return true
		}
		same := s.Available == had.Available && s.Allocated == had.Allocated
		// As many stored entries as the file has, or fewer: an entry that is twice in a file counts twice.
		return ledger.Entries > 0 && int(ledger.Entries) >= entries[s.ID] && (ledger.Writing || same)
	}), nil
}

// filtered returns the sources, all of one type, that keep accepts.
func filtered[T authoring.Source](sources []authoring.Source, keep func(T) bool) []authoring.Source {
	var list []authoring.Source
	for _, source := range sources {
		if keep(source.(T)) {
			list = append(list, source)
		}
	}
	return list
}
