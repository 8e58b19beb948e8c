package store

import (
	"strconv"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"
)

// Money is an amount of a currency.
type Money struct {
	Amount    string // minor units, in digits: "129900" is 1,299.00 USD
	Currency  string // ISO 4217
	Formatted string // for people, by the shopper's locale: "$1,299.00"
}

// newMoney writes minor units the way a locale does.
func newMoney(minor int64, code string, locale language.Tag) *Money {
	m := &Money{Amount: strconv.FormatInt(minor, 10), Currency: code}
	amount, err := currency.NewAmountFromInt64(minor, code)
	if err != nil { // a code that CLDR does not know is written plainly
		m.Formatted = m.Amount + " " + code
		return m
	}
	m.Formatted = currency.NewFormatter(currency.NewLocale(locale.String())).Format(amount)
	return m
}

func (m *Money) size() int { return 96 + len(m.Formatted) }

// moneyFormat writes amounts of a view's currency the way its locale does: each
// once, as long as that is kept, because prices are much the same and writing
// one takes longer than reading a product.
type moneyFormat struct {
	currency string
	locale   language.Tag
	cache    *cache
	key      cacheKey
}

func (v *View) moneyFormat() moneyFormat {
	return moneyFormat{v.Currency, v.Locale, v.cache, cacheKey{kind: cachedMoney, name: v.name}}
}

func (f moneyFormat) of(minor int64) *Money {
	f.key.number = int(minor)
	if kept, ok := cached[*Money](f.cache, f.key); ok {
		return kept
	}
	m := newMoney(minor, f.currency, f.locale)
	f.cache.keep(f.key, m)
	return m
}

func (m *Money) appendJSON(dst []byte) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = appendMember(dst, "amount", m.Amount)
	dst = appendMember(dst, "currency", m.Currency)
	dst = appendMember(dst, "formatted", m.Formatted)
	return append(dst, '}')
}

// maxAmount keeps amounts exact in every client's numbers.
const maxAmount = 1<<53 - 1
