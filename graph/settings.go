package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
)

func (r queryResolver) Settings(ctx context.Context) (*store.Settings, error) {
	if err := auth.Require(ctx, "Query.settings"); err != nil {
		return nil, err
	}
	return r.store.Settings.Get(ctx)
}

func (r mutationResolver) SettingsUpdate(ctx context.Context, input model.SettingsUpdateInput) (*generated.SettingsUpdatePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.settingsUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	input.Nulls = opctx.Nulls(ctx)
	settings, err := r.store.Settings.Update(ctx, auth.PrincipalFrom(ctx).Actor(), input.Change)
	userErrs, err := userErrors(err)
	return &generated.SettingsUpdatePayload{Settings: settings, UserErrors: userErrs}, err
}
