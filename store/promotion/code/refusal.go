package code

import (
	"fmt"
	"strconv"

	"portico/store"
)

// Reason is why a code cannot be used.
type Reason string

// The reasons.
const (
	CodeUnknown      Reason = "unknown"
	CodeExpired      Reason = "expired"
	CodeNotStarted   Reason = "not_started"
	CodeDisabled     Reason = "disabled"
	CodeUsedUp       Reason = "used_up"
	CodeWrongUser    Reason = "wrong_user"
	CodeNeedsUser    Reason = "user_required"
	CodeRedeemed     Reason = "reference_used"       // the reference redeemed the code with another user or other units
	CodeReleased     Reason = "reference_released"   // the reference redeemed the code, and was released
	CodeOtherCatalog Reason = "other_catalog"        // the promotion is for other catalogs than that of the cart
	CodeNoUnits      Reason = "no_units"             // a per_item code without units, or a cart without items for it
	CodeNotPerItem   Reason = "per_item_automatic"   // a per_item code of an automatic promotion
	CodeCartTooLow   Reason = "below_min_cart_value" // the cart total
	CodeNotCurrency  Reason = "other_currency"       // the promotion has no value in the currency
)

// Refusal is a reason why a code cannot be used. Err names the argument.
type Refusal struct {
	Reason Reason
	Err    *store.Error
}

// Refusals is the error of a use that is refused: every reason, never empty. store.AsErrors returns their errors.
type Refusals []Refusal

func (list Refusals) Error() string { return list.Unwrap().Error() }

// Unwrap returns the error of each reason.
func (list Refusals) Unwrap() error {
	var errs store.Errors
	for _, r := range list {
		errs = append(errs, r.Err)
	}
	return errs
}

// Argument is a member of a CodeUse.
type Argument string

// The arguments that a refusal can name.
const (
	ArgumentCode      Argument = "code"
	ArgumentUser      Argument = "user"
	ArgumentReference Argument = "reference"
	ArgumentUnits     Argument = "units"
	ArgumentCartValue Argument = "cart_value" // the amount and its currency
	ArgumentLines     Argument = "lines"      // in place of the units and the cart total
)

// NewRefusal returns a refusal of an argument, UNPROCESSABLE.
func NewRefusal(reason Reason, about Argument, format string, args ...any) Refusal {
	return Refusal{reason, store.Unprocessablef([]string{string(about)}, format, args...)}
}

// DuplicateDetail begins the error of a code that a promotion which has not ended has.
const DuplicateDetail = "Promotion code already in use"

// duplicateCode is the error of a code that is in use, as REST documents it.
func duplicateCode(code string) *store.Error {
	return &store.Error{Code: store.Unprocessable, Title: "Duplicate code", Detail: DuplicateDetail + ": " + strconv.Quote(store.Abbreviate(code)), Documented: true, Reason: store.DuplicateCode}
}

// duplicateOf is the error of a code that cannot be held beside another one; held is empty if that is not known.
func duplicateOf(held, code string) *store.Error {
	e := duplicateCode(code)
	if held != "" && held != code {
		e.Documented, e.Detail = false, fmt.Sprintf("must not be %q: the code %q exists, %s", store.Abbreviate(code), store.Abbreviate(held), wayOut)
	}
	return e
}

// twiceInRequest is the error of a code that an earlier row of the request has, in the same case or another.
func twiceInRequest(before, code string, row int) *store.Error {
	e := duplicateCode(code)
	e.Documented = false
	e.Detail = fmt.Sprintf("is in the request twice: %q is codes.%d too. Send it once.", store.Abbreviate(code), row)
	if before != code {
		e.Detail = fmt.Sprintf("must not be %q: codes.%d is %q, %s", store.Abbreviate(code), row, store.Abbreviate(before), wayOut)
	}
	return e
}

// wayOut tells what to do about codes that differ in case alone.
const wayOut = "they differ only in case, which the settings ignore. Use another code, delete that one, or let the settings regard case."
