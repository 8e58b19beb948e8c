package price

import (
	"golang.org/x/text/language"

	"portico/store"
	"portico/store/db"
)

// cachedMoney is the kind of the cached *store.Money, by locale, currency and
// minor units. The other kinds are those of segment.
const cachedMoney = '#'

// Formatter writes amounts of one currency the way a locale does. It caches
// each text, because prices repeat and writing one takes longer than reading
// a product. It is safe for concurrent use.
type Formatter struct {
	currency string
	locale   language.Tag
	cache    *db.Cache
	key      db.CacheKey
}

// NewFormatter returns a formatter with a cache, which may be nil. Formatters of
// one name must agree in currency and locale.
func NewFormatter(cache *db.Cache, currency string, locale language.Tag, name string) Formatter {
	return Formatter{currency, locale, cache, db.CacheKey{Kind: cachedMoney, Name: name}}
}

// Money writes an amount of minor units.
func (f Formatter) Money(minor int64) *store.Money {
	f.key.Number = int(minor)
	if kept, ok := db.Cached[*store.Money](f.cache, f.key); ok {
		return kept
	}
	m := store.NewMoney(minor, f.currency, f.locale)
	f.cache.Set(f.key, m)
	return m
}

// Price returns an amount of minor units as a number and as text.
func (f Formatter) Price(minor int64, includesTax bool, pricebookID string) (*Price, *DisplayPrice) {
	price := &Price{Minor: minor, Currency: f.currency, IncludesTax: includesTax, PricebookID: pricebookID}
	money := f.Money(minor)
	if includesTax {
		return price, &DisplayPrice{WithTax: money}
	}
	return price, &DisplayPrice{WithoutTax: money}
}
