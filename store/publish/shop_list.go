package publish

import (
	"context"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/release/segment"
)

// writeSynonyms writes the synonyms.
func (w *releaseWriter) writeSynonyms(ctx context.Context) error {
	return writeShopList(ctx, w, "synonym", segment.ListSynonyms, w.plan.synonyms)
}

// writeRedirects writes the imported redirects.
func (w *releaseWriter) writeRedirects(ctx context.Context) error {
	return writeShopList(ctx, w, "redirect", segment.ListRedirects, w.plan.redirects)
}

// writeShopList writes a list of the shop's sources, of a table. A delta has that of its parent if none was written since.
func writeShopList[T any](ctx context.Context, w *releaseWriter, table, list string, now []*T) error {
	if d := w.plan.delta; d == nil && len(now) == 0 || d != nil && len(d.changes[table]) == 0 {
		return nil
	}
	if now == nil {
		now = []*T{}
	}
	return w.put(ctx, "release_chunk", []any{w.release.ID, list, "", 0, store.Encode(now)})
}

// changedSynonyms adds what searches find if a synonym differs.
func (w *releaseWriter) changedSynonyms(ctx context.Context) error {
	return changedShopList(ctx, w, "synonym", segment.AnyProduct, w.compared.ChangedSynonyms)
}

// changedRedirects adds the imported redirects if one differs.
func (w *releaseWriter) changedRedirects(ctx context.Context) error {
	return changedShopList(ctx, w, "redirect", segment.AnyRedirect, w.compared.ChangedRedirects)
}

// changedShopList adds a key if a source of a table differs.
func changedShopList[T any](ctx context.Context, w *releaseWriter, table string, key dependency.Key, changed func(context.Context) ([]T, error)) error {
	if d := w.plan.delta; d != nil && len(d.changes[table]) == 0 { // nor since the served release, which is not older
		return nil
	}
	changes, err := changed(ctx)
	if len(changes) > 0 {
		w.changes.Add(key)
	}
	return err
}
