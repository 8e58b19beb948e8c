package store

import (
	"slices"
	"strings"

	"portico/internal/cachekey"
)

// Term matches products whose attribute has one of the values.
type Term struct {
	Attribute string
	Operator  string // eq or in
	Values    []string
}

// MaxFilterTerms bounds the terms and ranges of a filter, MaxFilterValues the values of
// one. Ids are bounded only by the size of the request.
const (
	MaxFilterTerms  = 10
	MaxFilterValues = 1000
)

// NewTerm checks a term of one of the known attributes. It returns INVALID for an unknown
// attribute or operator, eq with id or not exactly one value, and in without values.
func NewTerm(known []string, attribute, operator string, values []string) (Term, error) {
	term := Term{attribute, operator, slices.Clone(values)}
	path := []string{"filter"}
	if !slices.Contains(known, attribute) {
		return term, Invalidf(path, "has the unknown attribute %q; use one of %s", Abbreviate(attribute), strings.Join(known, ", "))
	}
	switch {
	case operator != "eq" && operator != "in":
		return term, Invalidf(path, "has the unknown operator %q for %s; use eq or in", Abbreviate(operator), attribute)
	case operator == "eq" && attribute == "id":
		return term, Invalidf(path, "compares id with eq; use in(id,…)")
	case operator == "eq" && len(values) != 1:
		return term, Invalidf(path, "has eq(%s,…) with %d values; use one, or in(%s,…) for several", attribute, len(values), attribute)
	case attribute == "id":
	case len(values) > MaxFilterValues:
		return term, Invalidf(path, "has in(%s,…) with %d values; use at most %d", attribute, len(values), MaxFilterValues)
	}
	for _, value := range term.Values {
		if !IsStorableText(value) {
			return term, Invalidf(path, "compares %s with text that contains NUL or invalid UTF-8", attribute)
		}
	}
	if attribute == "id" {
		term.Values = CanonicalIDs(term.Values)
	}
	return term, nil
}

// Key names the term.
func (t Term) Key() cachekey.Key {
	return cachekey.Join(cachekey.New(t.Attribute), cachekey.New(t.Operator), cachekey.New(t.Values...))
}
