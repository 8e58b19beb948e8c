package shop

import (
	"bytes"
	"slices"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// collation orders texts as the people of a language do. It may be used by
// several goroutines.
type collation struct{ idle sync.Pool }

type collator struct {
	*collate.Collator
	buffer collate.Buffer
}

func newCollation(locale string) *collation {
	tag := language.Make(locale)
	return &collation{sync.Pool{New: func() any { return &collator{Collator: collate.New(tag)} }}}
}

// key is what a text compares by, byte by byte.
func (c *collation) key(text string) []byte {
	own := c.idle.Get().(*collator)
	defer c.idle.Put(own)
	own.buffer.Reset()
	return slices.Clone(own.KeyFromString(&own.buffer, text))
}

// nameOrder gathers the keys of the names of products, which come in order.
type nameOrder struct {
	keys []byte
	ends []int
}

func (o *nameOrder) add(key []byte) {
	o.keys = append(o.keys, key...)
	o.ends = append(o.ends, len(o.keys))
}

func (o *nameOrder) at(i uint32) []byte {
	start := 0
	if i > 0 {
		start = o.ends[i-1]
	}
	return o.keys[start:o.ends[i]]
}

// ranks are the places of the names among all, which equal ones share.
func (o *nameOrder) ranks() []int64 {
	order := make([]uint32, len(o.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(o.at(a), o.at(b)) })
	ranks := make([]int64, len(order))
	for i, at := range order {
		ranks[at] = int64(i)
		if i > 0 && bytes.Equal(o.at(at), o.at(order[i-1])) {
			ranks[at] = ranks[order[i-1]]
		}
	}
	return ranks
}
