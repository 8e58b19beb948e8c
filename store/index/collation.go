package index

import (
	"bytes"
	"encoding/hex"
	"slices"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// Collation sorts texts by the rules of a language. It is safe for concurrent use.
type Collation struct{ collators sync.Pool }

type pooledCollator struct {
	*collate.Collator
	buffer collate.Buffer
}

// NewCollation returns the collation of a locale; the root collation if it is unknown.
func NewCollation(locale string) *Collation {
	tag := language.Make(locale)
	return &Collation{sync.Pool{New: func() any { return &pooledCollator{Collator: collate.New(tag)} }}}
}

// Key returns the sort key of a text, which compares byte by byte.
func (c *Collation) Key(text string) []byte {
	collator := c.collators.Get().(*pooledCollator)
	defer c.collators.Put(collator)
	collator.buffer.Reset()
	return slices.Clone(collator.KeyFromString(&collator.buffer, text))
}

// rootCollation collates names that have no language.
var rootCollation = sync.OnceValue(func() *Collation { return NewCollation("und") })

// maxSortKey keeps a key well below what an index page of either database holds.
const maxSortKey = 256

// SortKey returns the key of a name for columns that sort by name, by the root collation and in hexadecimal. Names with a long
// common beginning have the same key.
func SortKey(name string) string {
	key := rootCollation().Key(name)
	return hex.EncodeToString(key[:min(len(key), maxSortKey)])
}

// NameOrder collects the sort keys of product names, in the order of ordinals.
type NameOrder struct {
	keys []byte // one after the other
	ends []int  // in keys, of each
}

// Add appends a key.
func (o *NameOrder) Add(key []byte) {
	o.keys = append(o.keys, key...)
	o.ends = append(o.ends, len(o.keys))
}

// At returns the key that was added at index i.
func (o *NameOrder) At(i uint32) []byte {
	start := 0
	if i > 0 {
		start = o.ends[i-1]
	}
	return o.keys[start:o.ends[i]]
}

// Ranks returns the rank of each name, by index. Equal names have the rank of the first of them, so ranks have gaps.
func (o *NameOrder) Ranks() []int64 {
	order := make([]uint32, len(o.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(o.At(a), o.At(b)) })
	ranks := make([]int64, len(order))
	for i, ordinal := range order {
		ranks[ordinal] = int64(i)
		if i > 0 && bytes.Equal(o.At(ordinal), o.At(order[i-1])) {
			ranks[ordinal] = ranks[order[i-1]]
		}
	}
	return ranks
}
