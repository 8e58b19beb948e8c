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

func (r queryResolver) AuthoredNode(ctx context.Context, id string) (*model.AuthoredNode, error) {
	return authoredRow[model.AuthoredNode](ctx, "authoredNode", id, r.store.Catalogs.AuthoredNodesByID)
}

func (r queryResolver) AuthoredNodes(ctx context.Context, hierarchyID string, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredNodeConnection, error) {
	if err := auth.Require(ctx, "Query.authoredNodes"); err != nil {
		return nil, err
	}
	slice, err := r.store.Catalogs.AuthoredNodes(ctx, store.LocalID(hierarchyID), pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.NewBatch[model.AuthoredNode](slice.Items)), nil
}

func (r authoredNodeResolver) ProductCount(ctx context.Context, obj *model.AuthoredNode) (int, error) {
	return model.Load(ctx, obj.BatchRow, "productCount", r.Resolver, (*Resolver).attachedCounts)
}

func (r *Resolver) attachedCounts(ctx context.Context, all []*model.AuthoredNode) ([]int, error) {
	ids := keysOf(all, (*model.AuthoredNode).NodeID)
	counts, err := r.store.Catalogs.AttachedCounts(ctx, unique(ids))
	return model.ValuesByKey(ids, counts), err
}

func (r authoredNodeResolver) ProductUuids(ctx context.Context, obj *model.AuthoredNode, first, offset int) ([]string, error) {
	if first < store.MinPageLength || first > store.MaxPageLength {
		return nil, outOfBounds("first", first, store.MinPageLength, store.MaxPageLength)
	}
	if offset < 0 || offset > store.MaxOffset {
		return nil, outOfBounds("offset", offset, 0, store.MaxOffset)
	}
	return model.LoadBy(ctx, obj.BatchRow, edgeKey("productUuids", first, offset), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredNode) ([][]string, error) {
		ids := keysOf(all, (*model.AuthoredNode).NodeID)
		attached, err := r.store.Catalogs.AttachedProducts(ctx, unique(ids), first, offset)
		return model.ValuesByKey(ids, attached), err
	})
}

func (r mutationResolver) NodeProductsAttach(ctx context.Context, input generated.NodeProductsAttachInput) (*generated.NodeProductsAttachPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.nodeProductsAttach", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	node, userErrs, err := nodePayload(r.store.Catalogs.AttachProducts(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), localIDs(input.ProductIds)))
	return &generated.NodeProductsAttachPayload{Node: node, UserErrors: userErrs}, err
}

func (r mutationResolver) NodeProductsDetach(ctx context.Context, input generated.NodeProductsDetachInput) (*generated.NodeProductsDetachPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.nodeProductsDetach", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	node, userErrs, err := nodePayload(r.store.Catalogs.DetachProducts(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), localIDs(input.ProductIds)))
	return &generated.NodeProductsDetachPayload{Node: node, UserErrors: userErrs}, err
}

func (r mutationResolver) NodeProductsSet(ctx context.Context, input generated.NodeProductsSetInput) (*generated.NodeProductsSetPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.nodeProductsSet", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	change, err := r.store.Catalogs.SetProducts(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), localIDs(input.ProductIds), input.DryRun)
	if err != nil {
		userErrs, err := userErrors(err)
		return &generated.NodeProductsSetPayload{AttachedUuids: []string{}, DetachedUuids: []string{}, UserErrors: userErrs}, err
	}
	node, userErrs, err := nodePayload(change.Node, nil)
	return &generated.NodeProductsSetPayload{Node: node, AttachedUuids: change.Attached, DetachedUuids: change.Detached, UserErrors: userErrs}, err
}

func (r mutationResolver) NodeCurate(ctx context.Context, input generated.NodeCurateInput) (*generated.NodeCuratePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.nodeCurate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	node, userErrs, err := nodePayload(r.store.Catalogs.CurateProducts(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), localIDs(input.ProductIds)))
	return &generated.NodeCuratePayload{Node: node, UserErrors: userErrs}, err
}

// nodePayload returns the node of a mutation, or user errors.
func nodePayload(node *catalog.AuthoredNode, err error) (*model.AuthoredNode, []*model.UserError, error) {
	userErrs, err := userErrors(err)
	if err != nil || len(userErrs) > 0 {
		return nil, userErrs, err
	}
	return model.NewBatch[model.AuthoredNode]([]*catalog.AuthoredNode{node})[0], userErrs, nil
}
