package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/exchange"
)

func (r mutationResolver) ProductsUpsert(ctx context.Context, input generated.ProductsUpsertInput) (*generated.ProductsUpsertPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.productsUpsert", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertProducts)
	return (*generated.ProductsUpsertPayload)(payload), err
}

func (r mutationResolver) ProductsDelete(ctx context.Context, input generated.ProductsDeleteInput) (*generated.ProductsDeletePayload, error) {
	payload, err := deleteItems(ctx, "Mutation.productsDelete", input.IdempotencyKey, input, localIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteProducts)
	return (*generated.ProductsDeletePayload)(payload), err
}

func (r mutationResolver) PricesUpsert(ctx context.Context, input generated.PricesUpsertInput) (*generated.PricesUpsertPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.pricesUpsert", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertPrices)
	return (*generated.PricesUpsertPayload)(payload), err
}

func (r mutationResolver) SalesUpsert(ctx context.Context, input generated.SalesUpsertInput) (*generated.SalesUpsertPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.salesUpsert", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertSales)
	return (*generated.SalesUpsertPayload)(payload), err
}

func (r mutationResolver) FilesUpsert(ctx context.Context, input generated.FilesUpsertInput) (*generated.FilesUpsertPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.filesUpsert", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertFiles)
	return (*generated.FilesUpsertPayload)(payload), err
}

func (r mutationResolver) AttributesDeclare(ctx context.Context, input generated.AttributesDeclareInput) (*generated.AttributesDeclarePayload, error) {
	payload, err := upsertItems(ctx, "Mutation.attributesDeclare", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.DeclareAttributes)
	return (*generated.AttributesDeclarePayload)(payload), err
}

func (r mutationResolver) PricesDelete(ctx context.Context, input generated.PricesDeleteInput) (*generated.PricesDeletePayload, error) {
	payload, err := deleteItems(ctx, "Mutation.pricesDelete", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.DeletePrices)
	return (*generated.PricesDeletePayload)(payload), err
}

func (r mutationResolver) FilesDelete(ctx context.Context, input generated.FilesDeleteInput) (*generated.FilesDeletePayload, error) {
	payload, err := deleteItems(ctx, "Mutation.filesDelete", input.IdempotencyKey, input, localIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteFiles)
	return (*generated.FilesDeletePayload)(payload), err
}

func (r mutationResolver) HierarchiesUpsert(ctx context.Context, input generated.HierarchiesUpsertInput) (*generated.HierarchiesUpsertPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.hierarchiesUpsert", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertHierarchies)
	return (*generated.HierarchiesUpsertPayload)(payload), err
}

func (r mutationResolver) HierarchiesDelete(ctx context.Context, input generated.HierarchiesDeleteInput) (*generated.HierarchiesDeletePayload, error) {
	payload, err := deleteItems(ctx, "Mutation.hierarchiesDelete", input.IdempotencyKey, input, localIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteHierarchies)
	return (*generated.HierarchiesDeletePayload)(payload), err
}

func (r mutationResolver) CatalogNodesUpsert(ctx context.Context, input generated.CatalogNodesUpsertInput) (*generated.CatalogNodesUpsertPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.catalogNodesUpsert", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertNodes)
	return (*generated.CatalogNodesUpsertPayload)(payload), err
}

func (r mutationResolver) CatalogNodesDelete(ctx context.Context, input generated.CatalogNodesDeleteInput) (*generated.CatalogNodesDeletePayload, error) {
	payload, err := deleteItems(ctx, "Mutation.catalogNodesDelete", input.IdempotencyKey, input, localIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteNodes)
	return (*generated.CatalogNodesDeletePayload)(payload), err
}

func (r mutationResolver) SynonymsSet(ctx context.Context, input generated.SynonymsSetInput) (*generated.SynonymsSetPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.synonymsSet", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.SetSynonyms)
	return (*generated.SynonymsSetPayload)(payload), err
}

func (r mutationResolver) RedirectsSet(ctx context.Context, input generated.RedirectsSetInput) (*generated.RedirectsSetPayload, error) {
	payload, err := upsertItems(ctx, "Mutation.redirectsSet", input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.SetRedirects)
	return (*generated.RedirectsSetPayload)(payload), err
}

// itemsPayload is the payload of each mutation of items: what was written and warnings, or user errors.
type itemsPayload struct {
	Items      []*model.AuthoredWrite
	Warnings   []*model.Warning
	UserErrors []*model.UserError
}

// upsertItems runs a mutation that creates and changes resources.
func upsertItems[T any](ctx context.Context, coordinate string, key *string, input any, items []T, dryRun bool,
	upsert func(context.Context, store.Actor, []T, store.Nulls, bool) (*exchange.ItemsWritten, error)) (*itemsPayload, error) {
	return writeItems(ctx, coordinate, key, input, func(ctx context.Context, actor store.Actor) (*exchange.ItemsWritten, error) {
		return upsert(ctx, actor, items, opctx.Nulls(ctx), dryRun)
	})
}

// deleteItems runs a mutation that deletes resources.
func deleteItems[T any](ctx context.Context, coordinate string, key *string, input any, items []T, dryRun bool,
	remove func(context.Context, store.Actor, []T, bool) (*exchange.ItemsWritten, error)) (*itemsPayload, error) {
	return writeItems(ctx, coordinate, key, input, func(ctx context.Context, actor store.Actor) (*exchange.ItemsWritten, error) {
		return remove(ctx, actor, items, dryRun)
	})
}

func writeItems(ctx context.Context, coordinate string, key *string, input any, write func(context.Context, store.Actor) (*exchange.ItemsWritten, error)) (*itemsPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, coordinate, key, input)
	if err != nil {
		return nil, err
	}
	written, err := write(ctx, auth.PrincipalFrom(ctx).Actor())
	userErrs, err := userErrors(err)
	return &itemsPayload{model.NewAuthoredWrites(written), model.NewWarnings(written), userErrs}, err
}
