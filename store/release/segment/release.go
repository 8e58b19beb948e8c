package segment

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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
	Revision    int64 // of the authored data that it was made from: there is nothing to publish while it stays the same
	Preview     bool  // not served so far
	RolledBack  bool  // it was served, and the catalog serves an earlier one since

	// Products that are new, changed and gone, compared with the release that
	// was served when this one was published.
	Added, Changed, Removed int

	// Not part of what the release shows.
	Actor    store.Actor // who published it
	Label    string      // short, for example a version; empty for none
	Note     string      // empty for none
	Bytes    int64       // of its own rows, about
	ServedAt time.Time   // when it was last made the served one; zero if it never was
	Retained bool        // no sweep deletes it

	Translated   map[string]int `json:"-"` // how many products have texts in each other language
	BaseID       int64          // the whole release that this one is made of, with the deltas in Below; 0 for a whole release
	Below        []Layer        `json:"-"` // the layers below the release's own, the base first; none for a whole release
	FirstOrdinal int            `json:"-"` // of its own products, above all of the layers below
	Ordinals     int            `json:"-"` // one above the highest ordinal
	Format       int            `json:"-"` // ReleaseFormat when it was published
	NodesSince   int64          `json:"-"` // the release since which all nodes are the same
	NodesAt      int64          `json:"-"` // when that was published, in microseconds
	NodesBy      int64          `json:"-"` // the layer that holds the nodes; 0 is the release itself
	Equal        int64          `json:"-"` // of a base that is not served: the release that shows the same
}

// Layer is a release that holds a part of what another one shows.
type Layer struct {
	ID        int64
	Published int64 // when it was published, in microseconds
	First     int   // the ordinal of its first product
	End       int   // one above the ordinal of its last
}

// Layers returns the layers of the release, the base first, itself last.
func (r *Release) Layers() []Layer {
	return append(slices.Clone(r.Below), Layer{r.ID, store.Micros(r.PublishedAt), r.FirstOrdinal, r.Ordinals})
}

// LayerIDs returns the numbers of Layers.
func (r *Release) LayerIDs() []int64 {
	ids := make([]int64, 0, len(r.Below)+1)
	for _, layer := range r.Below {
		ids = append(ids, layer.ID)
	}
	return append(ids, r.ID)
}

// PackLayers encodes Below, as text.
func (r *Release) PackLayers() string {
	fields := make([]string, len(r.Below))
	for i, layer := range r.Below {
		fields[i] = fmt.Sprintf("%d:%d:%d:%d", layer.ID, layer.Published, layer.First, layer.End)
	}
	return strings.Join(fields, " ")
}

// unpackLayers is the reverse of PackLayers.
func unpackLayers(text string) (layers []Layer, err error) {
	for field := range strings.FieldsSeq(text) {
		var layer Layer
		if _, err := fmt.Sscanf(field, "%d:%d:%d:%d", &layer.ID, &layer.Published, &layer.First, &layer.End); err != nil {
			return nil, fmt.Errorf("the layers of a release are damaged: %w", err)
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// IsLayerSQL is the condition that the release with an id, an expression, is a layer of a row of the table release.
func IsLayerSQL(row, id string) string {
	layers := `' ' || ` + row + `.layers`
	return `REPLACE(` + layers + `, ' ' || CAST(` + id + ` AS TEXT) || ':', '') <> ` + layers
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

// HolderIdentity is CacheIdentity of the layer that holds the product at an ordinal. What is cached by it stays cached while
// releases have that layer.
func (r *Release) HolderIdentity(ordinal int) db.ReleaseIdentity {
	return r.identityOf(r.holder(ordinal))
}

// identityOf is CacheIdentity of a layer, by its number; of the release itself for any number that is not in Below.
func (r *Release) identityOf(number int64) db.ReleaseIdentity {
	for _, layer := range r.Below {
		if layer.ID == number {
			return db.ReleaseIdentity{Number: number, Published: layer.Published}
		}
	}
	return r.CacheIdentity()
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

// holder returns the number of the layer that holds the product at an ordinal.
func (r *Release) holder(ordinal int) int64 {
	if ordinal < r.FirstOrdinal {
		for _, layer := range slices.Backward(r.Below) {
			if ordinal >= layer.First {
				return layer.ID
			}
		}
	}
	return r.ID
}

const releaseColumns = `id, catalog_id, locale, locales, products, published_at, revision, preview, rolled_back, added, changed, removed,
	actor, label, note, bytes, served_at, retained, base_id, layers, first_ordinal, ordinals, format, nodes_by, equal_to,
	CASE nodes_since WHEN 0 THEN id ELSE nodes_since END, CASE nodes_since WHEN 0 THEN published_at ELSE nodes_at END`

func scanRelease(rows *sql.Rows) (*Release, error) {
	r := &Release{}
	var locales, layers string
	var published, served int64
	err := rows.Scan(&r.ID, &r.CatalogID, &r.Locale, &locales, &r.Products, &published, &r.Revision, &r.Preview, &r.RolledBack, &r.Added, &r.Changed, &r.Removed,
		&r.Actor, &r.Label, &r.Note, &r.Bytes, &served, &r.Retained,
		&r.BaseID, &layers, &r.FirstOrdinal, &r.Ordinals, &r.Format, &r.NodesBy, &r.Equal, &r.NodesSince, &r.NodesAt)
	if err == nil {
		r.Below, err = unpackLayers(layers)
	}
	r.unpackLocales(locales)
	r.PublishedAt, r.ServedAt = store.FromMicros(published), store.OptionalMicros(served)
	return r, err
}

// PackLocales encodes the languages, each as its tag, ":", and how many products have texts in it.
func (r *Release) PackLocales() string {
	parts := make([]string, len(r.Locales))
	for i, locale := range r.Locales {
		parts[i] = locale + ":" + strconv.Itoa(r.Translated[locale])
	}
	return strings.Join(parts, " ")
}

func (r *Release) unpackLocales(text string) {
	r.Locales, r.Translated = nil, map[string]int{}
	for _, part := range strings.Fields(text) {
		locale, count, _ := strings.Cut(part, ":")
		r.Locales = append(r.Locales, locale)
		if n, err := strconv.Atoi(count); err == nil && n > 0 {
			r.Translated[locale] = n
		}
	}
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

// LayerByID is KeptRelease also for a base that is not served.
func LayerByID(ctx context.Context, in db.Session, id int64) (*Release, error) {
	release, found, err := db.One(ctx, in, scanRelease,
		`SELECT `+releaseColumns+` FROM release WHERE id = $1 AND state IN ($2, $3)`, id, catalog.ReleasePublished, catalog.ReleaseBase)
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
	kept, err := KeptReleases(ctx, in, catalogID)
	if err != nil {
		return nil, false, err
	}
	var layers []int64
	for _, r := range kept {
		layers = append(layers, r.LayerIDs()...)
	}
	rows, err := db.CollectIn(ctx, in, db.ScanPair[int64, int64], store.Unique(layers), `
		SELECT release_id, CASE since WHEN 0 THEN release_id ELSE since END FROM release_list WHERE list = $1 AND total >= 0 AND release_id IN ($in)`, list)
	sinceOf := map[int64]int64{} // by layer
	for _, row := range rows {
		sinceOf[row.Key] = row.Value
	}
	for _, r := range kept {
		for _, layer := range slices.Backward(r.LayerIDs()) {
			if is, holds := sinceOf[layer]; holds {
				if is == since && r.Followable() {
					return r, true, err
				}
				break
			}
		}
	}
	return nil, false, err
}

// KeptReleaseWithNodes is KeptReleaseWithList for the nodes, which are one list.
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

// WithUnservedBase returns a kept release, and the newest base of its catalog that was made for later deltas and is not
// served; nil for none. NOT_FOUND if the release is not kept.
func WithUnservedBase(ctx context.Context, in db.Session, id int64) (release, base *Release, err error) {
	found, err := db.Collect(ctx, in, scanRelease, `
		SELECT `+releaseColumns+` FROM release
		WHERE id = $1 AND state = $2 OR state = $3 AND catalog_id = (SELECT catalog_id FROM release WHERE id = $1) ORDER BY id DESC`, id, catalog.ReleasePublished, catalog.ReleaseBase)
	for _, r := range found {
		if r.ID == id {
			release = r
		} else if base == nil {
			base = r
		}
	}
	if err == nil && release == nil {
		err = store.NotFoundf(nil, "There is no such release.")
	}
	return release, base, err
}

// Replaces reports whether deltas may be put upon an unserved base r, nil for none, instead of the layers of a release: r
// shows the same as that release or an earlier one, and is newer than the release's own base.
func (r *Release) Replaces(served *Release) bool {
	return r != nil && r.Equal <= served.ID && r.ID > served.LayerIDs()[0] && r.Format == ReleaseFormat && r.Locale == served.Locale
}

// LeastRevision returns the lowest revision of the releases that are kept. A release that is only retained does not
// count: the changes since would be stored for ever. A publication after a roll-back to it is whole.
func LeastRevision(ctx context.Context, in db.Session) (revision int64, found bool, err error) {
	return db.One(ctx, in, db.Scalar[int64],
		`SELECT revision FROM release WHERE state IN ($1, $2) AND NOT (retained AND superseded_at > 0) ORDER BY revision LIMIT 1`, catalog.ReleasePublished, catalog.ReleaseBase)
}
