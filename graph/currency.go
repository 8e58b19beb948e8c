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

func (r queryResolver) Currency(ctx context.Context, code string) (*release.Currency, error) {
	v, err := r.catalog(ctx, "Query.currency")
	if err != nil {
		return nil, err
	}
	return orNull(v.CurrencyOf(ctx, code))
}
