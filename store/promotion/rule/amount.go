package rule

import (
	"encoding/json"
	"strconv"

	"portico/store"
)

// AmountInput is an amount of an input: minor units as a number, as in REST, or as digits, as in
// GraphQL.
type AmountInput struct {
	Currency string `json:"currency"` // ISO 4217
	Minor    *int64 `json:"amount"`   // minor units; nil if absent or if the digits are invalid

	digits string // as given
}

// SetDigits sets the amount from digits. Value reports invalid digits, together with the other
// errors of the input.
func (a *AmountInput) SetDigits(digits string) {
	a.digits, a.Minor = digits, nil
	if minor, err := strconv.ParseInt(digits, 10, 64); err == nil && digits[0] != '+' {
		a.Minor = &minor
	}
}

// Value returns the amount; nil for nil. The error, at amount, is INVALID for digits that are not
// minor units and UNPROCESSABLE if the amount is absent.
func (a *AmountInput) Value() (*store.CurrencyAmount, *store.Error) {
	switch {
	case a == nil:
		return nil, nil
	case a.Minor != nil:
		return &store.CurrencyAmount{Currency: a.Currency, Minor: *a.Minor}, nil
	case a.digits == "":
		return nil, store.Unprocessablef([]string{"amount"}, "is required, in minor units")
	}
	return nil, store.Invalidf([]string{"amount"}, "must be minor units in digits, such as 5000 for 50.00 USD, got %q", store.Abbreviate(a.digits))
}

// Digits returns the amount as digits, or what was given in their place.
func (a AmountInput) Digits() string {
	if a.digits == "" && a.Minor != nil {
		return strconv.FormatInt(*a.Minor, 10)
	}
	return a.digits
}

// MarshalJSON writes the amount as digits, the form by which idempotency keys compare inputs.
func (a AmountInput) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"amount": a.Digits(), "currency": a.Currency})
}

// CheckAmounts returns the error of each invalid amount.
func CheckAmounts(member string, amounts []AmountInput) (errs store.Errors) {
	for i := range amounts {
		if _, err := amounts[i].Value(); err != nil {
			errs = append(errs, err.At(member, strconv.Itoa(i)))
		}
	}
	return errs
}

// amountSource is an amount of a source.
type amountSource struct {
	Currency string `json:"currency"` // ISO 4217
	Amount   *int64 `json:"amount"`   // minor units
}

// SourceAmounts returns the amounts for a source; nil for nil.
func SourceAmounts(amounts []AmountInput) []amountSource {
	if amounts == nil {
		return nil
	}
	list := make([]amountSource, len(amounts))
	for i, a := range amounts {
		list[i] = amountSource{a.Currency, a.Minor}
	}
	return list
}

// checkedAmounts returns the amounts of a checked source; nil for none.
func checkedAmounts(list []amountSource) (amounts []store.CurrencyAmount) {
	for _, a := range list {
		if a.Amount != nil { // old rows may have nil
			amounts = append(amounts, store.CurrencyAmount{Currency: a.Currency, Minor: *a.Amount})
		}
	}
	return amounts
}
