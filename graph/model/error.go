package model

import (
	"slices"
	"strings"

	"portico/store"
)

// UserError is something the caller can mend, under the input it is in.
type UserError struct{ *store.Error }

// Warning is a likely mistake in an input that was accepted.
type Warning struct{ UserError }

// UserErrorCode is what a caller decides by.
type UserErrorCode string

// The codes: those of the store, and what these are told apart by.
const (
	FaultInvalid         = UserErrorCode(store.Invalid)
	FaultUnauthenticated = UserErrorCode(store.Unauthenticated)
	FaultForbidden       = UserErrorCode(store.Forbidden)
	FaultNotFound        = UserErrorCode(store.NotFound)
	FaultConflict        = UserErrorCode(store.Conflict)
	FaultCursorMismatch  = UserErrorCode(store.CursorMismatch)
	FaultCursorExpired   = UserErrorCode(store.CursorExpired)
	FaultUnprocessable   = UserErrorCode(store.Unprocessable)
	FaultRateLimited     = UserErrorCode(store.RateLimited)
	FaultUnavailable     = UserErrorCode(store.Unavailable)
	FaultInternal        = UserErrorCode(store.Internal)
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
	return append([]string{"input"}, ArgumentPath(e.Path)...)
}

// Message says what is wrong and the way out.
func (e *UserError) Message() string { return Message(e.Error) }

// Message is a fault in words, with its member as the schema spells it.
func Message(e *store.Error) string { return e.Sentence(strings.Join(ArgumentPath(e.Path), ".")) }

// ArgumentPath is the path of a fault as the schema spells it: in camel case, but
// for what is within a promotion's schema, which is JSON of the shop's own.
func ArgumentPath(path []string) []string {
	spelled := slices.Clone(path)
	if i := slices.Index(path, "schema"); i >= 0 {
		path = path[:i]
	}
	for i, name := range path {
		spelled[i] = camel(name)
	}
	return spelled
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
