package graph

import (
	"context"
	"errors"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/cart"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
)

func (r queryResolver) PromotionCodeCheck(ctx context.Context, codeText string, user *string, units int, cartValue *rule.AmountInput, lines []*cart.LineInput) (*redeem.CodeCheck, error) {
	if err := auth.Require(ctx, "Query.promotionCodeCheck"); err != nil {
		return nil, err
	}
	if err := r.codeLimit(ctx, auth.PrincipalFrom(ctx).QuotaClientID()); err != nil {
		return nil, err
	}
	worth, amountErr := cartValue.Value()
	if amountErr != nil {
		return nil, amountErr.At("cart_value")
	}
	use := redeem.CodeUse{Code: codeText, User: deref(user), Units: units, CartValue: worth}
	if lines != nil {
		return r.checkCodeInCart(ctx, use, lines)
	}
	format, err := r.store.Releases.MoneyFormat(ctx, opctx.Shopper(ctx).Languages)
	if err != nil {
		return nil, err
	}
	return r.store.Redemptions.CheckCode(ctx, use, format)
}

// Amount formats the amount in the shopper's locale.
func (r codeCheckResolver) Amount(ctx context.Context, obj *redeem.CodeCheck) (*store.Money, error) {
	if obj.Amount == nil {
		return nil, nil
	}
	list, err := r.store.Releases.Monies(ctx, []store.CurrencyAmount{*obj.Amount}, opctx.Shopper(ctx).Languages)
	return firstItem(list), err
}

func (r queryResolver) PromotionCodeUsages(ctx context.Context, promotionID *string, codeText *string, reference *string, filter *model.ListBounds, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.PromotionCodeUsageConnection, error) {
	if err := auth.Require(ctx, "Query.promotionCodeUsages"); err != nil {
		return nil, err
	}
	of := redeem.UsageFilter{PromotionID: localID(promotionID), Code: codeText, Reference: reference}
	return pageOfRows[model.PromotionCodeUsage](r.store.Redemptions.CodeUsages(ctx, of,
		store.ListQuery{Sort: orderBy.Sort(), Ranges: filter.Ranges(), Page: pageOf(first, after, last, before, offset)}))
}

// Promotion reads the promotions of all usages at once.
func (r codeUsageResolver) Promotion(ctx context.Context, obj *model.PromotionCodeUsage) (*model.Promotion, error) {
	if err := auth.Require(ctx, "PromotionCodeUsage.promotion"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "promotion", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.PromotionCodeUsage) ([]*model.Promotion, error) {
		ids := mapRows(all, (*model.PromotionCodeUsage).OfPromotion)
		found, err := r.store.Promotions.ByID(ctx, unique(ids))
		promotions := store.IndexBy(model.NewBatch[model.Promotion](valuesByID(unique(ids), found)), func(p *model.Promotion) string { return p.ID })
		return model.ValuesByKey(ids, promotions), err
	})
}

func (r mutationResolver) PromotionCodeRedeem(ctx context.Context, input generated.PromotionCodeRedeemInput) (*generated.PromotionCodeRedeemPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionCodeRedeem", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	if err := r.codeLimit(ctx, auth.PrincipalFrom(ctx).QuotaClientID()); err != nil {
		return nil, err
	}
	usage, err := r.store.Redemptions.Redeem(ctx, auth.PrincipalFrom(ctx).Actor(),
		redeem.CodeUse{Code: input.Code, User: deref(input.User), Units: input.Units, Reference: input.Reference})
	var refusals code.Refusals
	errors.As(err, &refusals)
	userErrs, err := userErrors(err)
	payload := &generated.PromotionCodeRedeemPayload{UserErrors: userErrs}
	for i := range refusals {
		payload.Reasons = append(payload.Reasons, &refusals[i])
	}
	if usage != nil {
		payload.Usage, payload.UnitsApplied = model.NewBatch[model.PromotionCodeUsage]([]*redeem.CodeUsage{usage})[0], usage.Units
	}
	return payload, err
}

func (r mutationResolver) PromotionCodeRelease(ctx context.Context, input generated.PromotionCodeReleaseInput) (*generated.PromotionCodeReleasePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionCodeRelease", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	released, err := r.store.Redemptions.Release(ctx, auth.PrincipalFrom(ctx).Actor(), input.Reference, input.Code)
	userErrs, err := userErrors(err)
	return &generated.PromotionCodeReleasePayload{Usages: model.NewBatch[model.PromotionCodeUsage](released), UserErrors: userErrs}, err
}

func (codeRefusalResolver) Message(_ context.Context, obj *code.Refusal) (string, error) {
	return model.Message(obj.Err), nil
}
