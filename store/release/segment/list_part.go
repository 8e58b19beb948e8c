package segment

import (
	"context"
	"encoding/binary"

	"portico/store"
	"portico/store/index"
)

// ListParts are the lengths of the parts of a delta's list in one of its
// orders, and who holds each part: the base, or the delta if it differs. So a
// delta writes only what differs of a list, however long the list is.
type ListParts []uint32

const ownPart = 1 // the lowest bit; the others are the length

// NewPart returns the entry for a part; own is whether the delta holds it.
func NewPart(length int, own bool) uint32 {
	if own {
		return uint32(length)<<1 | ownPart
	}
	return uint32(length) << 1
}

func (p ListParts) length(number int) int { return int(p[number] >> 1) }
func (p ListParts) own(number int) bool   { return p[number]&ownPart != 0 }

// before returns the number of products before a part.
func (p ListParts) before(number int) (n int) {
	for i := range number {
		n += p.length(i)
	}
	return n
}

// at returns the number of the part that holds a position.
func (p ListParts) at(position int) int {
	for number := range p {
		if position -= p.length(number); position < 0 {
			return number
		}
	}
	return max(0, len(p)-1)
}

// read reads the parts from first to last; lists are the delta's own and the
// base's.
func (p ListParts) read(ctx context.Context, r *Reader, lists []KeptList, by store.SortBy, first, last int) ([]index.Ordinals, error) {
	parts := make([]index.Ordinals, last-first+1)
	for i, list := range lists {
		var numbers []int
		for n := first; n <= last; n++ {
			if p.length(n) > 0 && p.own(n) == (i == 0) {
				numbers = append(numbers, n)
			}
		}
		if len(numbers) == 0 {
			continue
		}
		low, high := numbers[0], numbers[len(numbers)-1]
		found, err := ChunksOf(ctx, r, []KeptList{list}, by, low, high, index.UnpackOrdinals)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			if parts[n-first] = found[list][n-low]; len(parts[n-first]) != p.length(n) {
				return nil, ErrGone
			}
		}
	}
	return parts, nil
}

// OwnParts returns the numbers of the parts that a delta's list holds itself in
// one order. patched is false if the list is whole, so that it has no parts.
func (l List) OwnParts(by store.SortBy) (numbers []int, patched bool) {
	parts := l.Head.parts[by]
	for number := range parts {
		if parts.own(number) {
			numbers = append(numbers, number)
		}
	}
	return numbers, parts != nil
}

// Part reads one part of a list in one order: a chunk of the base's list, or what
// a delta has in its place.
func (l List) Part(ctx context.Context, by store.SortBy, number int) (index.Ordinals, error) {
	if parts := l.Head.parts[by]; parts != nil {
		read, err := parts.read(ctx, l.Reader, []KeptList{l.Head.Kept(l.Name), {l.Release.BaseID, l.Name}}, by, number, number)
		if err != nil {
			return nil, err
		}
		return read[0], nil
	}
	start := number * ChunkSize
	return l.Stored(ctx, by, start, min(start+ChunkSize, l.length(by)))
}

// length returns the number of products that are stored in one order.
func (l List) length(by store.SortBy) int {
	if by == store.SortDefault {
		return l.Head.Total - len(l.Head.Curated)
	}
	return l.Head.Total
}

// All returns the products in one of StoredOrders.
func (l List) All(ctx context.Context, by store.SortBy) ([]uint32, error) {
	return l.Stored(ctx, by, 0, l.length(by))
}

// StoredOrders are the orders in which releases store their lists.
var StoredOrders = []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName}

// PackParts encodes the parts of a list in every order, each after its length.
func PackParts(parts map[store.SortBy]ListParts) (body []byte) {
	for _, by := range StoredOrders {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(parts[by])))
		body = append(body, index.PackOrdinals(parts[by])...)
	}
	return body
}

func unpackParts(body []byte) map[store.SortBy]ListParts {
	if len(body) == 0 {
		return nil
	}
	all := ListParts(index.UnpackOrdinals(body))
	parts := map[store.SortBy]ListParts{}
	for _, by := range StoredOrders {
		n := all[0]
		parts[by], all = all[1:1+n], all[1+n:]
	}
	return parts
}
