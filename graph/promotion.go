package graph

import (
	"context"
	"encoding/json"
	"fmt"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/promotion"
)

func (r queryResolver) Promotion(ctx context.Context, id string) (*promotion.Promotion, error) {
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
	slice, err := r.store.Promotions(ctx, wanted, store.ListQuery{Sort: orderBy.Sort(), Ranges: ranges, Page: page(first, after, last, before, offset)})
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, slice.Items), nil
}

// MinCartValue and MaxDiscountValue read nothing: a promotion has its amounts,
// and they are but written for the shopper.
func (r promotionResolver) MinCartValue(ctx context.Context, obj *promotion.Promotion) ([]*store.Money, error) {
	return r.store.Monies(ctx, obj.MinCartValue, shopperIn(ctx).Locale)
}

func (r promotionResolver) MaxDiscountValue(ctx context.Context, obj *promotion.Promotion) ([]*store.Money, error) {
	return r.store.Monies(ctx, obj.MaxDiscountValue, shopperIn(ctx).Locale)
}

func (r mutationResolver) PromotionCreate(ctx context.Context, input model.PromotionCreateInput) (*generated.PromotionCreatePayload, error) {
	ctx, err := begin(ctx, "Mutation.promotionCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	change := promotion.PromotionChange{Name: &input.Name, Description: input.Description, Type: &input.PromotionType,
		Enabled: &input.Enabled, Automatic: &input.Automatic, Start: &input.Start, End: &input.End,
		MaxApplicationsPerCart: input.MaxApplicationsPerCart, Schema: input.Schema,
		Currencies: input.Currencies, TargetCatalogs: targets(input.TargetCatalogs), Conditions: input.Conditions}
	promotion, err := (*promotion.Promotion)(nil), setAmounts(&change, input.MinCartValue, input.MaxDiscountValue)
	if err == nil {
		promotion, err = r.store.CreatePromotion(ctx, auth.From(ctx).Actor(), deref(input.ID), change)
	}
	faults, err := userErrors(err)
	return &generated.PromotionCreatePayload{Promotion: promotion, UserErrors: faults}, err
}

func (r mutationResolver) PromotionUpdate(ctx context.Context, input generated.PromotionUpdateInput) (*generated.PromotionUpdatePayload, error) {
	ctx, err := begin(ctx, "Mutation.promotionUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	change := promotion.PromotionChange{Name: input.Name, Description: input.Description, Type: input.PromotionType,
		Enabled: input.Enabled, Automatic: input.Automatic, Start: input.Start, End: input.End,
		MaxApplicationsPerCart: input.MaxApplicationsPerCart, Schema: input.Schema,
		Currencies: input.Currencies, TargetCatalogs: targets(input.TargetCatalogs), Conditions: input.Conditions}
	update, err := &promotion.PromotionUpdate{}, setAmounts(&change, input.MinCartValue, input.MaxDiscountValue)
	if err == nil {
		update, err = r.store.UpdatePromotion(ctx, auth.From(ctx).Actor(), store.LocalID(input.ID), change, input.DryRun)
	}
	if err != nil {
		update = &promotion.PromotionUpdate{}
	}
	faults, err := userErrors(err)
	payload := &generated.PromotionUpdatePayload{CodesDeleted: update.CodesDeleted, UserErrors: faults}
	if input.DryRun {
		payload.Preview = update.Promotion
	} else {
		payload.Promotion = update.Promotion
	}
	return payload, err
}

func (r mutationResolver) PromotionDelete(ctx context.Context, input generated.PromotionDeleteInput) (*generated.PromotionDeletePayload, error) {
	ctx, err := begin(ctx, "Mutation.promotionDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ID)
	gone, faults, err := deletion(store.TypePromotion, id, r.store.DeletePromotion(ctx, auth.From(ctx).Actor(), id))
	return &generated.PromotionDeletePayload{DeletedID: gone, UserErrors: faults}, err
}

// setAmounts reads the amounts of an input, each of which is digits, and tells
// every one that is not.
func setAmounts(change *promotion.PromotionChange, minCart, maxDiscount []*model.MoneyInput) error {
	var faults store.Errors
	change.MinCartValue = amounts("min_cart_value", minCart, &faults)
	change.MaxDiscountValue = amounts("max_discount_value", maxDiscount, &faults)
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// amounts are those of an input; nil stays nil.
func amounts(member string, list []*model.MoneyInput, faults *store.Errors) []store.CurrencyAmount {
	if list == nil {
		return nil
	}
	values := make([]store.CurrencyAmount, len(list))
	for i, amount := range list {
		value, err := amount.Value()
		if err != nil {
			*faults = append(*faults, err.At(member, fmt.Sprint(i)))
		}
		values[i] = value
	}
	return values
}

// targets are the catalogs of an input as the schema has them; nil stays nil.
func targets(ids []string) json.RawMessage {
	if ids == nil {
		return nil
	}
	text, err := json.Marshal(localIDs(ids))
	if err != nil {
		panic(err) // strings always marshal
	}
	return text
}
