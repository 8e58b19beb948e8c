package segment

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// Release is a published state of a catalog. It never changes.
type Release struct {
	ID          int64
	CatalogID   string
	Locale      string   // of the base texts
	Locales     []string // of the other texts
	Products    int      // live products, listed or not
	PublishedAt time.Time
	Revision    int64 // of the authored data: there is nothing to publish while it stays the same
	Preview     bool  // not served so far
	RolledBack  bool  // it was served, and the catalog serves an earlier one since

	// Products that are new, changed and gone, compared with the release that
	// was served when this one was published.
	Added, Changed, Removed int

	// Not part of what the release shows.
	Actor    store.Actor // who published it; empty if an earlier version did
	Label    string      // short, for example a version; empty for none
	Note     string      // empty for none
	Bytes    int64       // of its own rows, about; 0 if an earlier version published it
	ServedAt time.Time   // when it was last made the served one; zero if it never was, or by an earlier version
	Retained bool        // no sweep deletes it

	BaseID       int64 // the release that this one is a delta of; 0 for a whole release
	BaseAt       int64 `json:"-"` // when that was published, in microseconds
	FirstOrdinal int   `json:"-"` // of its own products, above all of the base's
	Ordinals     int   `json:"-"` // one above the highest ordinal
	Format       int   `json:"-"` // ReleaseFormat when it was published
	NodesSince   int64 `json:"-"` // the release since which all nodes are the same
	NodesAt      int64 `json:"-"` // when that was published, in microseconds
}

// Followable reports whether cursors lead into the release: shoppers were served it, and it was not rolled back.
func (r *Release) Followable() bool { return !r.Preview && !r.RolledBack && !r.ServedAt.IsZero() }

// GlobalID returns the release's id, which is unique over all types.
func (r *Release) GlobalID() string { return store.GlobalID(store.TypeRelease, r.UUID()) }

// UUID returns the release's number as text.
func (r *Release) UUID() string { return strconv.FormatInt(r.ID, 10) }

// CacheIdentity identifies the release in cache keys. A restored database does
// not repeat it.
func (r *Release) CacheIdentity() db.ReleaseIdentity {
	return db.ReleaseIdentity{Number: r.ID, Published: store.Micros(r.PublishedAt)}
}

// HolderIdentity is CacheIdentity of the release that holds the row at an
// ordinal: the release or its base.
func (r *Release) HolderIdentity(ordinal int) db.ReleaseIdentity {
	return r.identityOf(r.holder(ordinal))
}

// identityOf is CacheIdentity of the release or of its base.
func (r *Release) identityOf(number int64) db.ReleaseIdentity {
	if number == r.ID {
		return r.CacheIdentity()
	}
	return db.ReleaseIdentity{Number: number, Published: r.BaseAt}
}

// nodesIdentity is CacheIdentity of the release since which all nodes are the
// same.
func (r *Release) nodesIdentity() db.ReleaseIdentity {
	return db.ReleaseIdentity{Number: r.NodesSince, Published: r.NodesAt}
}

// Same reports whether both are the same release; false for nil.
func (r *Release) Same(other *Release) bool {
	return other != nil && r.CacheIdentity() == other.CacheIdentity()
}

// holder returns the release that holds the row at an ordinal.
func (r *Release) holder(ordinal int) int64 {
	if ordinal < r.FirstOrdinal {
		return r.BaseID
	}
	return r.ID
}

const releaseColumns = `id, catalog_id, locale, locales, products, published_at, revision, preview, rolled_back, added, changed, removed,
	actor, label, note, bytes, served_at, retained, base_id, COALESCE((SELECT base.published_at FROM release base WHERE base.id = release.base_id), 0), first_ordinal, ordinals, format,
	CASE nodes_since WHEN 0 THEN id ELSE nodes_since END, CASE nodes_since WHEN 0 THEN published_at ELSE nodes_at END`

func scanRelease(rows *sql.Rows) (*Release, error) {
	r := &Release{}
	var locales string
	var published, served int64
	err := rows.Scan(&r.ID, &r.CatalogID, &r.Locale, &locales, &r.Products, &published, &r.Revision, &r.Preview, &r.RolledBack, &r.Added, &r.Changed, &r.Removed,
		&r.Actor, &r.Label, &r.Note, &r.Bytes, &served, &r.Retained,
		&r.BaseID, &r.BaseAt, &r.FirstOrdinal, &r.Ordinals, &r.Format, &r.NodesSince, &r.NodesAt)
	r.Locales, r.PublishedAt, r.ServedAt = strings.Fields(locales), store.FromMicros(published), store.OptionalMicros(served)
	return r, err
}

// KeptRelease returns a release that is published and kept, else NOT_FOUND.
func KeptRelease(ctx context.Context, in db.Session, id int64) (*Release, error) {
	release, found, err := db.One(ctx, in, scanRelease,
		`SELECT `+releaseColumns+` FROM release WHERE id = $1 AND state = $2`, id, catalog.ReleasePublished)
	if err == nil && !found {
		return nil, store.NotFoundf(nil, "There is no such release.")
	}
	return release, err
}

// followableSQL is Release.Followable.
const followableSQL = `NOT preview AND NOT rolled_back AND served_at > 0`

// KeptReleaseWithList returns the latest kept release in which a list is as it
// has been since a release. found is false if none is kept that is Followable.
func KeptReleaseWithList(ctx context.Context, in db.Session, catalogID, list string, since int64) (release *Release, found bool, err error) {
	return db.One(ctx, in, scanRelease, `
		SELECT `+releaseColumns+` FROM release
		WHERE catalog_id = $1 AND state = $2 AND `+followableSQL+` AND EXISTS (
		    SELECT 1 FROM release_list WHERE release_id = release.id AND list = $3 AND CASE since WHEN 0 THEN release_id ELSE since END = $4)
		ORDER BY id DESC LIMIT 1`, catalogID, catalog.ReleasePublished, list, since)
}

// KeptReleaseWithNodes is KeptReleaseWithList for all nodes.
func KeptReleaseWithNodes(ctx context.Context, in db.Session, catalogID string, since int64) (release *Release, found bool, err error) {
	return db.One(ctx, in, scanRelease, `
		SELECT `+releaseColumns+` FROM release
		WHERE catalog_id = $1 AND state = $2 AND `+followableSQL+` AND CASE nodes_since WHEN 0 THEN id ELSE nodes_since END = $3
		ORDER BY id DESC LIMIT 1`, catalogID, catalog.ReleasePublished, since)
}

// KeptReleases lists the releases of a catalog that are kept, newest first.
func KeptReleases(ctx context.Context, in db.Session, catalogID string) ([]*Release, error) {
	return db.Collect(ctx, in, scanRelease,
		`SELECT `+releaseColumns+` FROM release WHERE catalog_id = $1 AND state = $2 ORDER BY id DESC`, catalogID, catalog.ReleasePublished)
}

// ServedReleases lists the releases that their catalogs serve.
func ServedReleases(ctx context.Context, in db.Session) ([]*Release, error) {
	return db.Collect(ctx, in, scanRelease,
		`SELECT `+releaseColumns+` FROM release WHERE state = $1 AND id IN (SELECT release_id FROM catalog)`, catalog.ReleasePublished)
}

// LeastRevision returns the lowest revision of the releases that are kept. A release that is only retained does not
// count: the changes since would be stored for ever. A publication after a roll-back to it is whole.
func LeastRevision(ctx context.Context, in db.Session) (revision int64, found bool, err error) {
	return db.One(ctx, in, db.Scalar[int64],
		`SELECT revision FROM release WHERE state = $1 AND NOT (retained AND superseded_at > 0) ORDER BY revision LIMIT 1`, catalog.ReleasePublished)
}
