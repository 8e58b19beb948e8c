package shop

import (
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
	return moneyFormat{v.Currency, v.Locale, v.cache, db.CacheKey{Kind: cachedMoney, Name: v.name}}
}

func (f moneyFormat) of(minor int64) *store.Money {
	f.key.Number = int(minor)
	if kept, ok := db.Cached[*store.Money](f.cache, f.key); ok {
		return kept
	}
	m := store.NewMoney(minor, f.currency, f.locale)
	f.cache.Keep(f.key, m)
	return m
}
