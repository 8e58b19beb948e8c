package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
)

func (r mutationResolver) ShopperTokenCreate(ctx context.Context, input model.ShopperTokenCreateInput) (*generated.ShopperTokenCreatePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.shopperTokenCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	client := auth.PrincipalFrom(ctx)
	payload := &generated.ShopperTokenCreatePayload{Scopes: []string{}}
	grant, err := r.store.Access.GrantShopperToken(ctx, client.Actor(), input.NewShopperToken)
	if payload.UserErrors, err = userErrors(err); err != nil || grant == nil {
		return payload, err
	}
	token, err := r.Tokens.ShopperToken(ctx, client.ClientID, grant)
	if err != nil {
		return nil, err
	}
	payload.Token, payload.ExpiresAt, payload.Scopes = &token.AccessToken, &token.Expires, auth.ShopperScopes()
	return payload, nil
}
