package publish

import (
	"slices"

	"portico/store"
	"portico/store/release/segment"
)

// sparseKeys collects sort keys that not every product has. Products come in order.
type sparseKeys struct {
	absent   int64                        // the key of the others
	parts    map[store.SortBy]*sparsePart // the chunk that is filled, by order
	complete []sparsePart                 // to be written
}

// sparsePart is a chunk of sort keys by one order.
type sparsePart struct {
	sort   store.SortBy
	number int
	keys   []int64
}

// add adds the key of a product in one order; end is the ordinal after the last of the release, where the last chunk ends.
func (x *sparseKeys) add(sort store.SortBy, ordinal int, key int64, end int) {
	if x.parts == nil {
		x.parts = map[store.SortBy]*sparsePart{}
	}
	part := x.parts[sort]
	if part == nil || part.number != ordinal/segment.ChunkSize {
		x.finish(sort)
		part = &sparsePart{sort, ordinal / segment.ChunkSize, slices.Repeat([]int64{x.absent}, min(segment.ChunkSize, end-ordinal/segment.ChunkSize*segment.ChunkSize))}
		x.parts[sort] = part
	}
	part.keys[ordinal%segment.ChunkSize] = key
}

// finish completes the chunk of an order that is filled, if there is one.
func (x *sparseKeys) finish(sort store.SortBy) {
	if part := x.parts[sort]; part != nil {
		x.complete = append(x.complete, *part)
		delete(x.parts, sort)
	}
}
