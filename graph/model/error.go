package model

import (
	"cmp"
	"slices"
	"strings"

	"portico/store"
	"portico/store/exchange"
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
	FaultAlreadyExists    = UserErrorCode(store.AlreadyExists)
	FaultInUse            = UserErrorCode(store.InUse)
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

// ReferrerCount returns how many objects refer to the one that the error is about.
func (e *UserError) ReferrerCount() int { return e.Error.Referrers.Count }

// Referrers returns the first objects that refer to the one that the error is about.
func (e *UserError) Referrers() []*store.Referrer {
	list := make([]*store.Referrer, len(e.Error.Referrers.First))
	for i := range list {
		list[i] = &e.Error.Referrers.First[i]
	}
	return list
}

// Message returns the text of an error, with the member as the schema spells it.
func Message(e *store.Error) string { return e.Sentence(strings.Join(ArgumentPath(e.Path), ".")) }

// codeMembers are the members of a new code that REST names otherwise.
var codeMembers = map[string]string{"uses": "maxUses", "user": "users"}

// Members whose elements the merchant names: one name after a keyed one, and all after an open one. The members within
// restDetails are REST's.
var (
	keyedMembers = []string{"translations", "labels", "attributes", "components", "related", "amounts", "tiers", "prices", "sales", "files"}
	openMembers  = []string{"custom_inputs", "extensions", "shopper_attributes", "rest_details"}
)

// ArgumentPath converts a path of the store to the names of the schema: in camel case, and with the schema's name where it has
// another. Names of the merchant stay, and so do members within the restDetails of a promotion: a path that begins with one of
// them gets restDetails in front. The path that it gets stays as it is.
func ArgumentPath(path []string) []string {
	if len(path) == 0 {
		return path
	}
	if promotion.IsRestDetail(path[0]) {
		return append([]string{"restDetails"}, path...)
	}
	spelled := slices.Clone(path)
	for i, name := range path {
		if i == 0 || !slices.Contains(keyedMembers, path[i-1]) {
			spelled[i] = camel(name)
			if slices.Contains(openMembers, name) {
				break
			}
		}
	}
	switch {
	case path[0] == "uses": // of codes to generate
		spelled[0] = codeMembers["uses"]
	case path[0] == "codes" && len(path) > 2:
		spelled[2] = cmp.Or(codeMembers[path[2]], spelled[2])
	}
	return spelled
}

// ShownChange returns a member that a write or a release changed of a resource of a kind, as the input of the mutation that
// writes it has it: with the path that a UserError has after input, but keys in the place of positions.
func ShownChange(kind string, m *store.MemberExcerpt) *store.MemberExcerpt {
	return &store.MemberExcerpt{Path: ArgumentPath(exchange.InputPath(kind, m.Path)), Before: exchange.ShownValue(m.Before), After: exchange.ShownValue(m.After)}
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
