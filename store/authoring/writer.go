package authoring

import (
	"context"
	"errors"

	"portico/store"
	"portico/store/db"
)

// Writer writes sources in one transaction.
type Writer struct {
	*db.Tx
	DB           *db.DB
	Topics       []db.Topic
	Revised      bool        // something that releases contain was written
	touched      []rowChange // by Touch, for storeChanges
	StockChanged []string    // products whose stock changed; the caller publishes them (stock.Service.PublishImport) after Finish

	later []func(context.Context, *Writer) error // by Defer

	OneByOne bool // write rows that the database may reject in a statement each

	Limit   *AuditLimit                     // of the audit log; nil for none
	single  int                             // resources recorded one by one, which Limit loses after the commit
	members map[string][]store.MemberChange // of RecordMembers during a write, by id; nil otherwise
}

// AuditLimit is how many more resources of an import the audit log shows one by one, with their members.
type AuditLimit struct{ Left int }

// Defer defers part of the work to a transaction of its own after this one's commit; the
// caller runs Deferred in order. If it stops in between, the rest is not done.
func (w *Writer) Defer(do func(context.Context, *Writer) error) { w.later = append(w.later, do) }

// Deferred returns the deferred parts.
func (w *Writer) Deferred() []func(context.Context, *Writer) error { return w.later }

// ErrOneByOne is returned by Kind.Write if a row of a statement was rejected. The caller then writes again with OneByOne, to
// find the row.
var ErrOneByOne = errors.New("one of several rows was rejected")

// RowError is an error of a source that only the write could find.
type RowError struct {
	Source Source
	Err    error
}

func (e *RowError) Error() string { return e.Err.Error() }

func (e *RowError) Unwrap() error { return e.Err }

// Finish stores the changes as a revision, if Revised, and raises the versions of Topics, which servers poll. Call it last.
func (w *Writer) Finish(ctx context.Context) error {
	if w.Revised {
		if err := w.storeChanges(ctx); err != nil {
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

// Existing returns which ids a table has.
func (w *Writer) Existing(ctx context.Context, table string, ids []string) (map[string]bool, error) {
	found, err := db.CollectIn(ctx, w.Session, db.Scalar[string], ids, `SELECT id FROM `+table+` WHERE id IN ($in)`)
	return store.SetOf(found), err
}
