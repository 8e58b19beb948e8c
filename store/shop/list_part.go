package shop

import (
	"context"
	"encoding/binary"
	"sort"

	"portico/store"
	"portico/store/index"
)

// listParts say how long each part of a delta's list is in one of its orders,
// and who keeps it: the base, or the delta where something in it differs. So a
// delta writes as much of a list as differs, however long it is.
type listParts []uint32

const ownPart = 1 // the lowest bit; the others are the length

func newPart(length int, own bool) uint32 {
	if own {
		return uint32(length)<<1 | ownPart
	}
	return uint32(length) << 1
}

func (p listParts) length(number int) int { return int(p[number] >> 1) }
func (p listParts) own(number int) bool   { return p[number]&ownPart != 0 }

// before is how many products come before a part.
func (p listParts) before(number int) (n int) {
	for i := range number {
		n += p.length(i)
	}
	return n
}

// at is the part that a position lies in.
func (p listParts) at(position int) int {
	for number := range p {
		if position -= p.length(number); position < 0 {
			return number
		}
	}
	return max(0, len(p)-1)
}

// read reads the parts from first to last; lists are the delta's own and the
// base's.
func (p listParts) read(ctx context.Context, v *View, lists []keptList, by store.SortBy, first, last int) ([]index.Ordinals, error) {
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
		found, err := chunksOf(ctx, v, []keptList{list}, by, low, high, index.UnpackOrdinals)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			if parts[n-first] = found[list][n-low]; len(parts[n-first]) != p.length(n) {
				return nil, errReleaseGone
			}
		}
	}
	return parts, nil
}

// storedOrders are the orders in which releases keep their lists.
var storedOrders = []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName}

// packParts writes the parts of a list in every order, each after its number.
func packParts(parts map[store.SortBy]listParts) (body []byte) {
	for _, by := range storedOrders {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(parts[by])))
		body = append(body, index.PackOrdinals(parts[by])...)
	}
	return body
}

func unpackParts(body []byte) map[store.SortBy]listParts {
	if len(body) == 0 {
		return nil
	}
	all := listParts(index.UnpackOrdinals(body))
	parts := map[store.SortBy]listParts{}
	for _, by := range storedOrders {
		n := all[0]
		parts[by], all = all[1:1+n], all[1+n:]
	}
	return parts
}

// patch is a product that a delta's list does not have as the base's has it.
type patch struct {
	ordinal uint32
	at      int // where it stands in the base's list, or before what it comes
	added   bool
	key, id int64 // sort keys
}

// patched writes a list of the base anew in one order, as far as products went
// or came, and tells where its parts are.
func (l *listWriter) patched(ctx context.Context, base *arrangement, by store.SortBy, length int, gone, come []uint32) (listParts, error) {
	var patches []patch
	for i, list := range [][]uint32{gone, come} {
		for _, ordinal := range list {
			p := patch{ordinal: ordinal, added: i == 1}
			var err error
			if p.key, p.id, err = l.sortedBy(ctx, by, ordinal); err != nil {
				return nil, err
			}
			if p.at, err = l.position(ctx, base, by, length, p); err != nil {
				return nil, err
			}
			patches = append(patches, p)
		}
	}
	sort.Slice(patches, func(i, j int) bool { return patches[i].comesBefore(patches[j]) })
	parts := make(listParts, max(1, (length+chunkSize-1)/chunkSize))
	for n := range parts {
		parts[n] = newPart(min(chunkSize, length-n*chunkSize), false)
	}
	for len(patches) > 0 {
		number := min(patches[0].at/chunkSize, len(parts)-1)
		n := sort.Search(len(patches), func(i int) bool { return min(patches[i].at/chunkSize, len(parts)-1) > number })
		start := number * chunkSize
		was, err := base.stored(ctx, by, start, min(length, start+chunkSize))
		if err != nil {
			return nil, err
		}
		is := applied(patches[:n], start, was)
		patches = patches[n:]
		if parts[number] = newPart(len(is), len(is) > 0); len(is) > 0 {
			row := []any{l.release.ID, base.list, string(by), number, index.PackOrdinals(is)}
			l.chunks, l.size = append(l.chunks, row), l.size+chunkRowSize(row)
		}
	}
	return parts, nil
}

// comesBefore is the order of the list; of two at one place what is added
// comes before what stood there.
func (p patch) comesBefore(other patch) bool {
	switch {
	case p.at != other.at:
		return p.at < other.at
	case p.added != other.added:
		return p.added
	case p.key != other.key:
		return p.key < other.key
	}
	return p.id < other.id
}

// applied is a part of a list, which begins at start, after its patches.
func applied(patches []patch, start int, was []uint32) []uint32 {
	is := make([]uint32, 0, len(was)+len(patches))
	for _, p := range patches {
		is = append(is, was[:p.at-start]...)
		was, start = was[p.at-start:], p.at
		if p.added {
			is = append(is, p.ordinal)
		} else {
			was, start = was[1:], start+1
		}
	}
	return append(is, was...)
}

// position is the place of the first product of a list that does not sort
// before one.
func (l *listWriter) position(ctx context.Context, base *arrangement, by store.SortBy, length int, p patch) (int, error) {
	var failed error
	at := sort.Search(length, func(i int) bool {
		var key, id int64
		place, err := base.stored(ctx, by, i, i+1)
		if err == nil {
			key, id, err = l.sortedBy(ctx, by, place[0])
		}
		if err != nil {
			failed = err
			return true
		}
		return key > p.key || key == p.key && id >= p.id
	})
	return at, failed
}

// sortedBy are the sort keys of a product of the base or of the delta in an
// order of lists: the lower comes first.
func (l *listWriter) sortedBy(ctx context.Context, by store.SortBy, ordinal uint32) (key, id int64, err error) {
	p := l.plan
	if int(ordinal) >= p.first {
		handle := p.order[int(ordinal)-p.first]
		keys := map[store.SortBy]int64{store.SortDefault: -p.updated[handle], store.SortCreatedAt: p.created[handle], store.SortUpdatedAt: p.updated[handle], store.SortName: l.nameKeys[handle]}
		return keys[by], l.idKeys[handle], nil
	}
	base := p.delta.view
	if id, err = base.keyAt(ctx, store.SortID, int(ordinal)); err != nil || by == store.SortID {
		return 0, id, err
	}
	if by == store.SortDefault {
		key, err = base.keyAt(ctx, store.SortUpdatedAt, int(ordinal))
		return -key, id, err
	}
	key, err = base.keyAt(ctx, by, int(ordinal))
	return key, id, err
}
