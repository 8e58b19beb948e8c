package graph

import (
	"cmp"
	"context"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/release/segment"
)

func (r queryResolver) CatalogNode(ctx context.Context, by model.CatalogNodeIdentifierInput) (*model.CatalogNode, error) {
	v, err := r.catalog(ctx, "Query.catalogNode")
	if err != nil {
		return nil, err
	}
	switch {
	case by.Slug != nil:
		return orNull(singleRow[model.CatalogNode](v.NodeWithSlug(ctx, *by.Slug)))
	case by.Path != nil:
		return orNull(singleRow[model.CatalogNode](v.NodeAtPath(ctx, *by.Path)))
	}
	return orNull(singleRow[model.CatalogNode](v.Node(ctx, store.LocalID(*by.ID))))
}

func (r queryResolver) CatalogNodes(ctx context.Context, filter *model.CatalogNodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	v, err := r.catalog(ctx, "Query.catalogNodes")
	if err != nil {
		return nil, err
	}
	query, err := nodeQuery{filter, orderBy, pageOf(first, after, last, before, offset)}.query(release.NodeFilter{})
	if err != nil {
		return nil, err
	}
	return pageOfRows[model.CatalogNode](v.Nodes(ctx, query))
}

func (r queryResolver) Hierarchy(ctx context.Context, id string) (*model.Hierarchy, error) {
	v, err := r.catalog(ctx, "Query.hierarchy")
	if err != nil {
		return nil, err
	}
	root, err := v.Hierarchy(ctx, store.LocalID(id))
	return orNull(singleRow[model.Hierarchy](root, err))
}

func (r queryResolver) Hierarchies(ctx context.Context, filter *model.CatalogNodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.HierarchyConnection, error) {
	v, err := r.catalog(ctx, "Query.hierarchies")
	if err != nil {
		return nil, err
	}
	query, err := nodeQuery{filter, orderBy, pageOf(first, after, last, before, offset)}.query(release.NodeFilter{Kind: segment.KindHierarchy})
	if err != nil {
		return nil, err
	}
	return pageOfRows[model.Hierarchy](v.Nodes(ctx, query))
}

// nodeQuery has the arguments of a list of nodes.
type nodeQuery struct {
	filter *model.CatalogNodeFilter
	order  *model.ListOrder
	page   store.Page
}

// query returns the store's query for the nodes within a parent or hierarchy, of the kind of within, that the filter matches. An
// unknown parent of the filter finds nothing; an unknown one of within is NOT_FOUND.
func (q nodeQuery) query(within release.NodeFilter) (release.NodeQuery, error) {
	filter, err := q.filter.Filter()
	if within.ParentID != "" && filter.ParentID != "" && filter.ParentID != within.ParentID {
		filter.IDs = []string{} // no node has two parents
	}
	filter.Kind, filter.HierarchyID, filter.ParentID = within.Kind, within.HierarchyID, cmp.Or(within.ParentID, filter.ParentID)
	return release.NodeQuery{Filter: filter, Sort: q.order.Sort(), Page: q.page}, err
}

func (r catalogNodeResolver) Hierarchy(ctx context.Context, obj *model.CatalogNode) (*model.Hierarchy, error) {
	return model.Load(ctx, obj.BatchRow, "hierarchy", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.CatalogNode) ([]*model.Hierarchy, error) {
		return nodesAbove[model.Hierarchy](ctx, r, all, func(n *model.CatalogNode) string { return n.HierarchyID })
	})
}

func (r catalogNodeResolver) Parent(ctx context.Context, obj *model.CatalogNode) (*model.CatalogNode, error) {
	return model.Load(ctx, obj.BatchRow, "parent", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.CatalogNode) ([]*model.CatalogNode, error) {
		return nodesAbove[model.CatalogNode](ctx, r, all, func(n *model.CatalogNode) string { return parentNode(n.ParentID, n.HierarchyID) })
	})
}

// parentNode returns the id of the node above a node; empty if it is directly below its hierarchy.
func parentNode(parentID, hierarchyID string) string {
	if parentID == hierarchyID {
		return ""
	}
	return parentID
}

// nodesAbove returns the node above each of some nodes. idOf returns its id, or an empty text for none. A node above several is
// one row, so that what is selected below it is read once.
func nodesAbove[T any, P interface {
	model.Row[T, *segment.CatalogNode]
	NodeID() string
}](ctx context.Context, r *Resolver, all []*model.CatalogNode, idOf func(*model.CatalogNode) string) ([]*T, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	above := mapRows(all, idOf)
	ids := unique(above)
	found, err := v.NodesByID(ctx, ids)
	rows := store.IndexBy(model.NewBatch[T, *segment.CatalogNode, P](valuesByID(ids, found)), func(row *T) string { return P(row).NodeID() })
	return model.ValuesByKey(above, rows), err
}

func (r catalogNodeResolver) Breadcrumbs(ctx context.Context, obj *model.CatalogNode) ([]*model.Breadcrumb, error) {
	return model.Load(ctx, obj.BatchRow, "breadcrumbs", r.Resolver, (*Resolver).breadcrumbsOf)
}

// breadcrumbsOf returns the breadcrumbs of each node: its Ancestors, in their order.
func (r *Resolver) breadcrumbsOf(ctx context.Context, all []*model.CatalogNode) ([][]*model.Breadcrumb, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	above, err := v.NodesByID(ctx, idsOf(all, func(n *model.CatalogNode) []string { return n.Ancestors }))
	steps := make(map[string]*model.Breadcrumb, len(above))
	for id, node := range above {
		steps[id] = model.NewBreadcrumb(node, above)
	}
	crumbs := make([][]*model.Breadcrumb, len(all))
	for i, node := range all {
		crumbs[i] = valuesByID(node.Ancestors, steps)
	}
	return crumbs, err
}

func (r catalogNodeResolver) Children(ctx context.Context, obj *model.CatalogNode, filter *model.CatalogNodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	return nodesOf(ctx, r.Resolver, obj.BatchRow, childrenOf, nodeQuery{filter, orderBy, pageOf(first, after, last, before, offset)})
}

func (r catalogNodeResolver) CuratedProducts(ctx context.Context, obj *model.CatalogNode) ([]*model.Product, error) {
	curated, err := model.Load(ctx, obj.BatchRow, "curatedProducts", r.Resolver, (*Resolver).curatedProducts)
	return opctx.Spend(ctx, "curatedProducts", curated, err)
}

// curatedProducts returns the products that each node curates, in their order.
func (r *Resolver) curatedProducts(ctx context.Context, all []*model.CatalogNode) ([][]*model.Product, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	ids := mapRows(all, (*model.CatalogNode).NodeID)
	curated, err := v.CuratedByNode(ctx, unique(ids))
	return model.NewBatchOfLists[model.Product](model.ValuesByKey(ids, curated)), err
}

func (r catalogNodeResolver) MainImage(ctx context.Context, obj *model.CatalogNode) (*catalog.File, error) {
	return model.Load(ctx, obj.BatchRow, "mainImage", r.Resolver, (*Resolver).nodeImages)
}

// nodeImages returns the main image of each node; nil for none.
func (r *Resolver) nodeImages(ctx context.Context, all []*model.CatalogNode) ([]*catalog.File, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	ids := mapRows(all, func(n *model.CatalogNode) string { return n.MainImageID })
	files, err := v.FilesByID(ctx, unique(ids))
	return model.ValuesByKey(ids, files), err
}

// childrenOf is the filter for the direct children of a node.
func childrenOf(id string) release.NodeFilter { return release.NodeFilter{ParentID: id} }

// nodesIn is the filter for all nodes of a hierarchy.
func nodesIn(id string) release.NodeFilter {
	return release.NodeFilter{Kind: segment.KindNode, HierarchyID: id}
}

// nodesOf lists the nodes below a node or hierarchy, as loadPage does: the key of the edge has * in place of the node, so that the
// first row loads all. The nodes are one batch too.
func nodesOf[T interface{ NodeID() string }](ctx context.Context, r *Resolver, row model.BatchRow[T], filterOf func(id string) release.NodeFilter, q nodeQuery) (*model.CatalogNodeConnection, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	edge := edgeKey("nodes", filterOf("*"), q.filter, q.order, q.page)
	return loadPage(ctx, row, edge, q.page, v, func(v *release.View, ctx context.Context, all []T) ([]*model.CatalogNodeConnection, error) {
		pages := make([]*store.Slice[*segment.CatalogNode], len(all))
		below := make([][]*segment.CatalogNode, len(all))
		rows := 0
		for i, node := range all {
			query, err := q.query(filterOf(node.NodeID()))
			if err != nil {
				return nil, err
			}
			if pages[i], err = v.Nodes(ctx, query); err != nil {
				return nil, err
			}
			below[i] = pages[i].Items
			rows += len(below[i])
		}
		if err := opctx.SpendNodes(ctx, rows); err != nil {
			return nil, err
		}
		connections := make([]*model.CatalogNodeConnection, len(all))
		for i, rows := range model.NewBatchOfLists[model.CatalogNode](below) {
			connections[i] = model.NewConnection(pages[i], rows)
		}
		return connections, nil
	})
}

func (r catalogNodeResolver) Products(ctx context.Context, obj *model.CatalogNode, includeDescendants bool, filter *model.ProductFilter, facets *string, variants release.Variants, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	q := productQueryOf(filter, facets, orderBy, pageOf(first, after, last, before, offset))
	q.descendants, q.variants = includeDescendants, variants
	return productsOfSiblings(ctx, r.Resolver, obj.BatchRow, q)
}

// productsOfSiblings lists the products of a node, as loadPage does.
func productsOfSiblings[T interface{ NodeID() string }](ctx context.Context, r *Resolver, row model.BatchRow[T], q productQuery) (*model.ProductConnection, error) {
	return loadPage(ctx, row, q.edgeKey("products"), q.page, r, func(r *Resolver, ctx context.Context, all []T) ([]*model.ProductConnection, error) {
		ids := mapRows(all, T.NodeID)
		pages, err := r.productsOfNodes(ctx, unique(ids), q)
		return model.ValuesByKey(ids, pages), err
	})
}

func (r hierarchyResolver) Children(ctx context.Context, obj *model.Hierarchy, filter *model.CatalogNodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	return nodesOf(ctx, r.Resolver, obj.BatchRow, childrenOf, nodeQuery{filter, orderBy, pageOf(first, after, last, before, offset)})
}

func (r hierarchyResolver) AllNodes(ctx context.Context, obj *model.Hierarchy, filter *model.CatalogNodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	return nodesOf(ctx, r.Resolver, obj.BatchRow, nodesIn, nodeQuery{filter, orderBy, pageOf(first, after, last, before, offset)})
}

func (r hierarchyResolver) Products(ctx context.Context, obj *model.Hierarchy, filter *model.ProductFilter, facets *string, variants release.Variants, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	q := productQueryOf(filter, facets, orderBy, pageOf(first, after, last, before, offset))
	q.variants = variants
	return productsOfSiblings(ctx, r.Resolver, obj.BatchRow, q)
}

// Node returns an object by its global id or its stored id.
func (r queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	if err := auth.Require(ctx, "Query.node"); err != nil {
		return nil, err
	}
	if _, canonical := store.CanonicalID(id); !canonical {
		if _, _, ok := store.ParseGlobalID(id); !ok {
			return nil, notID(id, "id")
		}
	}
	list, err := r.nodesByID(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// maxNodes is the largest number of ids of Query.nodes.
const maxNodes = store.MaxPageLength

func (r queryResolver) Nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	if err := auth.Require(ctx, "Query.nodes"); err != nil {
		return nil, err
	}
	if len(ids) > maxNodes {
		return nil, tooMany("ids", len(ids), maxNodes)
	}
	return r.nodesByID(ctx, ids)
}
