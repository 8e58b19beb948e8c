package store

import (
	"strconv"
	"strings"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"
)

// Money is an amount in a currency, as clients see it.
type Money struct {
	Amount    string // in minor units: "129900" is 1,299.00 USD
	Currency  string // ISO 4217
	Formatted string // in the shopper's locale: "$1,299.00"
}

// NewMoney formats minor units in a locale.
func NewMoney(minor int64, code string, locale language.Tag) *Money {
	m := &Money{Amount: strconv.FormatInt(minor, 10), Currency: code}
	amount, err := currency.NewAmountFromInt64(minor, code)
	if err != nil { // CLDR does not know the code
		m.Formatted = m.Amount + " " + code
		return m
	}
	m.Formatted = currency.NewFormatter(currency.NewLocale(locale.String())).Format(amount)
	return m
}

// Size is about the memory in bytes.
func (m *Money) Size() int { return 96 + len(m.Formatted) }

// AppendJSON appends the JSON of m; null if nil.
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

// MaxAmount is the largest amount that every client's numbers hold exactly.
const MaxAmount = 1<<53 - 1

// IsCurrencyCode reports whether a text has the form of an ISO 4217 code: three capital letters.
func IsCurrencyCode(code string) bool {
	return len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// NoCurrency is the code that ISO 4217 has for no currency.
const NoCurrency = "XXX"

// CurrencyAmount is an amount in a currency, as it is stored.
type CurrencyAmount struct {
	Currency string `json:"currency"` // ISO 4217
	Minor    int64  `json:"amount"`   // minor units
}
