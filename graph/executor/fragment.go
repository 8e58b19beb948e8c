package executor

import (
	"context"
	"crypto/sha256"

	"portico/graph"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/internal/responsecache"
	"portico/store/release"
)

// fragmentStore caches the JSON of products, to compose responses that are not cached: another page of
// the same products, or the same page of the next release. A fragment has a product's own fields, its
// files and its breadcrumbs. Stock, other references and the time of publication are written anew.
type fragmentStore struct {
	cache    *responsecache.Cache
	resolver *graph.Resolver
}

// edgeDigest returns the digest of an edge of a product; nil if not yet loaded.
func edgeDigest(p *model.Product, edge string) *release.EdgeDigest {
	if edge == "breadcrumbs" {
		return p.EdgeDigests().Breadcrumbs.Load()
	}
	return p.EdgeDigests().Files.Load() // has the main image too
}

// Identity implements plan.Fragments. It loads the digests of edges for all siblings at once.
func (f fragmentStore) Identity(ctx context.Context, row any, edges []string) (identity plan.Identity, known bool) {
	p := row.(*model.Product)
	identity, known = p.Identity()
	if !known || len(edges) == 0 {
		return identity, known
	}
	var space [128]byte
	all := append(space[:0], identity[:]...)
	for _, edge := range edges {
		at := edgeDigest(p, edge)
		if at == nil {
			load := (*graph.Resolver).FileDigests
			if edge == "breadcrumbs" {
				load = (*graph.Resolver).BreadcrumbDigests
			}
			var err error
			if at, err = model.Load(ctx, p.BatchRow, "edgeDigest "+edge, f.resolver, load); err != nil {
				return identity, false // the edge's resolver reports the error
			}
		}
		all = append(all, at.Identity[:]...)
	}
	sum := sha256.Sum256(all)
	return plan.Identity(sum[:16]), true
}

// Charge implements plan.Fragments. A cached edge costs as much as one that is read.
func (f fragmentStore) Charge(ctx context.Context, row any, edge string) bool {
	if edge == "mainImage" {
		return true
	}
	at := edgeDigest(row.(*model.Product), edge)
	return at != nil && opctx.SpendRows(ctx, edge, at.Rows) == nil
}

// Get implements plan.Fragments.
func (f fragmentStore) Get(fields uint64, id plan.Identity) *plan.CachedObject {
	object, _ := f.cache.Fragment(fields, id).(*plan.CachedObject)
	return object
}

// Put implements plan.Fragments.
func (f fragmentStore) Put(fields uint64, id plan.Identity, object *plan.CachedObject) {
	f.cache.SetFragment(fields, id, object, object.Size())
}
