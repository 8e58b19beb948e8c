package graph

import (
	"context"
	"slices"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
)

func (r queryResolver) Promotion(ctx context.Context, id string) (*model.Promotion, error) {
	if err := auth.Require(ctx, "Query.promotion"); err != nil {
		return nil, err
	}
	return orNull(singleRow[model.Promotion](r.store.Promotions.Get(ctx, store.LocalID(id))))
}

func (r queryResolver) Promotions(ctx context.Context, filter *model.PromotionFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.PromotionConnection, error) {
	if err := auth.Require(ctx, "Query.promotions"); err != nil {
		return nil, err
	}
	wanted, ranges := filter.Filter()
	return pageOfRows[model.Promotion](r.store.Promotions.List(ctx, wanted, store.ListQuery{Sort: orderBy.Sort(), Ranges: ranges, Page: pageOf(first, after, last, before, offset)}))
}

// promotionRow returns a promotion as a row of its own; nil for nil.
func promotionRow(p *rule.Promotion) *model.Promotion {
	if p == nil {
		return nil
	}
	return model.NewBatch[model.Promotion]([]*rule.Promotion{p})[0]
}

// Codes lists the codes of all promotions at once.
func (r promotionResolver) Codes(ctx context.Context, obj *model.Promotion, filter *model.PromotionCodeFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.PromotionCodeConnection, error) {
	if err := auth.Require(ctx, "Promotion.codes"); err != nil {
		return nil, err
	}
	page := pageOf(first, after, last, before, offset)
	return model.LoadBy(ctx, obj.BatchRow, edgeKey("codes", page, orderBy, filter), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Promotion) ([]*model.PromotionCodeConnection, error) {
		lists, err := r.store.Codes.OfPromotions(ctx, mapRows(all, promotionOf), filter.Filter(), orderBy.Sort(), page)
		if err != nil {
			return nil, err
		}
		connections := make([]*model.PromotionCodeConnection, len(lists))
		for i, slice := range lists {
			connections[i] = model.NewConnection(slice, slice.Items)
		}
		return connections, nil
	})
}

// Usages lists the usages of all promotions at once.
func (r promotionResolver) Usages(ctx context.Context, obj *model.Promotion, code *string, filter *model.ListBounds, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.PromotionCodeUsageConnection, error) {
	if err := auth.Require(ctx, "Promotion.usages"); err != nil {
		return nil, err
	}
	page := pageOf(first, after, last, before, offset)
	return model.LoadBy(ctx, obj.BatchRow, edgeKey("usages", page, orderBy, filter, code), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Promotion) ([]*model.PromotionCodeUsageConnection, error) {
		lists, err := r.store.Redemptions.UsagesOfPromotions(ctx, mapRows(all, promotionOf), code, store.ListQuery{Sort: orderBy.Sort(), Ranges: filter.Ranges(), Page: page})
		if err != nil {
			return nil, err
		}
		connections := make([]*model.PromotionCodeUsageConnection, len(lists))
		rows := model.NewBatchOfLists[model.PromotionCodeUsage](mapRows(lists, func(l *store.Slice[*redeem.CodeUsage]) []*redeem.CodeUsage { return l.Items }))
		for i, slice := range lists {
			connections[i] = model.NewConnection(slice, rows[i])
		}
		return connections, nil
	})
}

// promotionOf returns the store's promotion of a row.
func promotionOf(p *model.Promotion) *rule.Promotion { return p.Promotion }

// Details formats the amounts in the shopper's locale, as MinCartValue does.
func (r promotionResolver) Details(ctx context.Context, obj *model.Promotion) (model.PromotionDetails, error) {
	return r.promotionDetails(ctx, obj.Promotion)
}

func (r previewResolver) Details(ctx context.Context, obj *rule.Promotion) (model.PromotionDetails, error) {
	return r.promotionDetails(ctx, obj)
}

// promotionDetails returns the details of a promotion, with amounts in the shopper's locale.
func (r *Resolver) promotionDetails(ctx context.Context, p *rule.Promotion) (model.PromotionDetails, error) {
	terms := model.PromotionTerms{Details: p.Details()}
	amounts := make([]store.CurrencyAmount, len(terms.Amounts))
	for i, a := range terms.Amounts {
		amounts[i] = store.CurrencyAmount{Currency: a.Currency, Minor: *a.Minor}
	}
	var err error
	terms.Money, err = r.store.Releases.Monies(ctx, amounts, opctx.Shopper(ctx).Languages)
	return model.NewPromotionDetails(terms), err
}

// MinCartValue formats the amounts in the shopper's locale, as MaxDiscountValue does.
func (r promotionResolver) MinCartValue(ctx context.Context, obj *model.Promotion) ([]*store.Money, error) {
	return r.store.Releases.Monies(ctx, obj.MinCartValue, opctx.Shopper(ctx).Languages)
}

func (r promotionResolver) MaxDiscountValue(ctx context.Context, obj *model.Promotion) ([]*store.Money, error) {
	return r.store.Releases.Monies(ctx, obj.MaxDiscountValue, opctx.Shopper(ctx).Languages)
}

func (r previewResolver) MinCartValue(ctx context.Context, obj *rule.Promotion) ([]*store.Money, error) {
	return r.store.Releases.Monies(ctx, obj.MinCartValue, opctx.Shopper(ctx).Languages)
}

func (r previewResolver) MaxDiscountValue(ctx context.Context, obj *rule.Promotion) ([]*store.Money, error) {
	return r.store.Releases.Monies(ctx, obj.MaxDiscountValue, opctx.Shopper(ctx).Languages)
}

func (r mutationResolver) PromotionCreate(ctx context.Context, input model.PromotionCreateInput) (*generated.PromotionCreatePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	if input.Details == nil && input.RestDetails == nil {
		userErrs, err := userErrors(store.Unprocessablef([]string{"details"}, "is required"))
		return &generated.PromotionCreatePayload{UserErrors: userErrs}, err
	}
	input.TargetCatalogIDs = store.LocalIDs(input.TargetCatalogIDs)
	created, err := r.store.Promotions.Create(ctx, auth.PrincipalFrom(ctx).Actor(), deref(input.ID), input.Change)
	userErrs, err := userErrors(err)
	if err != nil {
		return nil, err
	}
	warnings, err := r.promotionWarnings(ctx, created, input.RestDetails == nil)
	return &generated.PromotionCreatePayload{Promotion: promotionRow(created), Warnings: warnings, UserErrors: userErrs}, err
}

// promotionWarnings returns a warning for each list of a promotion that names SKUs or catalogs that do not exist, or SKUs of parents,
// which carts do not have, for each currency that ISO 4217 does not have, and for more automatic promotions than carts consider, by its path in the input. inDetails says that the input has GraphQL's details, not REST's
// schema. The promotion may be nil.
func (r *Resolver) promotionWarnings(ctx context.Context, p *rule.Promotion, inDetails bool) ([]*model.Warning, error) {
	warnings := []*model.Warning{}
	if p == nil {
		return warnings, nil
	}
	warn := func(path []string, format string, ids []string, right func(string) bool) {
		if wrong := slices.DeleteFunc(store.Unique(ids), right); len(wrong) > 0 {
			warnings = append(warnings, &model.Warning{UserError: model.UserError{Error: store.UnknownReferencef(path, format, store.ListSome(wrong))}})
		}
	}
	ofSchema := func(path []string) []string {
		if inDetails {
			return rule.DetailsPath(p.Type, path[1:])
		}
		return path
	}
	for _, warning := range p.CurrencyWarnings() {
		if warning.Path[0] == "schema" {
			warning.Path = ofSchema(warning.Path)
		}
		warnings = append(warnings, &model.Warning{UserError: model.UserError{Error: warning}})
	}
	lists := p.SKULists()
	skus, parents, err := r.store.Catalogs.KnownSKUs(ctx, store.Unique(slices.Concat(mapRows(lists, func(l rule.SKUList) []string { return l.SKUs })...)))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		warn(ofSchema(list.Path), "names SKUs that no product has: %s; create the products, or correct the SKUs", list.SKUs, func(sku string) bool { return skus[sku] })
		warn(ofSchema(list.Path), "names SKUs of parents: %s; carts have their variants, so name the SKUs of these", list.SKUs, func(sku string) bool { return !parents[sku] })
	}
	catalogs, err := r.store.Catalogs.ByID(ctx, p.TargetCatalogs)
	if err != nil {
		return nil, err
	}
	if p.Automatic && p.Enabled {
		ignored, err := r.store.Promotions.WarnOfIgnored(ctx)
		if err != nil {
			return nil, err
		}
		if ignored != nil {
			warnings = append(warnings, &model.Warning{UserError: model.UserError{Error: ignored}})
		}
	}
	warn([]string{"target_catalog_ids"}, "names catalogs that do not exist: %s; create them, or correct the ids", p.TargetCatalogs, func(id string) bool { return catalogs[id] != nil })
	return warnings, nil
}

func (r mutationResolver) PromotionUpdate(ctx context.Context, input model.PromotionUpdateInput) (*generated.PromotionUpdatePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	input.TargetCatalogIDs, input.Nulls = store.LocalIDs(input.TargetCatalogIDs), opctx.Nulls(ctx)
	update, err := r.store.Promotions.Update(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), input.Change, input.DryRun)
	if err != nil {
		update = &promotion.Update{}
	}
	userErrs, err := userErrors(err)
	payload := &generated.PromotionUpdatePayload{CodesDeleted: update.CodesDeleted, UserErrors: userErrs}
	if input.DryRun {
		payload.Preview = update.Promotion
	} else {
		payload.Promotion = promotionRow(update.Promotion)
	}
	if err == nil {
		payload.Warnings, err = r.promotionWarnings(ctx, update.Promotion, input.RestDetails == nil)
	}
	return payload, err
}

func (r mutationResolver) PromotionDelete(ctx context.Context, input generated.PromotionDeleteInput) (*generated.PromotionDeletePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ID)
	deleted, err := r.store.Promotions.Delete(ctx, auth.PrincipalFrom(ctx).Actor(), id, input.DryRun)
	gone, userErrs, err := deletion(store.TypePromotion, id, err)
	if input.DryRun {
		gone = nil
	}
	return &generated.PromotionDeletePayload{DeletedID: gone, CodesDeleted: deleted.CodesDeleted, UsagesKept: deleted.UsagesKept, UserErrors: userErrs}, err
}

// Amount sets the digits unchecked: the store reports invalid amounts with all other errors.
func (moneyInputResolver) Amount(_ context.Context, obj *rule.AmountInput, data string) error {
	obj.SetDigits(data)
	return nil
}
