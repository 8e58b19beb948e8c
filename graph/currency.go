package graph

import (
	"context"

	"portico/store"
	"portico/store/release"
)

func (r queryResolver) Currencies(ctx context.Context) ([]*release.Currency, error) {
	v, err := r.catalog(ctx, "Query.currencies")
	if err != nil {
		return nil, err
	}
	return v.Currencies(ctx)
}

func (r queryResolver) Locales(ctx context.Context) ([]string, error) {
	v, err := r.catalog(ctx, "Query.locales")
	if err != nil {
		return nil, err
	}
	return store.Unique(append([]string{v.Release.Locale}, v.Release.Locales...)), nil
}

func (r queryResolver) Channels(ctx context.Context) ([]string, error) {
	v, err := r.catalog(ctx, "Query.channels")
	if err != nil {
		return nil, err
	}
	return v.Routing().Channels(v.Release.CatalogID, v.Now()), nil
}
