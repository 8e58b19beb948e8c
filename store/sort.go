package store

import (
	"fmt"
	"strconv"
	"time"

	"portico/internal/cachekey"
)

// SortBy is a sort key.
type SortBy string

// The sort keys of all lists. Every order ends with the id, so that no rows tie.
const (
	SortDefault   SortBy = ""           // the list's own order
	SortID        SortBy = "id"         // byte order
	SortCreatedAt SortBy = "created_at" // then id
	SortUpdatedAt SortBy = "updated_at" // then id
)

// More sort keys of products.
const (
	SortName      SortBy = "name"      // name in the base language's collation, then id; promotions too, without collation
	SortPosition  SortBy = "position"  // of nodes: position among others, those without one last, then name
	SortPrice     SortBy = "price"     // current price in the view's currency, then id; products without a price last in both directions
	SortAvailable SortBy = "available" // of stock: units for sale, then product id
	SortRelevance SortBy = "relevance" // search matches in name or SKU first, then the list's order
)

// SortAttribute, followed by a slash and a key, sorts products by an attribute of the merchant's own, then id;
// products without a value last in both directions.
const SortAttribute SortBy = "attribute"

// Sort is an order of a list.
type Sort struct {
	By         SortBy
	Descending bool
}

// Key names the order.
func (s Sort) Key() cachekey.Key {
	return cachekey.New(string(s.By), strconv.FormatBool(s.Descending))
}

// Range is a condition of a list: it compares a sort key with a value. Operator is gt, ge, lt or le.
type Range struct {
	Attribute SortBy
	Operator  string
	ID        string    // the value if Attribute is id
	Number    int       // the value if Attribute is available
	Time      time.Time // the value otherwise
}

// RangeOperators maps operators to SQL.
var RangeOperators = map[string]string{"gt": ">", "ge": ">=", "lt": "<", "le": "<="}

// NewRange parses a range. It returns INVALID for an unknown operator or sort key, and for
// a malformed value.
func NewRange(attribute, operator, value string) (Range, error) {
	r := Range{Attribute: SortBy(attribute), Operator: operator}
	if RangeOperators[operator] == "" {
		return r, Invalidf([]string{"filter"}, "compares %s with the unknown operator %q; use gt, ge, lt or le", attribute, operator)
	}
	switch r.Attribute {
	case SortID:
		r.ID = value
	case SortCreatedAt, SortUpdatedAt:
		at, err := ReadTime(value)
		if err != nil {
			return r, Invalidf([]string{"filter"}, "compares %s with %q, which is not a time; use the form 2012-05-30T00:00:00.000Z", attribute, value)
		}
		r.Time = at
	default:
		return r, Invalidf([]string{"filter"}, "compares %q with %s, which supports only id, created_at and updated_at", attribute, operator)
	}
	return r, r.Check()
}

// Check returns INVALID for an id that cannot be stored.
func (r Range) Check() error {
	if !IsStorableText(r.ID) {
		return Invalidf([]string{"filter"}, "compares id with text that contains NUL or invalid UTF-8")
	}
	return nil
}

// Value is the value to compare with: an id, a number, or microseconds.
func (r Range) Value() any {
	switch r.Attribute {
	case SortID:
		return r.ID
	case SortAvailable:
		return r.Number
	}
	return Micros(r.Time)
}

// Key names the range.
func (r Range) Key() cachekey.Key {
	return cachekey.New(string(r.Attribute), r.Operator, fmt.Sprint(r.Value()))
}

// ListQuery is a page of a list of the database, with its sort and ranges.
type ListQuery struct {
	Sort   Sort
	Ranges []Range
	Page   Page
}
