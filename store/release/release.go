package release

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
)

// Release is a published state of a catalog. It never changes.
type Release struct {
	ID          int64
	CatalogID   string
	Locale      string   // of the base texts
	Locales     []string // the languages there are texts in, beside the base
	Products    int      // live products it holds, listed or not
	PublishedAt time.Time
	Revision    int64 // of what is authored: one that is the same has nothing new to publish
	Preview     bool  // never served so far, so that cursors do not lead into it

	// Against the release that was served when this one was made: products
	// that are new, that differ, and that are gone.
	Added, Changed, Removed int

	BaseID       int64 // the release that this one is a delta of; 0 for a whole release
	BaseAt       int64 `json:"-"` // when that was published, in microseconds
	FirstOrdinal int   `json:"-"` // of its own products, above all of the base's
	Ordinals     int   `json:"-"` // how far they go, those of the base included
	Format       int   `json:"-"` // ReleaseFormat when it was made
}

// GlobalID is the release's id over all types.
func (r *Release) GlobalID() string { return store.GlobalID(store.TypeRelease, r.UUID()) }

// UUID is the release's number in digits.
func (r *Release) UUID() string { return strconv.FormatInt(r.ID, 10) }

func (r *Release) identity() db.ReleaseIdentity {
	return db.ReleaseIdentity{Number: r.ID, Published: store.Micros(r.PublishedAt)}
}

// Same tells whether two releases are one; none is nobody's.
func (r *Release) Same(other *Release) bool { return other != nil && r.identity() == other.identity() }

// identityOf is that of the release itself, or of its base.
func (r *Release) identityOf(number int64) db.ReleaseIdentity {
	if number == r.ID {
		return r.identity()
	}
	return db.ReleaseIdentity{Number: number, Published: r.BaseAt}
}

const releaseColumns = `id, catalog_id, locale, locales, products, published_at, revision, preview, added, changed, removed,
	base_id, COALESCE((SELECT base.published_at FROM release base WHERE base.id = release.base_id), 0), first_ordinal, ordinals, format`

func scanRelease(rows *sql.Rows) (*Release, error) {
	r := &Release{}
	var locales string
	var published int64
	err := rows.Scan(&r.ID, &r.CatalogID, &r.Locale, &locales, &r.Products, &published, &r.Revision, &r.Preview, &r.Added, &r.Changed, &r.Removed,
		&r.BaseID, &r.BaseAt, &r.FirstOrdinal, &r.Ordinals, &r.Format)
	r.Locales, r.PublishedAt = strings.Fields(locales), store.FromMicros(published)
	return r, err
}

// KeptRelease returns a release that is kept; NOT_FOUND when it is not, or not
// finished.
func KeptRelease(ctx context.Context, in db.Session, id int64) (*Release, error) {
	release, found, err := db.One(ctx, in, scanRelease,
		`SELECT `+releaseColumns+` FROM release WHERE id = $1 AND state = $2`, id, catalog.ReleasePublished)
	if err == nil && !found {
		return nil, store.NotFoundf(nil, "There is no such release.")
	}
	return release, err
}

// LeastRevision is that of the oldest release that may be the base of another.
func LeastRevision(ctx context.Context, in db.Session) (revision int64, found bool, err error) {
	return db.One(ctx, in, db.Scalar[int64],
		`SELECT revision FROM release WHERE state = $1 ORDER BY revision LIMIT 1`, catalog.ReleasePublished)
}

// Releases lists the releases of a catalog that are kept, newest first: the
// served one, the newest three, those served within the last hour (20 at most),
// and the bases of all these. NOT_FOUND for an unknown catalog.
func (s *ReleaseService) Releases(ctx context.Context, catalogID string) ([]*Release, error) {
	if err := catalog.CatalogExists(ctx, s.db.Reader, catalogID); err != nil {
		return nil, err
	}
	return db.Collect(ctx, s.db.Reader, scanRelease, `
		SELECT `+releaseColumns+` FROM release WHERE catalog_id = $1 AND state = $2 ORDER BY id DESC`, catalogID, catalog.ReleasePublished)
}

// ReleaseByID returns a release that is kept; NOT_FOUND when it is not.
func (s *ReleaseService) ReleaseByID(ctx context.Context, id string) (*Release, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, store.NotFoundf(nil, "There is no release %q; its number looks like 12.", store.Abbreviate(id))
	}
	return KeptRelease(ctx, s.db.Reader, number)
}

// Served tells whether shoppers are shown the release, as far as the rules
// choose its catalog.
func (s *ReleaseService) Served(ctx context.Context, release *Release) (bool, error) {
	routing, err := s.routingNow(ctx)
	if err != nil {
		return false, err
	}
	served := routing.releases[release.CatalogID]
	return served != nil && served.ID == release.ID, nil
}

// ServeRelease serves a release that is kept, in place of the one its catalog
// serves: an earlier one to roll back, or a preview. An earlier one holds the
// catalog: it stays served until somebody publishes the catalog on purpose, or
// serves a later release than it was rolled back from. NOT_FOUND when it is
// not kept.
func (s *ReleaseService) ServeRelease(ctx context.Context, actor store.Actor, id string) (*Release, error) {
	gone := store.NotFoundf([]string{"release_id"}, "is no release that is kept: %q; catalogReleases lists those that are, or publish the catalog anew", store.Abbreviate(id))
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, gone
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Release, error) {
		// As finishRelease does, the catalog's row first. The release's own is
		// what a sweep looks at.
		before, known, err := db.One(ctx, t.Session, scanHold, `
			UPDATE catalog SET release_id = release_id
			WHERE id = (SELECT catalog_id FROM release WHERE id = $1 AND state = $2)
			RETURNING `+holdColumns, number, catalog.ReleasePublished)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, gone
		}
		if err := s.serve(ctx, t, before, number); err != nil {
			return nil, err
		}
		kept, err := t.Exec(ctx, `UPDATE release SET superseded_at = 0, preview = FALSE WHERE id = $1 AND state = $2`, number, catalog.ReleasePublished)
		if err != nil {
			return nil, err
		}
		if kept == 0 {
			return nil, gone
		}
		release, err := KeptRelease(ctx, t.Session, number)
		if err != nil {
			return nil, err
		}
		return release, Supersede(ctx, s.db, t, release.CatalogID)
	})
}

// ChunkSize is how many rows of a list, or of an attribute's index, are kept
// together.
const (
	ChunkSize      = 4096
	IndexChunkSize = 1024
)

// The lists of a release by name.
const (
	ListAll   = "all"   // every product attached to any of its nodes
	ListEvery = "every" // those, and all they are related to: whatever the release holds
)

func ListOfNode(id string) string { return "node/" + id }

// keysOf is the list of all products' sort keys by ordinal.
const ListKeys = "keys"

// ListHead is what is known of a list without reading it.
type ListHead struct {
	Total   int
	Curated []uint32                   // ordinals that come first, in order
	HeldBy  int64                      // the release that keeps the list's parts
	parts   map[store.SortBy]ListParts // of a delta's own list, where they are; nil for any other
}

func (h *ListHead) Size() int {
	size := 64 + 4*len(h.Curated)
	for _, parts := range h.parts {
		size += 64 + 4*len(parts)
	}
	return size
}

// ListHead reads a list's head. Every node has its list, so that a missing one
// says that the release was swept meanwhile.
func (v *View) ListHead(ctx context.Context, list string) (*ListHead, error) {
	heads, err := v.ListHeads(ctx, []string{list})
	if err != nil {
		return nil, err
	}
	if heads[list] == nil {
		return nil, errReleaseGone
	}
	return heads[list], nil
}

// ListHeads reads the heads of several lists, in one statement.
func (v *View) ListHeads(ctx context.Context, lists []string) (map[string]*ListHead, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedList}
	return db.Fetch(v.Cache, key, lists, func(lists []string) (map[string]*ListHead, error) {
		heads := make(map[string]*ListHead, len(lists))
		places, args := db.InList([]any{v.Release.ID}, lists)
		_, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (h *ListHead, err error) {
			h = &ListHead{}
			var list string
			var curated, parts []byte
			err = rows.Scan(&list, &h.Total, &curated, &h.HeldBy, &parts)
			h.Curated, h.parts = index.UnpackOrdinals(curated), unpackParts(parts)
			heads[list] = h
			return h, err
		}, `SELECT list, total, curated, held_by, parts FROM release_list WHERE release_id = $1 AND list IN (`+places+`)`, args...)
		return heads, err
	})
}

// KeptList is a list, and the release that keeps its parts.
type KeptList struct {
	heldBy int64
	name   string
}

// Kept is where the list of that name is kept.
func (h *ListHead) Kept(name string) KeptList { return KeptList{h.HeldBy, name} }

// readChunks reads the parts of a list that are numbered from first to last.
func readChunks[T db.Sized](ctx context.Context, v *View, list KeptList, sort store.SortBy, first, last int, unpack func([]byte) T) ([]T, error) {
	found, err := ChunksOf(ctx, v, []KeptList{list}, sort, first, last, unpack)
	if err == nil && slices.ContainsFunc(found[list], func(part T) bool { return part.Size() <= index.EmptyChunk }) {
		err = errReleaseGone
	}
	return found[list], err
}

// ChunksOf reads the same parts of several lists, in one statement for each
// release that keeps some. Parts that a list does not have are left empty.
func ChunksOf[T db.Sized](ctx context.Context, v *View, lists []KeptList, sort store.SortBy, first, last int, unpack func([]byte) T) (map[KeptList][]T, error) {
	found := make(map[KeptList][]T, len(lists))
	missing := map[int64][]string{} // by release
	low, high := last, first
	for _, list := range lists {
		found[list] = make([]T, last-first+1)
		for n := first; n <= last; n++ {
			kept, ok := db.Cached[T](v.Cache, v.chunkKey(list, sort, n))
			if !ok {
				missing[list.heldBy] = append(missing[list.heldBy], list.name)
				low, high = min(low, n), max(high, n)
			}
			found[list][n-first] = kept
		}
	}
	type chunk struct {
		list   string
		number int
		body   []byte
	}
	for release, names := range missing {
		if err := store.Chunked(store.Unique(names), 512, func(names []string) error {
			places, args := db.InList([]any{release, string(sort), low, high}, names)
			read, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (c chunk, err error) {
				return c, rows.Scan(&c.list, &c.number, &c.body)
			}, `
				SELECT list, chunk, body FROM release_chunk
				WHERE release_id = $1 AND sort = $2 AND chunk BETWEEN $3 AND $4 AND list IN (`+places+`)`, args...)
			for _, c := range read {
				list := KeptList{release, c.list}
				part := unpack(c.body)
				found[list][c.number-first] = part
				v.Cache.Set(v.chunkKey(list, sort, c.number), part)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (v *View) chunkKey(list KeptList, sort store.SortBy, number int) db.CacheKey {
	return db.CacheKey{Release: v.Release.identityOf(list.heldBy), Kind: cachedChunk, Name: list.name, Sort: sort, Number: number}
}

// Supersede marks the releases of a catalog that are not served, from now on,
// and tells everyone.
func Supersede(ctx context.Context, d *db.DB, t *db.Tx, catalogID string) error {
	if _, err := t.Exec(ctx, `
		UPDATE release SET superseded_at = `+t.LaterSQL(`CAST($2 AS BIGINT)`)+`
		WHERE catalog_id = $1 AND state = $3 AND superseded_at = 0
		  AND id NOT IN (SELECT release_id FROM catalog WHERE id = $1 AND release_id IS NOT NULL)`,
		catalogID, store.Micros(t.Now), catalog.ReleasePublished); err != nil {
		return err
	}
	return d.BumpTopic(ctx, t, db.TopicCatalog)
}
