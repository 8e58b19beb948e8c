package rule

import (
	"encoding/json"
	"strconv"

	"portico/store"
)

// GivenAmount is an amount of a currency as it is given to a promotion: a
// number of minor units, as REST has it, or digits, as GraphQL has them.
type GivenAmount struct {
	Currency string `json:"currency"` // ISO 4217
	Minor    *int64 `json:"amount"`   // minor units; nil where none are given, or the digits are none

	digits string // as they were given
}

// SetDigits gives it digits. Those that are no minor units are told when the
// amount is used, with all else that is wrong.
func (a *GivenAmount) SetDigits(digits string) {
	a.digits, a.Minor = digits, nil
	if minor, err := strconv.ParseInt(digits, 10, 64); err == nil {
		a.Minor = &minor
	}
}

// Value is the amount; nil for nil. INVALID for digits that are no minor units
// and UNPROCESSABLE without any, at amount.
func (a *GivenAmount) Value() (*store.CurrencyAmount, *store.Error) {
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

// MarshalJSON writes the amount in digits, by which a second use of an
// idempotency key is told from another input, whichever way it was given.
func (a GivenAmount) MarshalJSON() ([]byte, error) {
	digits := a.digits
	if digits == "" && a.Minor != nil {
		digits = strconv.FormatInt(*a.Minor, 10)
	}
	return json.Marshal(map[string]string{"amount": digits, "currency": a.Currency})
}

// checkAmounts tells every amount that is none.
func CheckAmounts(member string, amounts []GivenAmount) (faults store.Errors) {
	for i := range amounts {
		if _, fault := amounts[i].Value(); fault != nil {
			faults = append(faults, fault.At(member, strconv.Itoa(i)))
		}
	}
	return faults
}

// amountSource is an amount of a currency.
type amountSource struct {
	Currency string `json:"currency"` // ISO 4217
	Amount   *int64 `json:"amount"`   // minor units
}

// sourceAmounts are amounts as a source has them; nil stays nil.
func SourceAmounts(amounts []GivenAmount) []amountSource {
	if amounts == nil {
		return nil
	}
	list := make([]amountSource, len(amounts))
	for i, a := range amounts {
		list[i] = amountSource{a.Currency, a.Minor}
	}
	return list
}

// checkedAmounts are the amounts of a checked source; nil for none.
func checkedAmounts(list []amountSource) (amounts []store.CurrencyAmount) {
	for _, a := range list {
		if a.Amount != nil { // as it could be before that was checked
			amounts = append(amounts, store.CurrencyAmount{Currency: a.Currency, Minor: *a.Amount})
		}
	}
	return amounts
}
