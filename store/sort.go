package store

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SortBy is what a list can be sorted by.
type SortBy string

// The sort keys (spec: Pagination). Each list ends its order with the id, so
// that no two rows tie.
const (
	SortDefault   SortBy = ""           // the list's own order
	SortID        SortBy = "id"         // ids compare byte by byte
	SortCreatedAt SortBy = "created_at" // then id
	SortUpdatedAt SortBy = "updated_at" // then id
)

// The further sort keys of products.
const (
	SortName      SortBy = "name"      // of the base text, as the base language collates it, then id; of promotions too, in no language's order
	SortPrice     SortBy = "price"     // what it costs now in the view's currency, then id; products without a price last in both directions
	SortRelevance SortBy = "relevance" // the more words of a search are in the name or SKU the earlier, then the list's own order
)

// Sort is an order of a list.
type Sort struct {
	By         SortBy
	Descending bool
}

func (s Sort) String() string {
	if s.Descending {
		return "-" + string(s.By)
	}
	return string(s.By)
}

// Range is a bound on a sort key, for paging by key as the contract describes:
// gt, ge, lt or le and a value.
type Range struct {
	Attribute SortBy
	Operator  string
	ID        string    // the value, when Attribute is id
	Time      time.Time // the value otherwise
}

// RangeOperators are SQL's words for the contract's.
var RangeOperators = map[string]string{"gt": ">", "ge": ">=", "lt": "<", "le": "<="}

// NewRange parses a bound: INVALID when the operator or the sort key is none,
// or the value is not one of its values.
func NewRange(attribute, operator, value string) (Range, error) {
	r := Range{Attribute: SortBy(attribute), Operator: operator}
	if RangeOperators[operator] == "" {
		return r, Invalidf([]string{"filter"}, "compares %s by %q, which is none of gt, ge, lt and le", attribute, operator)
	}
	switch r.Attribute {
	case SortID:
		r.ID = value
	case SortCreatedAt, SortUpdatedAt:
		at, err := ReadTime(value)
		if err != nil {
			return r, Invalidf([]string{"filter"}, "compares %s with %q, which is no time; write it as 2012-05-30T00:00:00.000Z", attribute, value)
		}
		r.Time = at
	default:
		return r, Invalidf([]string{"filter"}, "compares %q by %s, which only takes id, created_at or updated_at", attribute, operator)
	}
	return r, r.Check()
}

// Check is INVALID for an id that no database keeps.
func (r Range) Check() error {
	if !CleanText(r.ID) {
		return Invalidf([]string{"filter"}, "compares id with text that is not UTF-8 without NUL")
	}
	return nil
}

// Value is what the sort key is compared with: an id, or microseconds.
func (r Range) Value() any {
	if r.Attribute == SortID {
		return r.ID
	}
	return Micros(r.Time)
}

func (r Range) String() string { return fmt.Sprintf("%s(%s,%v)", r.Operator, r.Attribute, r.Value()) }

// ListQuery is a page of a live list, sorted and bounded.
type ListQuery struct {
	Sort   Sort
	Ranges []Range
	Page   Page
}

// RangeNames are the ranges as they are written.
func RangeNames(ranges []Range) (names []string) {
	for _, r := range ranges {
		names = append(names, r.String())
	}
	return names
}

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
