// Package segment reads the parts of a release as publications store them: blocks,
// lists, sort keys, indexes and prices, of all its layers. A Release
// describes a release, a Reader reads its parts, and a List reads products in a
// stored order. It must not import release, routing or publish.
package segment

import (
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
)

// Reader reads the parts of one release. For a delta it reads several layers as
// one: the base, and above it the deltas that the release is made of, each with
// ordinals of its own. What is kept by ordinal is in one of them. What is kept by
// value is in all, where the entries of dead ordinals do not count. Of what has a
// name, such as a file, the highest layer counts. A Reader is safe for concurrent use.
type Reader struct {
	Release   *Release
	Cache     *db.Cache            // nil caches nothing
	Reads     *dependency.Recorder // collects what is read; nil for nothing
	Primary   bool                 // never read from a standby: for publications, whose releases are not published yet
	db        *db.DB
	languages []string // to look for in texts, best first, besides the base language; nil for the base language alone
}

// NewReader returns a reader of a release in a database.
func NewReader(d *db.DB, release *Release, languages []string) Reader {
	return Reader{Release: release, Cache: d.Cache, db: d, languages: languages}
}

// Languages returns the languages to look for in texts, best first; the base language ends them.
func (r *Reader) Languages() []string { return r.languages }

// session returns where the parts of the release are read. Whether the release
// is kept is read from the primary.
func (r *Reader) session() db.Session {
	if r.Primary {
		return r.db.Reader
	}
	return r.db.ReleaseReader(r.Release.CacheIdentity())
}

// layer reads one layer of the release.
func (r *Reader) layer(of Layer) *Reader {
	own := *r
	own.Release = &Release{ID: of.ID, CatalogID: r.Release.CatalogID, Locale: r.Release.Locale, PublishedAt: store.FromMicros(of.Published),
		Products: of.End - of.First, FirstOrdinal: of.First, Ordinals: of.End}
	return &own
}

// layers returns readers of the release's layers, its own first, the base last.
func (r *Reader) layers() []*Reader {
	readers := []*Reader{r}
	for _, below := range slices.Backward(r.Release.Below) {
		readers = append(readers, r.layer(below))
	}
	return readers
}

// InLayers returns the list of the layers for a condition such as release_id IN (...), and its arguments after others.
func (r *Reader) InLayers(args ...any) (list string, all []any) {
	return db.InList(args, r.Release.LayerIDs())
}

// ErrGone is returned when a release was deleted while it was read.
var ErrGone = &store.Error{Code: store.CursorExpired, Detail: "The catalog was published again during this request. Send the request again."}
