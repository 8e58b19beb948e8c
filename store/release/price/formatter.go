package price

import (
	"golang.org/x/text/language"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
)

// cachedMoney is the kind of the cached *store.MoneyFormat, by locale and currency. The other kinds
// are those of segment.
const cachedMoney = '#'

// Formatter writes amounts of one currency the way a locale does. It is safe for concurrent use.
type Formatter struct {
	currency string
	format   *store.MoneyFormat
}

// NewFormatter returns a formatter with a cache, which may be nil. Formatters of
// one name must agree in currency and locale.
func NewFormatter(cache *db.Cache, currency string, locale language.Tag, name cachekey.Key) Formatter {
	key := db.CacheKey{Kind: cachedMoney, Name: name}
	format, ok := db.Cached[*store.MoneyFormat](cache, key)
	if !ok {
		format = store.NewMoneyFormat(currency, locale)
		cache.Set(key, format)
	}
	return Formatter{currency, format}
}

// Money writes an amount of minor units.
func (f Formatter) Money(minor int64) *store.Money { return f.format.Money(minor) }

// Price returns a price of an amount of minor units. An amount that is not of a price book has no PricebookID.
func (f Formatter) Price(minor int64, includesTax bool, pricebookID string) *Price {
	return &Price{Minor: minor, IncludesTax: includesTax, PricebookID: pricebookID, money: f.format.MoneyValue(minor)}
}
