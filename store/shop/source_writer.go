package shop

import (
	"context"
	"errors"

	"portico/store"
	"portico/store/db"
)

// importWriter writes the sources of one transaction.
type importWriter struct {
	*db.Tx
	store   *Store
	topics  []db.Topic
	revised bool // something that catalogs publish
	touched []authoredChange
	stocked []string // products whose stock is another

	oneByOne bool // rows that can only be refused by the database go in a statement each
}

// errOneByOne says that one of the rows of a statement is at fault.
var errOneByOne = errors.New("a row of many is at fault")

// sourceFault is what only the write could find wrong with a source.
type sourceFault struct {
	source source
	err    error
}

func (f *sourceFault) Error() string { return f.err.Error() }

func (f *sourceFault) Unwrap() error { return f.err }

func (w *importWriter) announce(ctx context.Context) error {
	if w.revised {
		if err := w.track(ctx); err != nil {
			return err
		}
	}
	for _, name := range store.Unique(w.topics) {
		if err := w.store.db.Changed(ctx, w.Tx, name); err != nil {
			return err
		}
	}
	return w.store.tellImported(ctx, w.Tx, w.stocked)
}

// existing tells which ids a table has.
func (w *importWriter) existing(ctx context.Context, table string, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	err := store.Chunked(ids, 512, func(ids []string) error {
		list, args := db.In(nil, ids)
		found, err := db.Collect(ctx, w.Session, db.Scalar[string],
			`SELECT id FROM `+table+` WHERE id IN (`+list+`)`, args...)
		for _, id := range found {
			known[id] = true
		}
		return err
	})
	return known, err
}
