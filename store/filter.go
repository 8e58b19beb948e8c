package store

import (
	"fmt"
	"slices"
	"strings"
)

// Term keeps products of which the attribute has one of the values.
type Term struct {
	Attribute string
	Operator  string // eq or in
	Values    []string
}

// MaxFilterTerms bounds the terms and ranges of a filter, and MaxFilterValues
// the values of one, but for ids: of those a term takes as many as a request
// holds (spec: Filtering operators).
const (
	MaxFilterTerms  = 10
	MaxFilterValues = 1000
)

// TermOf checks a term of one of the known attributes: INVALID for another or
// an unknown operator, for eq with id or with other than one value, and for in
// without a value.
func TermOf(known []string, attribute, operator string, values []string) (Term, error) {
	term := Term{attribute, operator, slices.Clone(values)}
	path := []string{"filter"}
	if !slices.Contains(known, attribute) {
		return term, Invalidf(path, "names the unknown attribute %q; known are %s", Short(attribute), strings.Join(known, ", "))
	}
	switch {
	case operator != "eq" && operator != "in":
		return term, Invalidf(path, "uses the unknown operator %q on %s; known are eq and in", Short(operator), attribute)
	case operator == "eq" && attribute == "id":
		return term, Invalidf(path, "compares id by eq, which takes every attribute but id; write in(id,…)")
	case operator == "eq" && len(values) != 1:
		return term, Invalidf(path, "gives eq(%s,…) %d values; it takes one, and in(%s,…) several", attribute, len(values), attribute)
	case len(values) == 0 && attribute == "id":
		return term, Invalidf(path, "gives in(id,…) no values; it takes at least one")
	case attribute == "id":
	case len(values) == 0 || len(values) > MaxFilterValues:
		return term, Invalidf(path, "gives in(%s,…) %d values; it takes 1 to %d", attribute, len(values), MaxFilterValues)
	}
	for i, value := range term.Values {
		if !CleanText(value) {
			return term, Invalidf(path, "compares %s with text that is not UTF-8", attribute)
		}
		if attribute == "id" {
			if canonical, ok := CanonicalID(value); ok {
				term.Values[i] = canonical
			}
		}
	}
	return term, nil
}

func (t Term) String() string { return fmt.Sprintf("%s(%s,%q)", t.Operator, t.Attribute, t.Values) }
