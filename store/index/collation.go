package index

import (
	"bytes"
	"slices"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// Collation orders texts as the people of a language do. It may be used by
// several goroutines.
type Collation struct{ idle sync.Pool }

type collator struct {
	*collate.Collator
	buffer collate.Buffer
}

// NewCollation sorts as a language does; the root order where it is none.
func NewCollation(locale string) *Collation {
	tag := language.Make(locale)
	return &Collation{sync.Pool{New: func() any { return &collator{Collator: collate.New(tag)} }}}
}

// Key is what a text compares by, byte by byte.
func (c *Collation) Key(text string) []byte {
	own := c.idle.Get().(*collator)
	defer c.idle.Put(own)
	own.buffer.Reset()
	return slices.Clone(own.KeyFromString(&own.buffer, text))
}

// NameOrder gathers the keys of the names of products, which come in order.
type NameOrder struct {
	keys []byte
	ends []int
}

// Add appends a key.
func (o *NameOrder) Add(key []byte) {
	o.keys = append(o.keys, key...)
	o.ends = append(o.ends, len(o.keys))
}

// At is the key that was added as number i.
func (o *NameOrder) At(i uint32) []byte {
	start := 0
	if i > 0 {
		start = o.ends[i-1]
	}
	return o.keys[start:o.ends[i]]
}

// Ranks are the places of the names among all, which equal ones share.
func (o *NameOrder) Ranks() []int64 {
	order := make([]uint32, len(o.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(o.At(a), o.At(b)) })
	ranks := make([]int64, len(order))
	for i, at := range order {
		ranks[at] = int64(i)
		if i > 0 && bytes.Equal(o.At(at), o.At(order[i-1])) {
			ranks[at] = ranks[order[i-1]]
		}
	}
	return ranks
}
