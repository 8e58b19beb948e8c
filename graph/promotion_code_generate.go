package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/promotion/code"
)

func (r mutationResolver) PromotionCodesGenerate(ctx context.Context, input generated.PromotionCodesGenerateInput) (*generated.PromotionCodesGeneratePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.promotionCodesGenerate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	job, guesses, err := r.store.Codes.Generate(ctx, auth.PrincipalFrom(ctx).Actor(), code.Generation{PromotionID: store.LocalID(input.PromotionID),
		Count: input.Count, Pattern: input.Pattern, Alphabet: deref(input.Alphabet), Uses: input.MaxUses, ConsumeUnit: input.ConsumeUnit})
	userErrs, err := userErrors(err)
	if job == nil {
		guesses = 0
	}
	return &generated.PromotionCodesGeneratePayload{Job: jobOf(job), GuessesPerCode: guesses, UserErrors: userErrs}, err
}
