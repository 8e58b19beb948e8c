package release

import (
	"context"

	"golang.org/x/text/language"

	"portico/store"
	"portico/store/db"
)

// moneyFormat writes amounts of a view's currency the way its locale does: each
// once, as long as that is kept, because prices are much the same and writing
// one takes longer than reading a product.
type moneyFormat struct {
	currency string
	locale   language.Tag
	cache    *db.Cache
	key      db.CacheKey
}

func (v *View) moneyFormat() moneyFormat {
	return moneyFormat{v.Currency, v.Locale, v.Cache, db.CacheKey{Kind: cachedMoney, Name: v.name}}
}

func (f moneyFormat) of(minor int64) *store.Money {
	f.key.Number = int(minor)
	if kept, ok := db.Cached[*store.Money](f.cache, f.key); ok {
		return kept
	}
	m := store.NewMoney(minor, f.currency, f.locale)
	f.cache.Set(f.key, m)
	return m
}

// Monies writes amounts for people, in their order: as the Accept-Language value
// of the shopper prefers, or else as the settings say, because no release, which
// has a locale of its own, is behind them.
func (s *ReleaseService) Monies(ctx context.Context, amounts []store.CurrencyAmount, accepted string) ([]*store.Money, error) {
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	locale, list := writtenIn(acceptLanguage(accepted), settings.Locale), make([]*store.Money, len(amounts))
	for i, a := range amounts {
		name := ";" + locale.String() + ";" + a.Currency
		list[i] = moneyFormat{a.Currency, locale, s.db.Cache, db.CacheKey{Kind: cachedMoney, Name: name}}.of(a.Minor)
	}
	return list, nil
}
