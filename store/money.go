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

// NewMoney writes minor units the way a locale does.
func NewMoney(minor int64, code string, locale language.Tag) *Money {
	m := &Money{Amount: strconv.FormatInt(minor, 10), Currency: code}
	amount, err := currency.NewAmountFromInt64(minor, code)
	if err != nil { // a code that CLDR does not know is written plainly
		m.Formatted = m.Amount + " " + code
		return m
	}
	m.Formatted = currency.NewFormatter(currency.NewLocale(locale.String())).Format(amount)
	return m
}

// Size is about how many bytes it takes in memory.
func (m *Money) Size() int { return 96 + len(m.Formatted) }

// AppendJSON appends it as the contract shows it; nil is null.
func (m *Money) AppendJSON(dst []byte) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = AppendMember(dst, "amount", m.Amount)
	dst = AppendMember(dst, "currency", m.Currency)
	dst = AppendMember(dst, "formatted", m.Formatted)
	return append(dst, '}')
}

// MaxAmount keeps amounts exact in every client's numbers.
const MaxAmount = 1<<53 - 1

// CurrencyAmount is an amount of a currency.
type CurrencyAmount struct {
	Currency string `json:"currency"` // ISO 4217
	Minor    int64  `json:"amount"`   // minor units
}

// MaxStock bounds a stock record's total, so that it fits every client's
// 32-bit integer.
const MaxStock = 1<<31 - 1
