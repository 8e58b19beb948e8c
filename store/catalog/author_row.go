package catalog

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// author runs a write of catalogs, rules, hierarchies or nodes. Such writes
// come one at a time in the whole database, imports included, because each of
// them holds the row that hands out the order of creation: what one has read,
// no other changes until it is done. So a rule never outlives its catalog and
// a tree never gets a cycle, however many write.
func (s *CatalogService) author(ctx context.Context, actor store.Actor, fn func(context.Context, *authoring.Writer) error) error {
	return db.UpdateSilently(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, s.authoring(fn))
}

// authoring is such a write within its transaction.
func (s *CatalogService) authoring(fn func(context.Context, *authoring.Writer) error) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, t *db.Tx) error {
		w := &authoring.Writer{Tx: t, DB: s.db, Revised: true}
		if _, err := w.Sequence(ctx, 1); err != nil {
			return err
		}
		if err := fn(ctx, w); err != nil {
			return err
		}
		return w.Announce(ctx)
	}
}

// authorRow runs an authoring write and returns the row as it left it.
func authorRow[T any](ctx context.Context, s *CatalogService, actor store.Actor, l db.Listing[T], noun string, id *string, fn func(context.Context, *authoring.Writer) error) (T, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (row T, err error) {
		err = s.authoring(func(ctx context.Context, w *authoring.Writer) (err error) {
			if err := fn(ctx, w); err != nil {
				return err
			}
			row, err = authoring.Authored(ctx, w.Session, l, noun, *id)
			return err
		})(ctx, t)
		return row, err
	})
}
