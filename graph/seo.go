package graph

import (
	"context"

	"portico/graph/model"
	"portico/store/release"
	"portico/store/release/segment"
)

// Seo reads the paths of all products of the batch at once.
func (r productResolver) Seo(ctx context.Context, obj *model.Product) (*model.Seo, error) {
	return model.Load(ctx, obj.BatchRow, "seo", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Product) ([]*model.Seo, error) {
		v, err := r.View(ctx)
		if err != nil {
			return nil, err
		}
		paths, err := v.ProductPaths(ctx, storedProducts(all))
		return mapRows(all, func(p *model.Product) *model.Seo { return model.NewSeo(p.SEO(), paths[p.ID()]) }), err
	})
}

// Seo reads the paths of all nodes of the batch at once.
func (r catalogNodeResolver) Seo(ctx context.Context, obj *model.CatalogNode) (*model.Seo, error) {
	return model.Load(ctx, obj.BatchRow, "seo", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.CatalogNode) ([]*model.Seo, error) {
		return r.seoOfNodes(ctx, mapRows(all, func(n *model.CatalogNode) *segment.CatalogNode { return n.CatalogNode }))
	})
}

func (r hierarchyResolver) Seo(ctx context.Context, obj *model.Hierarchy) (*model.Seo, error) {
	return model.Load(ctx, obj.BatchRow, "seo", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Hierarchy) ([]*model.Seo, error) {
		return r.seoOfNodes(ctx, mapRows(all, func(h *model.Hierarchy) *segment.CatalogNode { return h.CatalogNode }))
	})
}

// seoOfNodes returns what search engines show of nodes or hierarchies.
func (r *Resolver) seoOfNodes(ctx context.Context, nodes []*segment.CatalogNode) ([]*model.Seo, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := v.NodePaths(ctx, nodes)
	return mapRows(nodes, func(n *segment.CatalogNode) *model.Seo {
		return model.NewSeo(release.SEOOf(n.SEO, n.Name, n.Description), paths[n.ID])
	}), err
}

func (r queryResolver) Sitemap(ctx context.Context, first int, after *string) (*release.SitemapPage, error) {
	v, err := r.catalog(ctx, "Query.sitemap")
	if err != nil {
		return nil, err
	}
	if first < 1 || first > release.MaxSitemapPage {
		return nil, outOfBounds("first", first, 1, release.MaxSitemapPage)
	}
	return v.Sitemap(ctx, first, after)
}
