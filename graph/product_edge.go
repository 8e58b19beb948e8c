package graph

import (
	"context"
	"slices"
	"time"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
)

func (r productResolver) Parent(ctx context.Context, obj *model.Product) (*model.Product, error) {
	if obj.ParentID() == "" {
		return nil, nil
	}
	parents, err := r.referencedProducts(ctx, obj, "parent", func(p *model.Product) []string { return one(p.ParentID()) })
	return firstItem(parents), err
}

func (r productResolver) Translations(ctx context.Context, obj *model.Product) ([]*release.ProductTranslation, error) {
	return model.Load(ctx, obj.BatchRow, "translations", r.Resolver, (*Resolver).translations)
}

// translations returns the translations of each product.
func (r *Resolver) translations(ctx context.Context, all []*model.Product) ([][]*release.ProductTranslation, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	ids := mapRows(all, (*model.Product).ProductID)
	translations, err := v.TranslationsByID(ctx, unique(ids))
	return model.ValuesByKey(ids, translations), err
}

func (r productResolver) Children(ctx context.Context, obj *model.Product) ([]*model.Product, error) {
	return r.referencedProducts(ctx, obj, "children", func(p *model.Product) []string { return p.ChildIDs() })
}

func (r productResolver) ComponentProducts(ctx context.Context, obj *model.Product) ([]*model.Product, error) {
	return r.referencedProducts(ctx, obj, "componentProducts", func(p *model.Product) []string { return p.ComponentProductIDs() })
}

// Product reads the products that all bundles of the batch offer at once. Each option is charged once, as a row of its bundle's.
func (r optionResolver) Product(ctx context.Context, obj *model.ComponentOption) (*model.Product, error) {
	products, err := r.loadReferencedProducts(ctx, obj.Bundle, "options", (*model.Product).OptionProductIDs)
	if err == nil {
		err = opctx.SpendRow(ctx, "options", obj.Position)
	}
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(products, func(p *model.Product) bool { return p.ProductID() == obj.ID }); i >= 0 {
		return products[i], nil
	}
	return nil, nil
}

func (r productResolver) ChildrenConnection(ctx context.Context, obj *model.Product, filter *model.ProductFilter, facets *string, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	return r.productsOfEdge(ctx, obj, release.EdgeChildren, productQueryOf(filter, facets, orderBy, pageOf(first, after, last, before, offset)))
}

func (r productResolver) ComponentProductsConnection(ctx context.Context, obj *model.Product, filter *model.ProductFilter, facets *string, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	return r.productsOfEdge(ctx, obj, release.EdgeComponents, productQueryOf(filter, facets, orderBy, pageOf(first, after, last, before, offset)))
}

func (r productResolver) MainImage(ctx context.Context, obj *model.Product) (*catalog.File, error) {
	return model.Load(ctx, obj.BatchRow, "mainImage", r.Resolver, (*Resolver).mainImages)
}

// mainImages returns the main image of each product; nil for none.
func (r *Resolver) mainImages(ctx context.Context, all []*model.Product) ([]*catalog.File, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return v.FilesOf(ctx, mapRows(all, func(p *model.Product) string { return p.MainImageID() }), storedProducts(all))
}

func (r productResolver) Files(ctx context.Context, obj *model.Product) ([]*model.ProductFile, error) {
	files, err := model.Load(ctx, obj.BatchRow, "files", r.Resolver, (*Resolver).attachedFiles)
	return opctx.Spend(ctx, "files", files, err)
}

// attachedFiles returns the files of each product, without those that the catalog does not have. It reads all at once, and
// allocates them together.
func (r *Resolver) attachedFiles(ctx context.Context, all []*model.Product) ([][]*model.ProductFile, error) {
	rows := 0
	for _, p := range all {
		rows += len(p.FileLinks())
	}
	if err := opctx.CheckRows(ctx, "files", rows, len(all)); err != nil {
		return nil, err
	}
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	ids, products := make([]string, 0, rows), make([]*release.Product, 0, rows)
	for _, p := range all {
		for _, link := range p.FileLinks() {
			ids, products = append(ids, link.ID), append(products, p.Product)
		}
	}
	files, err := v.FilesOf(ctx, ids, products)
	if err != nil {
		return nil, err
	}
	// files are those of all products in turn: each product takes its own from the front.
	attached, list := make([][]*model.ProductFile, len(all)), make([]*model.ProductFile, 0, rows)
	values, times := make([]model.ProductFile, rows), make([]time.Time, rows)
	for i, p := range all {
		start := len(list)
		for k, link := range p.FileLinks() {
			if files[k] != nil {
				value, at := &values[len(list)], &times[len(list)]
				value.File, value.Of = files[k], p
				if *at, err = store.ParseTime(link.CreatedAt); err == nil { // else the merchant gave none
					value.AttachedAt = at
				}
				list = append(list, value)
			}
		}
		attached[i], files = list[start:len(list):len(list)], files[len(p.FileLinks()):]
	}
	return attached, nil
}

func (r productResolver) CatalogNodes(ctx context.Context, obj *model.Product) ([]*model.CatalogNode, error) {
	nodes, err := r.nodesOfProduct(ctx, obj)
	return opctx.Spend(ctx, "catalogNodes", nodes, err)
}

// nodesOfProduct returns the nodes that have a product, loaded for all rows of its batch.
func (r *Resolver) nodesOfProduct(ctx context.Context, obj *model.Product) ([]*model.CatalogNode, error) {
	return model.Load(ctx, obj.BatchRow, "nodes", r, (*Resolver).nodesOfProducts)
}

// nodesOfProducts returns the nodes that have each product. A node of several products is one row.
func (r *Resolver) nodesOfProducts(ctx context.Context, all []*model.Product) ([][]*model.CatalogNode, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	ids := idsOf(all, func(p *model.Product) []string { return p.NodeIDs() })
	found, err := v.NodesByID(ctx, ids)
	nodes := make(map[string]*model.CatalogNode, len(ids))
	for _, node := range model.NewBatch[model.CatalogNode](valuesByID(ids, found)) {
		nodes[node.ID] = node
	}
	return valuesOfProducts(all, func(p *model.Product) []string { return p.NodeIDs() }, nodes), err
}

func (r productResolver) Breadcrumbs(ctx context.Context, obj *model.Product) ([]*model.BreadcrumbTrail, error) {
	trails, err := model.Load(ctx, obj.BatchRow, "breadcrumbs", r.Resolver, (*Resolver).breadcrumbTrails)
	return opctx.Spend(ctx, "breadcrumbs", trails, err)
}

// breadcrumbTrails returns a trail for each node that has a product. Products of the same node share it.
func (r *Resolver) breadcrumbTrails(ctx context.Context, all []*model.Product) ([][]*model.BreadcrumbTrail, error) {
	trails, byNode := make([][]*model.BreadcrumbTrail, len(all)), map[*model.CatalogNode]*model.BreadcrumbTrail{}
	var nodes []*model.CatalogNode // each once: products of a page have few
	for i, product := range all {
		below, err := r.nodesOfProduct(ctx, product)
		if err != nil {
			return nil, err
		}
		trails[i] = make([]*model.BreadcrumbTrail, len(below))
		for k, node := range below {
			if trails[i][k] = byNode[node]; trails[i][k] == nil {
				trails[i][k] = &model.BreadcrumbTrail{CatalogNode: node}
				byNode[node], nodes = trails[i][k], append(nodes, node)
			}
		}
	}
	crumbs, err := r.breadcrumbsOf(ctx, nodes)
	if err != nil {
		return nil, err
	}
	for i, node := range nodes {
		byNode[node].Ancestors = crumbs[i]
	}
	return trails, nil
}

// Related reads the related products of all products of the batch at once. It charges none of them: the argument first tells how
// many there may be before the operation runs, so its estimated cost has them all.
func (r productResolver) Related(ctx context.Context, obj *model.Product, kind *string, first int) ([]*model.Product, error) {
	if err := auth.Require(ctx, "Query.product"); err != nil {
		return nil, err
	}
	if first < 1 || first > release.MaxRelated {
		return nil, outOfBounds("first", first, 1, release.MaxRelated)
	}
	return model.LoadBy(ctx, obj.BatchRow, edgeKey("related", kind, first), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Product) ([][]*model.Product, error) {
		v, err := r.View(ctx)
		if err != nil {
			return nil, err
		}
		related, err := v.Related(ctx, storedProducts(all), deref(kind), first)
		if err != nil {
			return nil, err
		}
		return model.NewBatchOfLists[model.Product](mapRows(all, func(p *model.Product) []*release.Product { return related[p.ID()] })), nil
	})
}
