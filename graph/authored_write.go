package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store/exchange"
)

func (r mutationResolver) ProductsUpsert(ctx context.Context, input generated.ProductsUpsertInput) (*generated.ProductsUpsertPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.productsUpsert", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.UpsertProducts(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.ProductsUpsertPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) ProductsDelete(ctx context.Context, input generated.ProductsDeleteInput) (*generated.ProductsDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.productsDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.DeleteProducts(ctx, auth.PrincipalFrom(ctx).Actor(), localIDs(input.Ids), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.ProductsDeletePayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) PricesUpsert(ctx context.Context, input generated.PricesUpsertInput) (*generated.PricesUpsertPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.pricesUpsert", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.UpsertPrices(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.PricesUpsertPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) SalesUpsert(ctx context.Context, input generated.SalesUpsertInput) (*generated.SalesUpsertPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.salesUpsert", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.UpsertSales(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.SalesUpsertPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) FilesUpsert(ctx context.Context, input generated.FilesUpsertInput) (*generated.FilesUpsertPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.filesUpsert", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.UpsertFiles(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.FilesUpsertPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) AttributesDeclare(ctx context.Context, input generated.AttributesDeclareInput) (*generated.AttributesDeclarePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.attributesDeclare", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.DeclareAttributes(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.AttributesDeclarePayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) PricesDelete(ctx context.Context, input generated.PricesDeleteInput) (*generated.PricesDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.pricesDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.DeletePrices(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.PricesDeletePayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) FilesDelete(ctx context.Context, input generated.FilesDeleteInput) (*generated.FilesDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.filesDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.DeleteFiles(ctx, auth.PrincipalFrom(ctx).Actor(), localIDs(input.Ids), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.FilesDeletePayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) HierarchiesUpsert(ctx context.Context, input generated.HierarchiesUpsertInput) (*generated.HierarchiesUpsertPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.hierarchiesUpsert", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.UpsertHierarchies(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.HierarchiesUpsertPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) HierarchiesDelete(ctx context.Context, input generated.HierarchiesDeleteInput) (*generated.HierarchiesDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.hierarchiesDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.DeleteHierarchies(ctx, auth.PrincipalFrom(ctx).Actor(), localIDs(input.Ids), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.HierarchiesDeletePayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) NodesUpsert(ctx context.Context, input generated.NodesUpsertInput) (*generated.NodesUpsertPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.nodesUpsert", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.UpsertNodes(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.NodesUpsertPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) NodesDelete(ctx context.Context, input generated.NodesDeleteInput) (*generated.NodesDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.nodesDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.DeleteNodes(ctx, auth.PrincipalFrom(ctx).Actor(), localIDs(input.Ids), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.NodesDeletePayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) SynonymsSet(ctx context.Context, input generated.SynonymsSetInput) (*generated.SynonymsSetPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.synonymsSet", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.SetSynonyms(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.SynonymsSetPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

func (r mutationResolver) RedirectsSet(ctx context.Context, input generated.RedirectsSetInput) (*generated.RedirectsSetPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.redirectsSet", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	written, err := r.store.SetRedirects(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, opctx.Nulls(ctx), input.DryRun)
	items, warnings, userErrs, err := writePayload(written, err)
	return &generated.RedirectsSetPayload{Items: items, Warnings: warnings, UserErrors: userErrs}, err
}

// writePayload returns the members of a payload: what was written and warnings, or user errors.
func writePayload(written *exchange.ItemsWritten, err error) ([]*model.AuthoredWrite, []*model.Warning, []*model.UserError, error) {
	userErrs, err := userErrors(err)
	return model.NewAuthoredWrites(written), model.NewWarnings(written), userErrs, err
}
