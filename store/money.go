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
