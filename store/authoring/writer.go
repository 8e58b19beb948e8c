package authoring

import (
	"context"
	"errors"

	"portico/store"
	"portico/store/db"
)

// Writer writes the sources of one transaction.
type Writer struct {
	*db.Tx
	DB      *db.DB
	Topics  []db.Topic
	Revised bool // something that catalogs publish
	touched []change
	Stocked []string // products whose stock is another; who runs the write tells of them, after announce

	later []func(context.Context, *Writer) error

	OneByOne bool // rows that can only be refused by the database go in a statement each
}

// Later leaves a part of what is written to a transaction of its own, with a
// writer of its own, once this one is committed: whoever runs the write calls
// Left. Parts follow in order, and an end between them leaves the rest undone.
func (w *Writer) Later(do func(context.Context, *Writer) error) { w.later = append(w.later, do) }

// Left are the parts that were left to transactions of their own.
func (w *Writer) Left() []func(context.Context, *Writer) error { return w.later }

// ErrOneByOne says that one of the rows of a statement is at fault.
var ErrOneByOne = errors.New("a row of many is at fault")

// RowFault is what only the write could find wrong with a source.
type RowFault struct {
	Source Source
	Err    error
}

func (f *RowFault) Error() string { return f.Err.Error() }

func (f *RowFault) Unwrap() error { return f.Err }

// Announce notes the revision, and has every server see what changed; it comes
// last.
func (w *Writer) Announce(ctx context.Context) error {
	if w.Revised {
		if err := w.track(ctx); err != nil {
			return err
		}
	}
	for _, name := range store.Unique(w.Topics) {
		if err := w.DB.BumpTopic(ctx, w.Tx, name); err != nil {
			return err
		}
	}
	return nil
}

// Existing tells which ids a table has.
func (w *Writer) Existing(ctx context.Context, table string, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	err := store.Chunked(ids, 512, func(ids []string) error {
		list, args := db.InList(nil, ids)
		found, err := db.Collect(ctx, w.Session, db.Scalar[string],
			`SELECT id FROM `+table+` WHERE id IN (`+list+`)`, args...)
		for _, id := range found {
			known[id] = true
		}
		return err
	})
	return known, err
}
