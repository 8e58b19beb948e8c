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

func (r queryResolver) CatalogRule(ctx context.Context, id string) (*model.CatalogRule, error) {
	return authoredRow[model.CatalogRule](ctx, "catalogRule", id, r.store.Catalogs.RulesByID)
}

func (r queryResolver) CatalogRules(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogRuleConnection, error) {
	if err := auth.Require(ctx, "Query.catalogRules"); err != nil {
		return nil, err
	}
	return pageOfRows[model.CatalogRule](r.store.Catalogs.Rules(ctx, pageOf(first, after, last, before, offset)))
}

// Catalog reads the catalogs of all rules at once.
func (r ruleResolver) Catalog(ctx context.Context, obj *model.CatalogRule) (*model.Catalog, error) {
	return catalogOf(ctx, r.Resolver, "CatalogRule.catalog", obj.BatchRow)
}

func (r mutationResolver) CatalogRuleCreate(ctx context.Context, input generated.CatalogRuleCreateInput) (*generated.CatalogRulePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogRuleCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	catalogID := store.LocalID(input.CatalogID)
	rule, err := singleRow[model.CatalogRule](r.store.Catalogs.CreateRule(ctx, auth.PrincipalFrom(ctx).Actor(), deref(input.ID), catalog.RuleChange{
		Name: &input.Name, CatalogID: &catalogID, AccountIDs: input.AccountIds, AccountTagIDs: input.AccountTagIds,
		CustomerIDs: input.CustomerIds, Channels: input.Channels, Tags: input.Tags, Schedules: valuesOf(input.Schedules)}))
	userErrs, err := userErrors(err)
	return &generated.CatalogRulePayload{CatalogRule: rule, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogRuleUpdate(ctx context.Context, input generated.CatalogRuleUpdateInput) (*generated.CatalogRulePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogRuleUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	change := catalog.RuleChange{Nulls: opctx.Nulls(ctx), Name: input.Name, AccountIDs: input.AccountIds, AccountTagIDs: input.AccountTagIds,
		CustomerIDs: input.CustomerIds, Channels: input.Channels, Tags: input.Tags, Schedules: valuesOf(input.Schedules)}
	if input.CatalogID != nil {
		catalogID := store.LocalID(*input.CatalogID)
		change.CatalogID = &catalogID
	}
	rule, err := singleRow[model.CatalogRule](r.store.Catalogs.UpdateRule(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), change))
	userErrs, err := userErrors(err)
	return &generated.CatalogRulePayload{CatalogRule: rule, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogRuleDelete(ctx context.Context, input generated.ObjectDeleteInput) (*generated.ObjectDeletePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogRuleDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ID)
	gone, userErrs, err := deletion(store.TypeCatalogRule, id, r.store.Catalogs.DeleteRule(ctx, auth.PrincipalFrom(ctx).Actor(), id))
	return &generated.ObjectDeletePayload{DeletedID: gone, UserErrors: userErrs}, err
}
