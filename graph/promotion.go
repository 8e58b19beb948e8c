package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/rule"
)

func (r queryResolver) Promotion(ctx context.Context, id string) (*rule.Promotion, error) {
	if err := auth.Require(ctx, "Query.promotion"); err != nil {
		return nil, err
	}
	return orNull(r.store.Promotion(ctx, store.LocalID(id)))
}

func (r queryResolver) Promotions(ctx context.Context, filter *model.PromotionFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.PromotionConnection, error) {
	if err := auth.Require(ctx, "Query.promotions"); err != nil {
		return nil, err
	}
	wanted, ranges, err := filter.Filter()
	if err != nil {
		return nil, err
	}
	slice, err := r.store.Promotions(ctx, wanted, store.ListQuery{Sort: orderBy.Sort(), Ranges: ranges, Page: pageOf(first, after, last, before, offset)})
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, slice.Items), nil
}

// MinCartValue formats the amounts in the shopper's locale, as MaxDiscountValue does.
func (r promotionResolver) MinCartValue(ctx context.Context, obj *rule.Promotion) ([]*store.Money, error) {
	return r.store.Monies(ctx, obj.MinCartValue, opctx.Shopper(ctx).Locale)
}

func (r promotionResolver) MaxDiscountValue(ctx context.Context, obj *rule.Promotion) ([]*store.Money, error) {
	return r.store.Monies(ctx, obj.MaxDiscountValue, opctx.Shopper(ctx).Locale)
}

func (r mutationResolver) PromotionCreate(ctx context.Context, input model.PromotionCreateInput) (*generated.PromotionCreatePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.promotionCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	input.TargetCatalogs = localIDs(input.TargetCatalogs)
	promotion, err := r.store.CreatePromotion(ctx, auth.PrincipalFrom(ctx).Actor(), deref(input.ID), input.PromotionChange)
	userErrs, err := userErrors(err)
	return &generated.PromotionCreatePayload{Promotion: promotion, UserErrors: userErrs}, err
}

func (r mutationResolver) PromotionUpdate(ctx context.Context, input model.PromotionUpdateInput) (*generated.PromotionUpdatePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.promotionUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	input.TargetCatalogs, input.Nulls = localIDs(input.TargetCatalogs), opctx.Nulls(ctx)
	update, err := r.store.UpdatePromotion(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), input.PromotionChange, input.DryRun)
	if err != nil {
		update = &promotion.PromotionUpdate{}
	}
	userErrs, err := userErrors(err)
	payload := &generated.PromotionUpdatePayload{CodesDeleted: update.CodesDeleted, UserErrors: userErrs}
	if input.DryRun {
		payload.Preview = update.Promotion
	} else {
		payload.Promotion = update.Promotion
	}
	return payload, err
}

func (r mutationResolver) PromotionDelete(ctx context.Context, input generated.PromotionDeleteInput) (*generated.PromotionDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.promotionDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ID)
	deleted, err := r.store.DeletePromotion(ctx, auth.PrincipalFrom(ctx).Actor(), id, input.DryRun)
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
