package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/promotion/code"
)

func (r queryResolver) PromotionCode(ctx context.Context, codeText string) (*code.PromotionCode, error) {
	if err := auth.Require(ctx, "Query.promotionCode"); err != nil {
		return nil, err
	}
	return orNull(r.store.Codes.Get(ctx, codeText))
}

func (codeResolver) Promotion(_ context.Context, obj *code.PromotionCode) (*model.Promotion, error) {
	return promotionRow(obj.Promotion), nil
}

func (r mutationResolver) PromotionCodesCreate(ctx context.Context, input generated.PromotionCodesCreateInput) (*generated.PromotionCodesCreatePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionCodesCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	p, codes, err := r.store.Codes.Create(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.PromotionID), valuesOf(input.Codes), input.ConsumeUnit)
	userErrs, err := userErrors(err)
	if codes == nil {
		codes = []*code.PromotionCode{}
	}
	return &generated.PromotionCodesCreatePayload{Promotion: promotionRow(p), Codes: codes, UserErrors: userErrs}, err
}

func (r mutationResolver) PromotionCodesDelete(ctx context.Context, input generated.PromotionCodesDeleteInput) (*generated.PromotionCodesDeletePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionCodesDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	deleted, err := r.store.Codes.Delete(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.PromotionID), input.Codes)
	userErrs, err := userErrors(err)
	return &generated.PromotionCodesDeletePayload{Deleted: deleted, UserErrors: userErrs}, err
}

// Users sets the users, which REST accepts as a string too.
func (promotionCodeInputResolver) Users(_ context.Context, obj *code.NewCode, data []string) error {
	obj.User = code.Users(data)
	return nil
}
