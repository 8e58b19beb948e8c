package exchange

import (
	"context"
	"slices"

	"portico/store/authoring"
	"portico/store/db"
	"portico/store/settings"
	"portico/store/stock"
)

// keptLive decides which lines of a file an import writes over what the
// service itself writes while it runs: stock, its ledger, and the settings.
type keptLive struct {
	options  ImportOptions
	ledger   *ledgerCheck
	settings bool // somebody has set the settings
}

func newKeptLive(ctx context.Context, s *ExchangeService, options ImportOptions) (*keptLive, error) {
	ledger, err := newLedgerCheck(ctx, s, options.Stock)
	if err != nil {
		return nil, err
	}
	version, _, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT version FROM change WHERE topic = $1`, string(db.TopicSettings))
	return &keptLive{options: options, ledger: ledger, settings: version > 1}, err // 1 is that of a new database
}

// writable are those of a kind's sources that are written. Sources that say
// what the store has are among them: writing those changes nothing.
func (k *keptLive) writable(ctx context.Context, w *authoring.Writer, kind string, sources []authoring.Source) ([]authoring.Source, error) {
	switch {
	case kind == "stock_transaction" && !k.options.Stock:
		return filtered(sources, func(line *stock.StockTransactionSource) bool { return !k.ledger.of(line.ProductID).stays }), nil
	case kind == "stock" && !k.options.Stock:
		return k.writableStocks(ctx, w, sources)
	case kind == "settings" && !k.options.Settings && k.settings:
		same, err := settings.SameAsStored(ctx, w, sources)
		if err != nil || same {
			return sources, err
		}
		return nil, nil
	}
	return sources, nil
}

// writableStocks are the balances of products without a record, and those of
// records that this import has made from the file's lines of the ledger and
// that nobody has written since. Where an earlier import has, a balance says
// no more than when it was changed.
func (k *keptLive) writableStocks(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]authoring.Source, error) {
	ids := make([]string, len(sources))
	for i, source := range sources {
		ids[i] = source.Key()
	}
	had, err := stock.StocksByID(ctx, w, ids)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{}
	if made := slices.DeleteFunc(ids, func(id string) bool { return had[id] == nil || k.ledger.of(id).lines == 0 }); len(made) > 0 {
		if lines, err = stock.LockLedgerLines(ctx, w, made); err != nil {
			return nil, err
		}
	}
	return filtered(sources, func(s *stock.StockSource) bool {
		had, ledger := had[s.ID], k.ledger.of(s.ID)
		if had == nil || *s.Stock(had, w.Now) == *had {
			return true
		}
		same := s.Available == had.Available && s.Allocated == had.Allocated
		// A file that has a line twice counts it twice.
		return ledger.lines > 0 && int(ledger.lines) >= lines[s.ID] && (ledger.begun || same)
	}), nil
}

// filtered are the sources, all of one type, that keep wants.
func filtered[T authoring.Source](sources []authoring.Source, keep func(T) bool) []authoring.Source {
	var list []authoring.Source
	for _, source := range sources {
		if keep(source.(T)) {
			list = append(list, source)
		}
	}
	return list
}
