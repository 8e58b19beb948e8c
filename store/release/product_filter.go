package release

import (
	"context"
	"math"
	"slices"
	"strconv"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/index"
	"portico/store/release/segment"
)

// NewTerm returns a term. INVALID for an unknown attribute or operator, for eq
// with id or without exactly one value, and for in without a value.
func NewTerm(attribute, operator string, values []string) (store.Term, error) {
	return store.NewTerm(FilterAttributes(), attribute, operator, values)
}

// NewSearch parses a search text. An empty one keeps all products, another one without a letter or a digit none. INVALID for a text that is too long, has too many words, or is not
// valid UTF-8 without NUL.
func NewSearch(text string) (index.Search, error) { return index.NewSearch(text) }

// MaxFilterNodes bounds the nodes of a condition.
const MaxFilterNodes = 100

// NewOptionTerm returns a term that keeps products with one of some options of a variation, by their
// names in the base language: children by their own options, parents by those of their live children.
// INVALID for an empty name and for too many values.
func NewOptionTerm(name string, options []string) (store.Term, error) {
	path := []string{"filter", "option"}
	switch {
	case name == "" || !store.IsStorableText(name):
		return store.Term{}, store.Invalidf(path, "needs the name of a variation, got %q", store.Abbreviate(name))
	case len(options) > store.MaxFilterValues:
		return store.Term{}, store.Invalidf(path, "has %s in %d values; use at most %d", store.Abbreviate(name), len(options), store.MaxFilterValues)
	}
	term := store.Term{Attribute: segment.OptionValues, Operator: "in"}
	for _, option := range options {
		if !store.IsStorableText(option) {
			return term, store.Invalidf(path, "compares %s with text that contains NUL or invalid UTF-8", store.Abbreviate(name))
		}
		term.Values = append(term.Values, segment.NamedValue(name, option))
	}
	return term, nil
}

// NewWithinTerm returns a term that keeps the products attached to one of some nodes or hierarchies, or
// below. INVALID for more than MaxFilterNodes.
func NewWithinTerm(nodeIDs []string) (store.Term, error) {
	if len(nodeIDs) > MaxFilterNodes {
		return store.Term{}, store.Invalidf([]string{"filter", "catalog_node"}, "has %d ids; use at most %d", len(nodeIDs), MaxFilterNodes)
	}
	return store.Term{Attribute: withinNodes, Operator: "in", Values: store.CanonicalIDs(nodeIDs)}, nil
}

// withinNodes is the attribute of NewWithinTerm.
const withinNodes = "node"

// NewAttributeCondition checks a condition. INVALID unless it has either values or a bound, and for too
// many values.
func NewAttributeCondition(key string, in []string, ge, le *string) (AttributeCondition, error) {
	path := []string{"filter", "attribute"}
	c := AttributeCondition{key, in, ge, le}
	switch {
	case (in == nil) == (ge == nil && le == nil):
		return c, store.Invalidf(path, "must have either in, or ge or le or both, for %s", store.Abbreviate(key))
	case len(in) > store.MaxFilterValues:
		return c, store.Invalidf(path, "has %s in %d values; use at most %d", store.Abbreviate(key), len(in), store.MaxFilterValues)
	}
	for _, value := range in {
		if !store.IsStorableText(value) {
			return c, store.Invalidf(path, "compares %s with text that contains NUL or invalid UTF-8", store.Abbreviate(key))
		}
	}
	return c, nil
}

// NewPriceRange returns a range that keeps products whose current price in the shopper's currency, sales
// included, is between two amounts of minor units, in digits; nil is unbounded. INVALID without a bound
// and for another text.
func NewPriceRange(ge, le *string) (KeyRange, error) {
	keys := KeyRange{Sort: store.SortPrice, High: noBound}
	path := []string{"filter", "price"}
	if ge == nil && le == nil {
		return keys, store.Invalidf(path, "must have ge or le or both")
	}
	for _, bound := range []struct {
		name string
		text *string
		into *int64
	}{{"ge", ge, &keys.Low}, {"le", le, &keys.High}} {
		if bound.text == nil {
			continue
		}
		amount, err := strconv.ParseInt(*bound.text, 10, 64)
		if err != nil || amount < 0 || amount > store.MaxAmount || (*bound.text)[0] == '+' {
			return keys, store.Invalidf(append(path, bound.name), "must be minor units in digits, 0 to %d, got %q", int64(store.MaxAmount), store.Abbreviate(*bound.text))
		}
		*bound.into = amount
	}
	return keys, nil
}

// KeyRange keeps products whose price or attribute has a sort key between two, both inclusive. Products
// without one have a lower key.
type KeyRange struct {
	Sort      store.SortBy // SortPrice, or segment.SortOfAttribute
	Low, High int64
}

// noBound is KeyRange.High without a bound.
const noBound = math.MaxInt64

func (r KeyRange) key() cachekey.Key {
	return cachekey.New(string(r.Sort), strconv.FormatInt(r.Low, 10), strconv.FormatInt(r.High, 10))
}

// ProductFilter keeps the products that every condition keeps.
type ProductFilter struct {
	Terms      []store.Term
	Ranges     []store.Range
	Searches   []index.Search // none is Empty
	InStock    *bool          // whether the product can be bought by its stock now; nil for both
	Keys       []KeyRange
	Attributes []AttributeCondition // until they are resolved
	AnyOf      []AnyOf
}

// AnyOf keeps the products that at least one of some filters keeps, or those that none keeps.
type AnyOf struct {
	Filters []ProductFilter // without searches
	Negated bool
}

// MaxFilterDepth bounds how deep filters hold filters by AnyOf.
const MaxFilterDepth = 3

// NewAnyOf returns the condition that at least one of some filters holds. INVALID without a filter, for more than
// store.MaxFilterTerms, and for a search, which also ranks and corrects words, within.
func NewAnyOf(filters []ProductFilter) (AnyOf, error) {
	if len(filters) == 0 || len(filters) > store.MaxFilterTerms {
		return AnyOf{}, store.Invalidf([]string{"filter", "or"}, "has %d filters; use 1 to %d", len(filters), store.MaxFilterTerms)
	}
	for i, filter := range filters {
		if len(filter.Searches) > 0 {
			return AnyOf{}, noSearchIn("or", strconv.Itoa(i))
		}
	}
	return AnyOf{Filters: filters}, nil
}

// NewNot returns the condition that a filter does not hold. INVALID for a search within.
func NewNot(filter ProductFilter) (AnyOf, error) {
	if len(filter.Searches) > 0 {
		return AnyOf{}, noSearchIn("not")
	}
	return AnyOf{Filters: []ProductFilter{filter}, Negated: true}, nil
}

func noSearchIn(path ...string) error {
	return store.Invalidf(slices.Concat([]string{"filter"}, path, []string{"search"}), "is not allowed in or and not; move it beside them")
}

func (a AnyOf) key() cachekey.Key {
	return cachekey.Join(cachekey.New(strconv.FormatBool(a.Negated)), cachekey.Each(a.Filters, ProductFilter.key))
}

// within reports whether a filter within AnyOf has something.
func (f ProductFilter) within(has func(ProductFilter) bool) bool {
	return slices.ContainsFunc(f.AnyOf, func(a AnyOf) bool { return slices.ContainsFunc(a.Filters, has) })
}

// NewSaleTerm returns a term that keeps the products that are on sale now in the shopper's currency, or the
// others: parents by their live children.
func NewSaleTerm(wanted bool) store.Term {
	return store.Term{Attribute: activeSale, Operator: "eq", Values: []string{strconv.FormatBool(wanted)}}
}

// activeSale is the attribute of NewSaleTerm.
const activeSale = "on_sale"

// resolve checks a filter and resolves its conditions on attributes.
func (v *View) resolve(ctx context.Context, f ProductFilter) (ProductFilter, error) {
	if err := f.check(); err != nil {
		return f, err
	}
	return v.resolveAttributes(ctx, f)
}

// check returns INVALID for too many conditions, for filters that are too deep, and for a range that is not valid.
func (f ProductFilter) check() error {
	if n := f.conditions(); n > store.MaxFilterTerms {
		return store.Invalidf([]string{"filter"}, "must have at most %d conditions, got %d", store.MaxFilterTerms, n)
	}
	if depth := f.depth(); depth > MaxFilterDepth {
		return store.Invalidf([]string{"filter"}, "must hold or and not at most %d deep, got %d", MaxFilterDepth, depth)
	}
	return f.checkRanges()
}

// conditions counts the conditions. A filter within AnyOf counts as one at least.
func (f ProductFilter) conditions() int {
	n := len(f.Terms) + len(f.Ranges) + len(f.Searches) + len(f.Keys) + len(f.Attributes)
	for _, a := range f.AnyOf {
		for _, filter := range a.Filters {
			n += max(1, filter.conditions())
		}
	}
	return n
}

// depth returns how deep the filter holds filters.
func (f ProductFilter) depth() (deepest int) {
	for _, a := range f.AnyOf {
		for _, filter := range a.Filters {
			deepest = max(deepest, 1+filter.depth())
		}
	}
	return deepest
}

func (f ProductFilter) checkRanges() error {
	for _, r := range f.Ranges {
		if err := r.Check(); err != nil {
			return err
		}
	}
	for _, a := range f.AnyOf {
		for _, filter := range a.Filters {
			if err := filter.checkRanges(); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexed reports whether the filter reads indexes, because it has values, words or filters within.
func (f ProductFilter) indexed() bool { return len(f.Terms)+len(f.Searches)+len(f.AnyOf) > 0 }

// byPrice reports whether the filter depends on prices.
func (f ProductFilter) byPrice() bool {
	return slices.ContainsFunc(f.Keys, func(r KeyRange) bool { return r.Sort == store.SortPrice }) ||
		slices.ContainsFunc(f.Terms, func(t store.Term) bool { return t.Attribute == activeSale }) || f.within(ProductFilter.byPrice)
}

// Live reports whether the filter depends on live stock.
func (f ProductFilter) Live() bool { return f.InStock != nil || f.within(ProductFilter.Live) }

// static returns the filter without the conditions that depend on live stock: an AnyOf with one is left out whole.
func (f ProductFilter) static() ProductFilter {
	f.InStock = nil
	f.AnyOf = slices.DeleteFunc(slices.Clone(f.AnyOf), AnyOf.live)
	return f
}

func (a AnyOf) live() bool { return slices.ContainsFunc(a.Filters, ProductFilter.Live) }

// byID reports whether the filter has ids. The result is then by last update,
// without curated products first.
func (f ProductFilter) byID() bool {
	return slices.ContainsFunc(f.Terms, func(t store.Term) bool { return t.Attribute == "id" })
}

// key names the filter, whose conditions on attributes are resolved.
func (f ProductFilter) key() cachekey.Key {
	inStock := ""
	if f.InStock != nil {
		inStock = strconv.FormatBool(*f.InStock)
	}
	return cachekey.Join(cachekey.Each(f.Terms, store.Term.Key), cachekey.Each(f.Searches, index.Search.Key), cachekey.Each(f.Keys, KeyRange.key),
		cachekey.Each(f.Ranges, store.Range.Key), cachekey.New(inStock), cachekey.Each(f.AnyOf, AnyOf.key))
}

// interval is a range of sort keys, from low until just before high.
type interval struct{ low, high int64 }

func (i interval) holds(key int64) bool { return key >= i.low && key < i.high }

// interval converts a range to one of sort keys: microseconds, or ranks of ids. Range.Check knows the operators: the last one
// is "le".
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
