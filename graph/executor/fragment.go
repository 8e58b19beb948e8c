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

// fragmentStore keep what was written of products, in the room of the answers. An
// answer that is not kept is put together from them: another page of the same
// products, or the same page of the next release, as far as that did not change
// them. They hold what a product shows of itself, of its files and of the way to
// it. What else it refers to, its stock and when it was published are written
// into each answer.
type fragmentStore struct {
	room     *responsecache.Cache
	resolver *graph.Resolver
}

// edgeDigest is what is found at an edge of a product, as far as it is known.
func edgeDigest(p *model.Product, edge string) *release.EdgeDigest {
	if edge == "breadcrumbs" {
		return p.EdgeDigests().Breadcrumbs.Load()
	}
	return p.EdgeDigests().Files.Load() // the main image is one of them
}

// Identity implements plan.Fragments. What is found at the edges is looked up
// once for a product of a release, with that of its siblings.
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
			survey := (*graph.Resolver).FileDigests
			if edge == "breadcrumbs" {
				survey = (*graph.Resolver).BreadcrumbDigests
			}
			var err error
			if at, err = model.Load(ctx, p.Sibling, "edgeDigest "+edge, f.resolver, survey); err != nil {
				return identity, false // who writes the edge tells of it
			}
		}
		all = append(all, at.Identity[:]...)
	}
	sum := sha256.Sum256(all)
	return plan.Identity(sum[:16]), true
}

// Charge implements plan.Fragments: the edge costs what it costs when it is
// followed.
func (f fragmentStore) Charge(ctx context.Context, row any, edge string) bool {
	if edge == "mainImage" {
		return true
	}
	at := edgeDigest(row.(*model.Product), edge)
	return at != nil && opctx.SpendRows(ctx, edge, at.Rows) == nil
}

// Get implements plan.Fragments.
func (f fragmentStore) Get(step uint64, of plan.Identity) *plan.CachedObject {
	kept, _ := f.room.Fragment(step, of).(*plan.CachedObject)
	return kept
}

// Put implements plan.Fragments.
func (f fragmentStore) Put(step uint64, of plan.Identity, made *plan.CachedObject) {
	f.room.SetFragment(step, of, made, made.Size())
}
