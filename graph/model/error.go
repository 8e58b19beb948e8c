package model

import (
	"cmp"
	"slices"
	"strings"

	"portico/store"
	"portico/store/promotion"
)

// UserError is an error that the caller can correct.
type UserError struct{ *store.Error }

// Warning is a likely mistake in an input that was accepted.
type Warning struct{ UserError }

// UserErrorCode is the machine-readable kind of a UserError.
type UserErrorCode string

// The codes of the store that an input can mend, and reasons that are more specific.
const (
	FaultInvalid          = UserErrorCode(store.Invalid)
	FaultNotFound         = UserErrorCode(store.NotFound)
	FaultConflict         = UserErrorCode(store.Conflict)
	FaultUnprocessable    = UserErrorCode(store.Unprocessable)
	FaultUnknownReference = UserErrorCode(store.UnknownReference)
	FaultDuplicateCode    = UserErrorCode(store.DuplicateCode)
	FaultCodesNotAllowed  = UserErrorCode(store.CodesNotAllowed)
)

// IsCorrectable reports whether errors of a code are UserErrors: those that another input can mend.
func IsCorrectable(code store.Code) bool {
	return slices.Contains([]UserErrorCode{FaultInvalid, FaultNotFound, FaultConflict, FaultUnprocessable}, UserErrorCode(code))
}

// Code returns the reason, if there is one, else the error code.
func (e *UserError) Code() UserErrorCode {
	if e.Reason != "" {
		return UserErrorCode(e.Reason)
	}
	return UserErrorCode(e.Error.Code)
}

// Field returns the path of the member, outermost first.
func (e *UserError) Field() []string {
	if len(e.Path) == 0 {
		return []string{}
	}
	return append([]string{"input"}, ArgumentPath(e.Path)...)
}

// Message says what is wrong, what is allowed and what to do.
func (e *UserError) Message() string { return Message(e.Error) }

// Message returns the text of an error, with the member as the schema spells it.
func Message(e *store.Error) string { return e.Sentence(strings.Join(ArgumentPath(e.Path), ".")) }

// codeMembers are the members of a new code that REST names otherwise.
var codeMembers = map[string]string{"uses": "maxUses", "user": "users"}

// ArgumentPath converts a path of the store to the names of the schema: in camel case, and with the schema's name where it has
// another. Members within the restDetails of a promotion stay, because they are REST's: a path that begins with one of them gets
// restDetails in front. The path stays as it is.
func ArgumentPath(path []string) []string {
	if len(path) == 0 {
		return path
	}
	if promotion.IsRestDetail(path[0]) {
		return append([]string{"restDetails"}, path...)
	}
	spelled := slices.Clone(path)
	for i, name := range path {
		if i > 0 && path[0] == "rest_details" { // the rest are REST's
			break
		}
		spelled[i] = camel(name)
	}
	switch {
	case path[0] == "selected_options": // of a bundle
		spelled[0] = "choices"
	case path[0] == "uses": // of codes to generate
		spelled[0] = codeMembers["uses"]
	case path[0] == "codes" && len(path) > 2:
		spelled[2] = cmp.Or(codeMembers[path[2]], spelled[2])
	}
	return spelled
}

// camel converts snake_case to camelCase.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
