package graph

import (
	"context"

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
	return append([]string{v.Release.Locale}, v.Release.Locales...), nil
}

func (r queryResolver) Channels(ctx context.Context) ([]string, error) {
	v, err := r.catalog(ctx, "Query.channels")
	if err != nil {
		return nil, err
	}
	return v.Routing().Channels(v.Release.CatalogID, v.Now()), nil
}

func (r queryResolver) Currency(ctx context.Context, code string) (*release.Currency, error) {
	v, err := r.catalog(ctx, "Query.currency")
	if err != nil {
		return nil, err
	}
	return orNull(v.CurrencyOf(ctx, code))
}
