package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
)

func (r queryResolver) CatalogNode(ctx context.Context, id string) (*model.CatalogNode, error) {
	v, err := r.catalog(ctx, "Query.catalogNode")
	if err != nil {
		return nil, err
	}
	node, err := v.Node(ctx, store.LocalID(id))
	return orNull(single(node, err, model.NewNodes))
}

func (r queryResolver) CatalogNodes(ctx context.Context, filter *generated.CatalogNodeFilter, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	v, err := r.catalog(ctx, "Query.catalogNodes")
	if err != nil {
		return nil, err
	}
	var wanted store.NodeFilter
	if filter != nil {
		if filter.ParentID != nil {
			wanted.ParentID = store.LocalID(*filter.ParentID)
		}
		if filter.Ids != nil {
			wanted.IDs = []string{}
		}
		for _, id := range filter.Ids {
			wanted.IDs = append(wanted.IDs, store.LocalID(id))
		}
	}
	return nodes(ctx, v, wanted, page(first, after, last, before, offset))
}

func (r queryResolver) Hierarchies(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.HierarchyConnection, error) {
	v, err := r.catalog(ctx, "Query.hierarchies")
	if err != nil {
		return nil, err
	}
	slice, err := v.Nodes(ctx, store.NodeFilter{Kind: store.KindHierarchy}, page(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, dressed(slice.Items, model.NewHierarchies)), nil
}

// nodes is a page of nodes, as siblings.
func nodes(ctx context.Context, v *store.View, filter store.NodeFilter, page store.Page) (*model.CatalogNodeConnection, error) {
	slice, err := v.Nodes(ctx, filter, page)
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, dressed(slice.Items, model.NewNodes)), nil
}

// dressed gives each row of a page its place among its siblings.
func dressed[S comparable, T any](rows []S, dress func([]S) []T) func(S) T {
	siblings, next := dress(rows), 0
	return func(S) T {
		next++
		return siblings[next-1]
	}
}

func (r catalogNodeResolver) Hierarchy(ctx context.Context, obj *model.CatalogNode) (*model.Hierarchy, error) {
	v, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	root, err := v.Node(ctx, obj.HierarchyID)
	return single(root, err, model.NewHierarchies)
}

func (r catalogNodeResolver) Parent(ctx context.Context, obj *model.CatalogNode) (*model.CatalogNode, error) {
	v, err := r.view(ctx)
	if err != nil || obj.ParentID == "" || obj.ParentID == obj.HierarchyID {
		return nil, err
	}
	parent, err := v.Node(ctx, obj.ParentID)
	return single(parent, err, model.NewNodes)
}

func (r catalogNodeResolver) Breadcrumbs(ctx context.Context, obj *model.CatalogNode) ([]*model.Breadcrumb, error) {
	v, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	return breadcrumbs(ctx, v, obj.Ancestors)
}

func breadcrumbs(ctx context.Context, v *store.View, ids []string) ([]*model.Breadcrumb, error) {
	byID, err := v.NodesByID(ctx, ids)
	crumbs := make([]*model.Breadcrumb, 0, len(ids))
	for _, node := range pick(ids, byID) {
		crumbs = append(crumbs, &model.Breadcrumb{UUID: node.ID, Name: node.Name, Slug: node.Slug})
	}
	return crumbs, err
}

func (r catalogNodeResolver) Children(ctx context.Context, obj *model.CatalogNode, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	return childrenOf(ctx, r.Resolver, obj.Group, obj.ID, func(n *model.CatalogNode) string { return n.ID }, page(first, after, last, before, offset))
}

// childrenOf lists the nodes below sibling nodes, which become siblings of
// each other, whichever node they came with.
func childrenOf[T any](ctx context.Context, r *Resolver, group *model.Group[T], id string, idOf func(T) string, page store.Page) (*model.CatalogNodeConnection, error) {
	v, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	if page.After != nil || page.Before != nil {
		return nodes(ctx, v, store.NodeFilter{ParentID: id}, page)
	}
	return model.Load(ctx, group, "children"+pageKey(page), id, func(ctx context.Context, all []T) (map[string]*model.CatalogNodeConnection, error) {
		slices := make([]*store.Slice[*store.CatalogNode], len(all))
		var below []*store.CatalogNode
		for i, parent := range all {
			if slices[i], err = v.Nodes(ctx, store.NodeFilter{ParentID: idOf(parent)}, page); err != nil {
				return nil, err
			}
			below = append(below, slices[i].Items...)
		}
		dress := dressed(below, model.NewNodes)
		connections := make(map[string]*model.CatalogNodeConnection, len(all))
		for i, parent := range all {
			connections[idOf(parent)] = model.NewConnection(slices[i], dress)
		}
		return connections, nil
	})
}

func pageKey(page store.Page) string { return productQuery{page: page}.key() }

func (r catalogNodeResolver) Products(ctx context.Context, obj *model.CatalogNode, filter *model.ProductFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	return productsOfSiblings(ctx, r.Resolver, obj.Group, obj.ID, func(n *model.CatalogNode) string { return n.ID }, productQuery{filter, orderBy, page(first, after, last, before, offset)})
}

// productsOfSiblings lists the products of a node with those of its siblings;
// only what follows a cursor is asked of one node alone.
func productsOfSiblings[T any](ctx context.Context, r *Resolver, group *model.Group[T], id string, idOf func(T) string, q productQuery) (*model.ProductConnection, error) {
	if q.page.After != nil || q.page.Before != nil {
		return r.productsOf(ctx, id, q)
	}
	return model.Load(ctx, group, "products"+q.key(), id, func(ctx context.Context, all []T) (map[string]*model.ProductConnection, error) {
		return r.productsOfNodes(ctx, idsOf(all, func(n T) []string { return one(idOf(n)) }), q)
	})
}

func (r hierarchyResolver) Children(ctx context.Context, obj *model.Hierarchy, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogNodeConnection, error) {
	return childrenOf(ctx, r.Resolver, obj.Group, obj.ID, func(h *model.Hierarchy) string { return h.ID }, page(first, after, last, before, offset))
}

func (r hierarchyResolver) Products(ctx context.Context, obj *model.Hierarchy, filter *model.ProductFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.ProductConnection, error) {
	return productsOfSiblings(ctx, r.Resolver, obj.Group, obj.ID, func(h *model.Hierarchy) string { return h.ID }, productQuery{filter, orderBy, page(first, after, last, before, offset)})
}

// Node finds anything by its global id.
func (r queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	if err := auth.Require(ctx, "Query.node"); err != nil {
		return nil, err
	}
	if _, _, ok := store.ParseGlobalID(id); !ok {
		return nil, notGlobal(id, "id")
	}
	list, err := r.nodesByGlobalID(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// maxNodes bounds what one call of nodes asks for.
const maxNodes = store.MaxPageLength

func (r queryResolver) Nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	if err := auth.Require(ctx, "Query.nodes"); err != nil {
		return nil, err
	}
	if len(ids) > maxNodes {
		return nil, tooMany("ids", len(ids), maxNodes)
	}
	return r.nodesByGlobalID(ctx, ids)
}
