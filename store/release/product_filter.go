package release

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// NewTerm checks a term: INVALID for an unknown attribute or operator, for eq
// with id or with other than one value, and for in without a value.
func NewTerm(attribute, operator string, values []string) (store.Term, error) {
	return store.NewTerm(FilterAttributes(), attribute, operator, values)
}

// NewSearch reads what somebody typed, whatever it is: a text without a letter
// or a digit keeps everything. INVALID for a text that is too long, has too many
// words, or is not valid UTF-8 without NUL.
func NewSearch(text string) (index.Search, error) { return index.NewSearch(text) }

// ProductFilter keeps what every term, every range and every search keeps.
type ProductFilter struct {
	Terms    []store.Term
	Ranges   []store.Range
	Searches []index.Search // none of them Empty
}

func (f ProductFilter) check() error {
	if n := len(f.Terms) + len(f.Ranges) + len(f.Searches); n > store.MaxFilterTerms {
		return store.Invalidf([]string{"filter"}, "joins %d conditions; at most %d can be joined", n, store.MaxFilterTerms)
	}
	for _, r := range f.Ranges {
		if err := r.Check(); err != nil {
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
	return strings.Join(append(parts, store.RangeNames(f.Ranges)...), ":")
}

// interval is a range of sort keys, from low until just before high.
type interval struct{ low, high int64 }

func (i interval) holds(key int64) bool { return key >= i.low && key < i.high }

// interval turns a range into one of sort keys: microseconds, or ranks of ids.
func (v *View) interval(ctx context.Context, r store.Range) (interval, error) {
	var at, beyond int64 // the first key not below the value, and the first above it
	if r.Attribute == store.SortID {
		var err error
		if at, err = v.rank(ctx, ">=", r.ID); err != nil {
			return interval{}, err
		}
		if beyond, err = v.rank(ctx, ">", r.ID); err != nil {
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

// rank is the rank of the first product whose id is at or above a value.
func (v *View) rank(ctx context.Context, operator, id string) (int64, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedRank, Name: operator + id}
	if kept, ok := db.Cached[searchRank](v.Cache, key); ok {
		return int64(kept), nil
	}
	found, err := v.readRank(ctx, operator, id)
	if err == nil {
		v.Cache.Set(key, searchRank(found))
	}
	return found, err
}

// searchRank is a place in the order of ids.
type searchRank int64

func (searchRank) Size() int { return 8 }

// productPlace is where a product stands in a layer.
type productPlace struct {
	id      string
	ordinal int
}

// statementWork is what one statement costs, in bytes of an Allowance.
const statementWork = 2 << 10

func (v *View) readRank(ctx context.Context, operator, id string) (int64, error) {
	var first string
	ordinal := -1
	for _, layer := range store.Unique(v.Layers()) {
		if err := store.Charge(ctx, statementWork); err != nil {
			return 0, err
		}
		beyond, found, err := db.One(ctx, v.service.db.Reader, func(rows *sql.Rows) (p productPlace, err error) {
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
	return v.KeyAt(ctx, store.SortID, ordinal)
}
