package segment

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// ListRedirects is the name of the list whose only chunk holds the imported redirects, as JSON. A delta has one
// only if one was written since its parent, and a whole release if it has any.
const ListRedirects = "redirects"

// AnyRedirect is the key of the imported redirects.
var AnyRedirect = dependency.NewKey('R', "")

// RedirectSources reads the imported redirects as they were published.
func (r *Reader) RedirectSources(ctx context.Context) (sources []*catalog.RedirectSource, err error) {
	r.Reads.Add(AnyRedirect)
	body, found, err := r.shopChunk(ctx, ListRedirects)
	if err != nil || !found {
		return nil, err
	}
	return sources, json.Unmarshal(body, &sources)
}

// shopChunk reads the only chunk of ListSynonyms or ListRedirects, from the highest layer that has one. found is false if none
// has.
func (r *Reader) shopChunk(ctx context.Context, list string) (body []byte, found bool, err error) {
	of, args := r.InLayers(list)
	return db.One(ctx, r.session(), db.Scalar[[]byte], `
		SELECT body FROM release_chunk WHERE release_id IN (`+of+`) AND list = $1 AND sort = '' AND chunk = 0 ORDER BY release_id DESC LIMIT 1`, args...)
}

// Redirects are imported redirects by the path that they are for.
type Redirects struct {
	ByPath map[string]*catalog.RedirectSource
	size   int
}

// Size is about the memory in bytes.
func (r *Redirects) Size() int { return r.size }

// Redirects reads the imported redirects.
func (r *Reader) Redirects(ctx context.Context) (*Redirects, error) {
	r.Reads.Add(AnyRedirect)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedRedirects}
	if kept, ok := db.Cached[*Redirects](r.Cache, key); ok {
		return kept, nil
	}
	sources, err := r.RedirectSources(ctx)
	if err != nil {
		return nil, err
	}
	redirects := &Redirects{make(map[string]*catalog.RedirectSource, len(sources)), 64}
	for _, source := range sources {
		redirects.ByPath[source.Attributes.From] = source
		redirects.size += 256 + len(source.Attributes.From) + len(source.Attributes.To)
	}
	r.Cache.Set(key, redirects)
	return redirects, nil
}

// The kinds of what a step of a path leads to. At the same path, the first of them wins.
const (
	PathFirst   = "first" // a hierarchy, or a node directly below one: paths begin with it
	PathNode    = catalog.RedirectNode
	PathProduct = catalog.RedirectProduct // the last step only
)

// PathChange is that a step of a path ended or began: that a slug below a node leads to a product or node.
type PathChange struct {
	Slug, AboveID  string // AboveID is empty for a hierarchy, and for a product that no node lists
	Kind, TargetID string
	Turn           int64
	Came           bool // the step began; else it ended
}

// PathChanges reads the changes of steps with some slugs up to a turn, the first one first; of more than 1000 the last. It is up
// to the caller to record the slugs as read.
func (r *Reader) PathChanges(ctx context.Context, slugs []string, until int64) ([]PathChange, error) {
	changes, err := db.CollectIn(ctx, r.session(), func(rows *sql.Rows) (c PathChange, err error) {
		return c, rows.Scan(&c.Slug, &c.AboveID, &c.Kind, &c.TargetID, &c.Turn, &c.Came)
	}, store.Unique(slugs), `
		SELECT slug, above_id, kind, target_id, turn, came FROM path_change
		WHERE catalog_id = $1 AND turn <= $2 AND slug IN ($in) ORDER BY turn DESC, came DESC, above_id, target_id LIMIT 1000`, r.Release.CatalogID, until)
	slices.Reverse(changes)
	return changes, err
}
