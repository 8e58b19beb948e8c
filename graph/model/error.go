package model

import "portico/store"

// UserError is something the caller can mend, under the input it is in.
type UserError struct{ *store.Error }

// UserErrorCode is what a caller decides by.
type UserErrorCode string

// The codes: those of the store that a caller can mend, and what these are
// told apart by.
const (
	FaultInvalid         = UserErrorCode(store.Invalid)
	FaultNotFound        = UserErrorCode(store.NotFound)
	FaultConflict        = UserErrorCode(store.Conflict)
	FaultUnprocessable   = UserErrorCode(store.Unprocessable)
	FaultDuplicateCode   = UserErrorCode(store.DuplicateCode)
	FaultCodesNotAllowed = UserErrorCode(store.CodesNotAllowed)
)

// Code is the reason where there is one, which says more than the code.
func (e *UserError) Code() UserErrorCode {
	if e.Reason != "" {
		return UserErrorCode(e.Reason)
	}
	return UserErrorCode(e.Error.Code)
}

// Field names the member at fault, outermost first.
func (e *UserError) Field() []string {
	if len(e.Path) == 0 {
		return []string{}
	}
	return append([]string{"input"}, e.Path...)
}

// Message says what is wrong and the way out.
func (e *UserError) Message() string { return e.Error.Error() }
