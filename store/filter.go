package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
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

// NewTerm checks a term: INVALID for an unknown attribute or operator, for eq
// with id or with other than one value, and for in without a value.
func NewTerm(attribute, operator string, values []string) (Term, error) {
	return newTerm(FilterAttributes(), attribute, operator, values)
}

func newTerm(known []string, attribute, operator string, values []string) (Term, error) {
	term := Term{attribute, operator, slices.Clone(values)}
	path := []string{"filter"}
	if !slices.Contains(known, attribute) {
		return term, invalid(path, "names the unknown attribute %q; known are %s", short(attribute), strings.Join(known, ", "))
	}
	switch {
	case operator != "eq" && operator != "in":
		return term, invalid(path, "uses the unknown operator %q on %s; known are eq and in", short(operator), attribute)
	case operator == "eq" && attribute == "id":
		return term, invalid(path, "compares id by eq, which takes every attribute but id; write in(id,…)")
	case operator == "eq" && len(values) != 1:
		return term, invalid(path, "gives eq(%s,…) %d values; it takes one, and in(%s,…) several", attribute, len(values), attribute)
	case len(values) == 0 && attribute == "id":
		return term, invalid(path, "gives in(id,…) no values; it takes at least one")
	case attribute == "id":
	case len(values) == 0 || len(values) > MaxFilterValues:
		return term, invalid(path, "gives in(%s,…) %d values; it takes 1 to %d", attribute, len(values), MaxFilterValues)
	}
	for i, value := range term.Values {
		if !cleanText(value) {
			return term, invalid(path, "compares %s with text that is not UTF-8", attribute)
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

// ProductFilter keeps what every term, every range and every search keeps.
type ProductFilter struct {
	Terms    []Term
	Ranges   []Range
	Searches []Search // none of them Empty
}

func (f ProductFilter) check() error {
	if n := len(f.Terms) + len(f.Ranges) + len(f.Searches); n > MaxFilterTerms {
		return invalid([]string{"filter"}, "joins %d conditions; at most %d can be joined", n, MaxFilterTerms)
	}
	for _, r := range f.Ranges {
		if err := r.check(); err != nil {
			return err
		}
	}
	return nil
}

// picks tells whether the filter names values or words, and so is worked out
// from indexes.
func (f ProductFilter) picks() bool { return len(f.Terms)+len(f.Searches) > 0 }

// byID tells whether the filter names products, which come by last update
// then and not as curated.
func (f ProductFilter) byID() bool {
	return slices.ContainsFunc(f.Terms, func(t Term) bool { return t.Attribute == "id" })
}

func (f ProductFilter) String() string {
	var parts []string
	for _, term := range f.Terms {
		parts = append(parts, term.String())
	}
	for _, search := range f.Searches {
		parts = append(parts, search.String())
	}
	return strings.Join(append(parts, rangeNames(f.Ranges)...), ":")
}

// interval is a range of sort keys, from low until just before high.
type interval struct{ low, high int64 }

func (i interval) holds(key int64) bool { return key >= i.low && key < i.high }

// interval turns a range into one of sort keys: microseconds, or ranks of ids.
func (v *View) interval(ctx context.Context, r Range) (interval, error) {
	var at, beyond int64 // the first key not below the value, and the first above it
	if r.Attribute == SortID {
		var err error
		if at, err = v.rank(ctx, ">=", r.ID); err != nil {
			return interval{}, err
		}
		if beyond, err = v.rank(ctx, ">", r.ID); err != nil {
			return interval{}, err
		}
	} else {
		at = micros(r.Time)
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

// rank is the rank of the first product whose id is at or above a value.
func (v *View) rank(ctx context.Context, operator, id string) (int64, error) {
	key := cacheKey{release: v.Release.identity(), kind: cachedRank, name: operator + id}
	if kept, ok := cached[rank](v.cache, key); ok {
		return int64(kept), nil
	}
	found, err := v.readRank(ctx, operator, id)
	if err == nil {
		v.cache.keep(key, rank(found))
	}
	return found, err
}

// rank is a place in the order of ids.
type rank int64

func (rank) size() int { return 8 }

// productPlace is where a product stands in a layer.
type productPlace struct {
	id      string
	ordinal int
}

func (v *View) readRank(ctx context.Context, operator, id string) (int64, error) {
	var first string
	ordinal := -1
	for _, layer := range unique(v.layers()) {
		beyond, found, err := one(ctx, v.store.reader, func(rows *sql.Rows) (p productPlace, err error) {
			return p, rows.Scan(&p.id, &p.ordinal)
		}, `
			SELECT product_id, ordinal FROM release_place
			WHERE release_id = $1 AND product_id `+operator+` $2 ORDER BY product_id LIMIT 1`, layer, id)
		if err != nil {
			return 0, err
		}
		// One that is dead has its place among the ids too.
		if found && (ordinal < 0 || beyond.id < first) {
			first, ordinal = beyond.id, beyond.ordinal
		}
	}
	if ordinal < 0 {
		return math.MaxInt64, nil
	}
	return v.keyAt(ctx, SortID, ordinal)
}
