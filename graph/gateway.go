package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store/gateway"
)

func (r queryResolver) Gateway(ctx context.Context, slug gateway.Slug) (*model.Gateway, error) {
	if err := auth.Require(ctx, "Query.gateway"); err != nil {
		return nil, err
	}
	found, err := r.store.Gateways.Get(ctx, string(slug))
	return orNull(gatewayOf(found), err)
}

func (r queryResolver) Gateways(ctx context.Context) ([]*model.Gateway, error) {
	if err := auth.Require(ctx, "Query.gateways"); err != nil {
		return nil, err
	}
	gateways, err := r.store.Gateways.List(ctx)
	list := make([]*model.Gateway, len(gateways))
	for i, g := range gateways {
		list[i] = gatewayOf(g)
	}
	return list, err
}

func (r mutationResolver) GatewayUpdate(ctx context.Context, input model.GatewayUpdateInput) (*generated.GatewayUpdatePayload, error) {
	input.Password = input.Password.Given()
	request := input // compared as JSON when the idempotency key is used again: a secret's JSON is a mask, so the fingerprint is added
	request.IdempotencyKey = nil
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.gatewayUpdate", input.IdempotencyKey, []any{request, r.store.Gateways.SecretFingerprint(input.Password)})
	if err != nil {
		return nil, err
	}
	input.Nulls = opctx.Nulls(ctx)
	changed, err := r.store.Gateways.Update(ctx, auth.PrincipalFrom(ctx).Actor(), string(input.Slug), input.Change)
	userErrs, err := userErrors(err)
	return &generated.GatewayUpdatePayload{Gateway: gatewayOf(changed), UserErrors: userErrs}, err
}

// gatewayOf returns a gateway for the schema. nil stays nil.
func gatewayOf(g *gateway.Gateway) *model.Gateway {
	if g == nil {
		return nil
	}
	return &model.Gateway{Gateway: g}
}
