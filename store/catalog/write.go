package catalog

import (
	"context"
	"fmt"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// write runs a write of catalogs, rules, hierarchies or nodes. These writes, imports
// included, run one at a time in the whole database, because each locks the sequence row.
// So a rule never outlives its catalog, and a tree never gets a cycle.
func (s *Service) write(ctx context.Context, actor store.Actor, fn func(context.Context, *authoring.Writer) error) error {
	return db.UpdateSilently(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, s.inWriter(fn))
}

// inWriter wraps fn as such a write.
func (s *Service) inWriter(fn func(context.Context, *authoring.Writer) error) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, t *db.Tx) error {
		w := &authoring.Writer{Tx: t, DB: s.db, Revised: true}
		if _, err := w.Sequence(ctx, 1); err != nil {
			return err
		}
		if err := fn(ctx, w); err != nil {
			return err
		}
		return w.Finish(ctx)
	}
}

// changeRow reads, changes and writes a source, and returns the resulting row. noun names the resource in errors: a catalog.
func changeRow[T any, S authoring.Source](ctx context.Context, s *Service, actor store.Actor, l db.Listing[T], k authoring.Kind, noun, id string, change func(context.Context, *authoring.Writer, S) error) (T, error) {
	return writeRow(ctx, s, actor, l, noun, &id, func(ctx context.Context, w *authoring.Writer) error {
		source := k.Create().(S)
		if err := w.Read(ctx, k.Name, noun, id, source); err != nil {
			return err
		}
		if err := change(ctx, w, source); err != nil {
			return err
		}
		return w.Replace(ctx, k, source)
	})
}

// checkExpected returns CONFLICT if a list, which the write replaces, is not as the caller read it; nil expects nothing. No other write
// comes between, since Service.write runs one at a time.
func checkExpected[T comparable](member string, expected, now []T) error {
	if expected == nil || slices.Equal(expected, now) {
		return nil
	}
	return &store.Error{Code: store.Conflict, Path: []string{member},
		Detail: fmt.Sprintf("is not the list, which has %d elements now, got %d; read the list again, then retry", len(now), len(expected))}
}

// writeRow runs a write, once for each idempotency key, and returns the resulting row. fn may set id, if the write makes a new one.
func writeRow[T any](ctx context.Context, s *Service, actor store.Actor, l db.Listing[T], noun string, id *string, fn func(context.Context, *authoring.Writer) error) (T, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (row T, err error) {
		err = s.inWriter(func(ctx context.Context, w *authoring.Writer) (err error) {
			if err := fn(ctx, w); err != nil {
				return err
			}
			row, err = authoring.ReadRow(ctx, w.Session, l, noun, *id)
			return err
		})(ctx, t)
		return row, err
	})
}

// limited returns the Kind.Write of a table of which a shop may have only so many rows. It returns UNPROCESSABLE
// for more.
func limited(table authoring.Table, most int) func(context.Context, *authoring.Writer, []authoring.Source) ([]string, error) {
	return func(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
		changed, err := table.Write(ctx, w, sources)
		if err != nil || len(changed) == 0 {
			return changed, err
		}
		count, _, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT COUNT(*) FROM `+table.Name)
		if err == nil && count > most {
			err = store.Unprocessablef(nil, "A shop has at most %d of the type %s. Delete some first.", most, table.Name)
		}
		return changed, err
	}
}
