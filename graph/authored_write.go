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

func (r mutationResolver) ProductsUpsert(ctx context.Context, input generated.ProductsUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.productsUpsert", store.TypeAuthoredProduct, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertProducts)
}

func (r mutationResolver) ProductsDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.productsDelete", store.TypeAuthoredProduct, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteProducts)
}

func (r mutationResolver) PricebooksUpsert(ctx context.Context, input generated.PricebooksUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.pricebooksUpsert", store.TypePricebook, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertPricebooks)
}

func (r mutationResolver) PricebooksDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.pricebooksDelete", store.TypePricebook, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeletePricebooks)
}

func (r mutationResolver) PriceModifiersUpsert(ctx context.Context, input generated.PriceModifiersUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.priceModifiersUpsert", store.TypeAuthoredModifier, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertModifiers)
}

func (r mutationResolver) PriceModifiersDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.priceModifiersDelete", store.TypeAuthoredModifier, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteModifiers)
}

func (r mutationResolver) PricesUpsert(ctx context.Context, input generated.PricesUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.pricesUpsert", store.TypeAuthoredPrice, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertPrices)
}

func (r mutationResolver) PricesDelete(ctx context.Context, input generated.PricesDeleteInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.pricesDelete", store.TypeAuthoredPrice, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.DeletePrices)
}

func (r mutationResolver) SalesUpsert(ctx context.Context, input generated.SalesUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.salesUpsert", store.TypeAuthoredPrice, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertSales)
}

func (r mutationResolver) FilesUpsert(ctx context.Context, input generated.FilesUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.filesUpsert", store.TypeAuthoredFile, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertFiles)
}

func (r mutationResolver) FilesDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.filesDelete", store.TypeAuthoredFile, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteFiles)
}

func (r mutationResolver) AttributesUpsert(ctx context.Context, input generated.AttributesUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.attributesUpsert", store.TypeAuthoredAttribute, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.DeclareAttributes)
}

func (r mutationResolver) AttributesDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.attributesDelete", store.TypeAuthoredAttribute, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteAttributes)
}

func (r mutationResolver) HierarchiesUpsert(ctx context.Context, input generated.HierarchiesUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.hierarchiesUpsert", store.TypeAuthoredHierarchy, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertHierarchies)
}

func (r mutationResolver) HierarchiesDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.hierarchiesDelete", store.TypeAuthoredHierarchy, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteHierarchies)
}

func (r mutationResolver) CatalogNodesUpsert(ctx context.Context, input generated.CatalogNodesUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.catalogNodesUpsert", store.TypeAuthoredCatalogNode, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.UpsertNodes)
}

func (r mutationResolver) CatalogNodesDelete(ctx context.Context, input generated.DeletionInput) (*model.AuthoringPayload, error) {
	return writeItems(ctx, "Mutation.catalogNodesDelete", store.TypeAuthoredCatalogNode, input.IdempotencyKey, input, store.LocalIDs(input.Ids), input.DryRun, r.store.Exchange.DeleteNodes)
}

func (r mutationResolver) SynonymsUpsert(ctx context.Context, input generated.SynonymsUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.synonymsUpsert", store.TypeSynonym, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.SetSynonyms)
}

func (r mutationResolver) RedirectsUpsert(ctx context.Context, input generated.RedirectsUpsertInput) (*model.AuthoringPayload, error) {
	return upsertItems(ctx, "Mutation.redirectsUpsert", store.TypeAuthoredRedirect, input.IdempotencyKey, input, input.Items, input.DryRun, r.store.Exchange.SetRedirects)
}

// upsertItems runs a mutation that creates and changes resources of a type.
func upsertItems[T any](ctx context.Context, coordinate, kind string, key *string, input any, items []T, dryRun bool,
	upsert func(context.Context, store.Actor, []T, store.Nulls, bool) (*exchange.ItemsWritten, error)) (*model.AuthoringPayload, error) {
	return writeItems(ctx, coordinate, kind, key, input, items, dryRun, func(ctx context.Context, actor store.Actor, items []T, dryRun bool) (*exchange.ItemsWritten, error) {
		return upsert(ctx, actor, items, opctx.Nulls(ctx), dryRun)
	})
}

// writeItems runs a mutation that writes or deletes resources of a type.
func writeItems[T any](ctx context.Context, coordinate, kind string, key *string, input any, items []T, dryRun bool,
	write func(context.Context, store.Actor, []T, bool) (*exchange.ItemsWritten, error)) (*model.AuthoringPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, coordinate, key, input)
	if err != nil {
		return nil, err
	}
	if op := opctx.From(ctx); op != nil {
		ctx = exchange.WithPlanned(ctx, &op.Planned)
	}
	written, err := write(ctx, auth.PrincipalFrom(ctx).Actor(), items, dryRun)
	userErrs, err := userErrors(err)
	return model.NewAuthoringPayload(kind, written, userErrs), err
}

// Node reads the resources of all rows at once.
func (r authoredWriteResolver) Node(ctx context.Context, obj *model.AuthoredWrite) (model.Node, error) {
	return model.Load(ctx, obj.BatchRow, "node", r.Resolver, (*Resolver).writtenNodes)
}

// writtenNodes returns the resources that a mutation has written, all of one type; nil for a deleted one, and in a dry run for a new
// one.
func (r *Resolver) writtenNodes(ctx context.Context, all []*model.AuthoredWrite) ([]model.Node, error) {
	found := map[string]model.Node{}
	err := r.nodesOfType(ctx, all[0].Kind, mapRows(all, func(w *model.AuthoredWrite) string { return w.ID }), found)
	return mapRows(all, func(w *model.AuthoredWrite) model.Node { return found[store.GlobalID(w.Kind, w.ID)] }), err
}
