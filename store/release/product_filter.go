package release

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/index"
)

// NewTerm returns a term. INVALID for an unknown attribute or operator, for eq
// with id or without exactly one value, and for in without a value.
func NewTerm(attribute, operator string, values []string) (store.Term, error) {
	return store.NewTerm(FilterAttributes(), attribute, operator, values)
}

// NewSearch parses a search text. One without a letter or a digit keeps all
// products. INVALID for a text that is too long, has too many words, or is not
// valid UTF-8 without NUL.
func NewSearch(text string) (index.Search, error) { return index.NewSearch(text) }

// ProductFilter keeps the products that every term, range and search keeps.
type ProductFilter struct {
	Terms    []store.Term
	Ranges   []store.Range
	Searches []index.Search // none is Empty
	InStock  *bool          // whether the product can be bought by its stock now; nil for both
}

func (f ProductFilter) check() error {
	if n := len(f.Terms) + len(f.Ranges) + len(f.Searches); n > store.MaxFilterTerms {
		return store.Invalidf([]string{"filter"}, "must have at most %d conditions, got %d", store.MaxFilterTerms, n)
	}
	for _, r := range f.Ranges {
		if err := r.Check(); err != nil {
			return err
		}
	}
	return nil
}

// indexed reports whether the filter reads indexes, because it has values or
// words.
func (f ProductFilter) indexed() bool { return len(f.Terms)+len(f.Searches) > 0 }

// byID reports whether the filter has ids. The result is then by last update,
// without curated products first.
func (f ProductFilter) byID() bool {
	return slices.ContainsFunc(f.Terms, func(t store.Term) bool { return t.Attribute == "id" })
}

func (f ProductFilter) String() string {
	var parts []string
	for _, term := range f.Terms {
		parts = append(parts, term.String())
	}
	for _, search := range f.Searches {
		parts = append(parts, search.String())
	}
	if f.InStock != nil {
		parts = append(parts, "stock", strconv.FormatBool(*f.InStock))
	}
	return strings.Join(append(parts, store.RangeNames(f.Ranges)...), ":")
}

// interval is a range of sort keys, from low until just before high.
type interval struct{ low, high int64 }

func (i interval) holds(key int64) bool { return key >= i.low && key < i.high }

// interval converts a range to one of sort keys: microseconds, or ranks of ids.
func (v *View) interval(ctx context.Context, r store.Range) (interval, error) {
	var at, beyond int64 // the first key not below the value, and the first above it
	if r.Attribute == store.SortID {
		var err error
		if at, err = v.IDRank(ctx, ">=", r.ID); err != nil {
			return interval{}, err
		}
		if beyond, err = v.IDRank(ctx, ">", r.ID); err != nil {
			return interval{}, err
		}
	} else {
		at = store.Micros(r.Time)
		beyond = at + 1
	}
	switch r.Operator {
	case "gt":
		return interval{beyond, math.MaxInt64}, nil
	case "ge":
		return interval{at, math.MaxInt64}, nil
	case "lt":
		return interval{math.MinInt64, at}, nil
	}
	return interval{math.MinInt64, beyond}, nil
}
