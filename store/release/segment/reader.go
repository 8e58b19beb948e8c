// Package segment reads the parts of a release as publications store them: rows,
// documents, lists, sort keys, indexes and prices, in one or two layers. A Release
// describes a release, a Reader reads its parts, and a List reads products in a
// stored order. It must not import release, routing or publish.
package segment

import (
	"context"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
)

// Reader reads the parts of one release. For a delta it reads two layers as
// one: the delta's own rows, and those of its base, which holds all ordinals
// below the delta's first. What is kept by ordinal is in one of them; what is
// kept by value is in both, where the base's entries for dead ordinals do not
// count. A Reader is safe for concurrent use.
type Reader struct {
	Release   *Release
	Cache     *db.Cache            // nil caches nothing
	Reads     *dependency.Recorder // collects what is read; nil for nothing
	Primary   bool                 // never read from a standby: for publications, whose releases are not published yet
	db        *db.DB
	languages []string // that texts are searched in, besides the base language
}

// NewReader returns a reader of a release in a database.
func NewReader(d *db.DB, release *Release, languages []string) Reader {
	return Reader{Release: release, Cache: d.Cache, db: d, languages: languages}
}

// session returns where the parts of the release are read. Whether the release
// is kept is read from the primary.
func (r *Reader) session() db.Session {
	if r.Primary {
		return r.db.Reader
	}
	return r.db.ReleaseReader(r.Release.CacheIdentity())
}

// base reads the release that a delta rests on; nil for a whole release.
func (r *Reader) base() *Reader {
	if r.Release.BaseID == 0 {
		return nil
	}
	base := *r
	base.Release = &Release{ID: r.Release.BaseID, CatalogID: r.Release.CatalogID, Locale: r.Release.Locale, PublishedAt: store.FromMicros(r.Release.BaseAt),
		Products: r.Release.FirstOrdinal, Ordinals: r.Release.FirstOrdinal, Format: r.Release.Format}
	return &base
}

// layers returns readers of the release itself and of its base, if it has one.
func (r *Reader) layers() []*Reader {
	if base := r.base(); base != nil {
		return []*Reader{r, base}
	}
	return []*Reader{r}
}

// Layers returns the ids of the releases that hold the rows, as the arguments
// $1 and $2 of a statement. They are the same for a whole release.
func (r *Reader) Layers() []any {
	if r.Release.BaseID == 0 {
		return []any{r.Release.ID, r.Release.ID}
	}
	return []any{r.Release.ID, r.Release.BaseID}
}

// ErrGone is returned when a release was deleted while it was read.
var ErrGone = &store.Error{Code: store.CursorExpired, Detail: "The catalog was published again during this request. Send the request again."}

// missing returns why a release lacks a part: it was deleted meanwhile, or a
// version that did not write the part published it.
func (r *Reader) missing(ctx context.Context, part string) error {
	if _, err := KeptRelease(ctx, r.db.Reader, r.Release.ID); err != nil {
		return ErrGone
	}
	return store.Unprocessablef(nil, "The catalog was published by an older version, which wrote no %s. Publish it again.", part)
}
