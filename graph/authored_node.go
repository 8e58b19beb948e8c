package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
)

func (r queryResolver) AuthoredCatalogNode(ctx context.Context, id string) (*model.AuthoredCatalogNode, error) {
	return authoredRow[model.AuthoredCatalogNode](ctx, "authoredCatalogNode", id, r.store.Catalogs.AuthoredNodesByID)
}

func (r queryResolver) AuthoredCatalogNodes(ctx context.Context, filter *model.AuthoredCatalogNodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredCatalogNodeConnection, error) {
	if err := auth.Require(ctx, "Query.authoredCatalogNodes"); err != nil {
		return nil, err
	}
	wanted, err := filter.Filter()
	if err != nil {
		return nil, err
	}
	return pageOfRows[model.AuthoredCatalogNode](r.store.Catalogs.AuthoredNodes(ctx, wanted, orderBy.Sort(), pageOf(first, after, last, before, offset)))
}

// Hierarchy reads the hierarchies of all rows at once.
func (r authoredCatalogNodeResolver) Hierarchy(ctx context.Context, obj *model.AuthoredCatalogNode) (*catalog.AuthoredHierarchy, error) {
	return model.Load(ctx, obj.BatchRow, "hierarchy", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredCatalogNode) ([]*catalog.AuthoredHierarchy, error) {
		ids := mapRows(all, func(n *model.AuthoredCatalogNode) string { return n.HierarchyID })
		byID, err := r.store.Catalogs.AuthoredHierarchiesByID(ctx, unique(ids))
		return model.ValuesByKey(ids, byID), err
	})
}

// Parent reads the nodes above all rows at once.
func (r authoredCatalogNodeResolver) Parent(ctx context.Context, obj *model.AuthoredCatalogNode) (*model.AuthoredCatalogNode, error) {
	return model.Load(ctx, obj.BatchRow, "parent", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredCatalogNode) ([]*model.AuthoredCatalogNode, error) {
		above := mapRows(all, func(n *model.AuthoredCatalogNode) string { return parentNode(n.ParentID, n.HierarchyID) })
		ids := unique(above)
		found, err := r.store.Catalogs.AuthoredNodesByID(ctx, ids)
		rows := store.IndexBy(model.NewBatch[model.AuthoredCatalogNode](valuesByID(ids, found)), (*model.AuthoredCatalogNode).NodeID)
		return model.ValuesByKey(above, rows), err
	})
}

func (r authoredCatalogNodeResolver) ProductCount(ctx context.Context, obj *model.AuthoredCatalogNode) (int, error) {
	return model.Load(ctx, obj.BatchRow, "productCount", r.Resolver, (*Resolver).attachedCounts)
}

// attachedCounts returns how many products each node has.
func (r *Resolver) attachedCounts(ctx context.Context, all []*model.AuthoredCatalogNode) ([]int, error) {
	ids := mapRows(all, (*model.AuthoredCatalogNode).NodeID)
	counts, err := r.store.Catalogs.AttachedCounts(ctx, unique(ids))
	return model.ValuesByKey(ids, counts), err
}

func (r authoredCatalogNodeResolver) ProductUuids(ctx context.Context, obj *model.AuthoredCatalogNode, first, offset int) ([]string, error) {
	if first < store.MinPageLength || first > store.MaxPageLength {
		return nil, outOfBounds("first", first, store.MinPageLength, store.MaxPageLength)
	}
	if offset < 0 || offset > store.MaxOffset {
		return nil, outOfBounds("offset", offset, 0, store.MaxOffset)
	}
	return model.LoadBy(ctx, obj.BatchRow, edgeKey("productUuids", first, offset), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredCatalogNode) ([][]string, error) {
		ids := mapRows(all, (*model.AuthoredCatalogNode).NodeID)
		attached, err := r.store.Catalogs.AttachedProducts(ctx, unique(ids), first, offset)
		return model.ValuesByKey(ids, attached), err
	})
}

func (r mutationResolver) CatalogNodeProductsAttach(ctx context.Context, input generated.CatalogNodeProductsInput) (*generated.CatalogNodePayload, error) {
	return changeProducts(ctx, "Mutation.catalogNodeProductsAttach", input, r.store.Catalogs.AttachProducts)
}

func (r mutationResolver) CatalogNodeProductsDetach(ctx context.Context, input generated.CatalogNodeProductsInput) (*generated.CatalogNodePayload, error) {
	return changeProducts(ctx, "Mutation.catalogNodeProductsDetach", input, r.store.Catalogs.DetachProducts)
}

func (r mutationResolver) CatalogNodeCurate(ctx context.Context, input generated.CatalogNodeCurateInput) (*generated.CatalogNodePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogNodeCurate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	node, userErrs, err := nodePayload(r.store.Catalogs.CurateProducts(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID),
		store.LocalIDs(input.ProductIds), store.LocalIDs(input.ExpectedProductIds)))
	return &generated.CatalogNodePayload{CatalogNode: node, UserErrors: userErrs}, err
}

// changeProducts runs a mutation that changes which products a node has.
func changeProducts(ctx context.Context, coordinate string, input generated.CatalogNodeProductsInput,
	change func(ctx context.Context, actor store.Actor, id string, productIDs []string) (*catalog.AuthoredNode, error)) (*generated.CatalogNodePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, coordinate, input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	node, userErrs, err := nodePayload(change(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), store.LocalIDs(input.ProductIds)))
	return &generated.CatalogNodePayload{CatalogNode: node, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogNodeProductsSet(ctx context.Context, input generated.CatalogNodeProductsSetInput) (*generated.CatalogNodeProductsSetPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogNodeProductsSet", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	change, err := r.store.Catalogs.SetProducts(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID),
		store.LocalIDs(input.ProductIds), store.LocalIDs(input.ExpectedProductIds), input.DryRun)
	if err != nil {
		userErrs, err := userErrors(err)
		return &generated.CatalogNodeProductsSetPayload{AttachedUuids: []string{}, DetachedUuids: []string{}, UserErrors: userErrs}, err
	}
	node, userErrs, err := nodePayload(change.Node, nil)
	return &generated.CatalogNodeProductsSetPayload{CatalogNode: node, AttachedUuids: change.Attached, DetachedUuids: change.Detached, UserErrors: userErrs}, err
}

// nodePayload returns the node of a mutation, or user errors.
func nodePayload(node *catalog.AuthoredNode, err error) (*model.AuthoredCatalogNode, []*model.UserError, error) {
	userErrs, err := userErrors(err)
	if err != nil || len(userErrs) > 0 {
		return nil, userErrs, err
	}
	return model.NewBatch[model.AuthoredCatalogNode]([]*catalog.AuthoredNode{node})[0], userErrs, nil
}
