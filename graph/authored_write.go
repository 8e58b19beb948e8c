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
	written, err := r.store.UpsertPrices(ctx, auth.PrincipalFrom(ctx).Actor(), input.Items, input.DryRun)
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

// writePayload returns the members of a payload: what was written and warnings, or user errors.
func writePayload(written *exchange.ItemsWritten, err error) ([]*model.AuthoredWrite, []*model.Warning, []*model.UserError, error) {
	userErrs, err := userErrors(err)
	return model.NewAuthoredWrites(written), model.NewWarnings(written), userErrs, err
}
