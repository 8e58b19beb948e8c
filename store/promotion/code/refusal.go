package code

import (
	"portico/store"
)

// CodeReason is why a code cannot be used.
type CodeReason string

// The reasons.
const (
	CodeUnknown     CodeReason = "unknown"
	CodeExpired     CodeReason = "expired"
	CodeNotStarted  CodeReason = "not_started"
	CodeDisabled    CodeReason = "disabled"
	CodeUsedUp      CodeReason = "used_up"
	CodeWrongUser   CodeReason = "wrong_user"
	CodeNoUnits     CodeReason = "no_units"             // per_item, for no unit
	CodeNotPerItem  CodeReason = "per_item_automatic"   // per_item, of an automatic promotion
	CodeCartTooLow  CodeReason = "below_min_cart_value" // of what the cart comes to
	CodeNotCurrency CodeReason = "other_currency"       // the promotion gives nothing in it
)

// CodeRefusal is a reason, with the member at fault and the detail of it.
type CodeRefusal struct {
	Reason CodeReason
	Fault  *store.Error
}

// CodeArgument is a member of a CodeUse.
type CodeArgument string

// The members that a refusal can be about.
const (
	CodeArgumentCode      CodeArgument = "code"
	CodeArgumentUser      CodeArgument = "user"
	CodeArgumentUnits     CodeArgument = "units"
	CodeArgumentCartValue CodeArgument = "cart_value" // the amount and its currency
)

// Argument is the member at fault.
func (r CodeRefusal) Argument() CodeArgument { return CodeArgument(r.Fault.Path[0]) }

func NewRefusal(reason CodeReason, about CodeArgument, format string, args ...any) CodeRefusal {
	return CodeRefusal{reason, store.Unprocessablef([]string{string(about)}, format, args...)}
}

func duplicateCode() *store.Error {
	return &store.Error{Code: store.Unprocessable, Title: "Duplicate code", Detail: "Promotion code already in use", Documented: true, Reason: store.DuplicateCode}
}
