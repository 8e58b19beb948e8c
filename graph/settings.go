package graph

import (
	"context"

	"portico/graph/generated"
	"portico/internal/auth"
	"portico/store"
	"portico/store/settings"
)

func (r queryResolver) Settings(ctx context.Context) (*store.Settings, error) {
	if err := auth.Require(ctx, "Query.settings"); err != nil {
		return nil, err
	}
	return r.store.Settings(ctx)
}

func (r mutationResolver) SettingsUpdate(ctx context.Context, input generated.SettingsUpdateInput) (*generated.SettingsUpdatePayload, error) {
	ctx, err := begin(ctx, "Mutation.settingsUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	settings, err := r.store.UpdateSettings(ctx, auth.From(ctx).Actor(),
		settings.SettingsChange{PageLength: input.PageLength, Currency: input.Currency, Locale: input.Locale})
	faults, err := userErrors(err)
	return &generated.SettingsUpdatePayload{Settings: settings, UserErrors: faults}, err
}
