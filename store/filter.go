package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// FilterAttributes are what the products of a catalog can be filtered by
// (spec: Filtering operators). tags and product_types hold several values;
// the texts are the base ones, compared byte by byte.
func FilterAttributes() []string {
	return []string{"id", "name", "sku", "slug", "manufacturer_part_num", "upc_ean", "product_types", "tags"}
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

// An attribute's index is kept as chunks of entries that are sorted: the
// first 12 bytes of the value's SHA-256, and the ordinal of a product that has
// the value. At 96 bits two values of one shop do not share a hash; a million
// entries take 16 MB, where rows with the values themselves took 130.
const (
	indexHash  = 12
	indexEntry = indexHash + 4
)

func hashValue(value string) [indexHash]byte {
	sum := sha256.Sum256([]byte(value))
	return [indexHash]byte(sum[:indexHash])
}

// newEntry makes an index entry that sorts by hash, then ordinal.
func newEntry(value string, ordinal uint32) (entry [indexEntry]byte) {
	hash := hashValue(value)
	copy(entry[:], hash[:])
	binary.BigEndian.PutUint32(entry[indexHash:], ordinal)
	return entry
}

// The chunks of an attribute's index are numbered from 0; under directoryChunk
// stand the hashes they begin with, so that any values are found in two
// statements.
const directoryChunk = -1

// packedHashes is a directory, or a chunk as it is kept.
type packedHashes []byte

func (p packedHashes) size() int { return 24 + len(p) }

// starts is how many chunks of a directory begin below a hash, or at it too.
func (p packedHashes) starts(hash [indexHash]byte, orAt bool) int {
	return sort.Search(len(p)/indexHash, func(i int) bool {
		order := bytes.Compare(p[i*indexHash:(i+1)*indexHash], hash[:])
		return order > 0 || order == 0 && !orAt
	})
}

// indexChunks reads chunks of an attribute's index.
func (v *View) indexChunks(ctx context.Context, attribute string, numbers []int) (map[int]packedHashes, error) {
	found := make(map[int]packedHashes, len(numbers))
	key := cacheKey{release: v.Release.identity(), kind: cachedIndex, name: attribute}
	var missing []int
	for _, key.number = range numbers {
		if kept, ok := cached[packedHashes](v.cache, key); ok {
			found[key.number] = kept
		} else {
			missing = append(missing, key.number)
		}
	}
	err := chunked(missing, 1024, func(numbers []int) error {
		list, args := in([]any{v.Release.ID, attribute}, numbers)
		_, err := collect(ctx, v.store.reader, func(rows *sql.Rows) (body packedHashes, err error) {
			err = rows.Scan(&key.number, (*[]byte)(&body))
			found[key.number] = body
			v.cache.keep(key, body)
			return body, err
		}, `SELECT chunk, body FROM release_index WHERE release_id = $1 AND attribute = $2 AND chunk IN (`+list+`)`, args...)
		return err
	})
	return found, err
}

// indexed returns the products of which the attribute has one of the values,
// in order.
func (v *View) indexed(ctx context.Context, attribute string, values ...string) (ordinals, error) {
	own, err := v.indexedHere(ctx, attribute, values)
	if err != nil || v.Release.BaseID == 0 {
		return own, err
	}
	dead, err := v.dead(ctx)
	if err != nil {
		return nil, err
	}
	below, err := v.base().indexedHere(ctx, attribute, values)
	return append(below.without(dead), own...), err
}

// has tells which values some product of the release has in the attribute, in
// as many statements as for one value.
func (v *View) has(ctx context.Context, attribute string, values []string) (map[string]bool, error) {
	dead, err := v.dead(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(values))
	for _, layer := range []*View{v, v.base()} {
		if layer == nil {
			break
		}
		chunks, numbers, err := layer.indexOf(ctx, attribute, values)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			hash := hashValue(value)
			for _, number := range numbers {
				places := chunks[number].find(hash)
				found[value] = found[value] || len(places) > 0 && (layer == v || len(ordinals.without(places, dead)) > 0)
			}
		}
	}
	return found, nil
}

// indexedHere is indexed in the view's own layer.
func (v *View) indexedHere(ctx context.Context, attribute string, values []string) (ordinals, error) {
	chunks, numbers, err := v.indexOf(ctx, attribute, values)
	if err != nil {
		return nil, err
	}
	found := ordinals{}
	for _, number := range numbers {
		for _, value := range values {
			found = append(found, chunks[number].find(hashValue(value))...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// indexOf reads the chunks of the own layer that values stand in, and names
// them.
func (v *View) indexOf(ctx context.Context, attribute string, values []string) (map[int]packedHashes, []int, error) {
	directories, err := v.indexChunks(ctx, attribute, []int{directoryChunk})
	if err != nil {
		return nil, nil, err
	}
	directory := directories[directoryChunk]
	var numbers []int
	for _, value := range values {
		hash := hashValue(value)
		// The run of a hash begins in the last chunk that starts below it, and
		// goes on through the chunks that start at it.
		for n := max(0, directory.starts(hash, false)-1); n < directory.starts(hash, true); n++ {
			numbers = append(numbers, n)
		}
	}
	numbers = unique(numbers)
	chunks, err := v.indexChunks(ctx, attribute, numbers)
	return chunks, numbers, err
}

// find returns the ordinals under a hash in a chunk.
func (p packedHashes) find(hash [indexHash]byte) (found ordinals) {
	n := len(p) / indexEntry
	at := sort.Search(n, func(i int) bool { return bytes.Compare(p[i*indexEntry:i*indexEntry+indexHash], hash[:]) >= 0 })
	for ; at < n && [indexHash]byte(p[at*indexEntry:]) == hash; at++ {
		found = append(found, binary.BigEndian.Uint32(p[at*indexEntry+indexHash:]))
	}
	return found
}

// matching returns the products that a term keeps, in order.
func (v *View) matching(ctx context.Context, term Term) (ordinals, error) {
	if term.Attribute == "id" {
		places, err := v.placesByID(ctx, term.Values)
		return ordered(places), err
	}
	return v.indexed(ctx, term.Attribute, unique(term.Values)...)
}

// intersect keeps what both sorted lists have.
func intersect(a, b ordinals) ordinals {
	both := make(ordinals, 0, min(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			both, a, b = append(both, a[0]), a[1:], b[1:]
		}
	}
	return both
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
