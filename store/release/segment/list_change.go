package segment

import (
	"encoding/binary"
	"sort"

	"portico/store"
)

// StoredOrders are the orders in which releases store their lists.
var StoredOrders = []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName}

// NoList is the total of a list that the layers below have and the release does not.
const NoList = -1

// ListChange is a product that comes into a list, or leaves it. A delta stores the changes of a list instead of the
// list, so that it writes little for a long one.
type ListChange struct {
	At      int    // the position in the list of the layers below: of the product that leaves, or before which one comes
	Added   bool   // it comes
	Ordinal uint32 // of the product that comes
}

// ListChanges are the changes of a list in each of StoredOrders, by position. At one position the products that come are
// before the one that leaves.
type ListChanges map[store.SortBy][]ListChange

// Pack encodes the changes: in each order their number, and then each change. A change is twice the step from the position
// before, plus one if a product comes, and then the ordinal of that.
func (c ListChanges) Pack() (body []byte) {
	for _, by := range StoredOrders {
		body = binary.AppendUvarint(body, uint64(len(c[by])))
		last := 0
		for _, change := range c[by] {
			if body = binary.AppendUvarint(body, uint64(change.At-last)<<1|added(change)); change.Added {
				body = binary.AppendUvarint(body, uint64(change.Ordinal))
			}
			last = change.At
		}
	}
	return body
}

// added is the lowest bit of a packed change.
func added(c ListChange) uint64 {
	if c.Added {
		return 1
	}
	return 0
}

// unpackListChanges is the reverse of Pack.
func unpackListChanges(body []byte) ListChanges {
	next := func() uint64 {
		n, width := binary.Uvarint(body)
		body = body[max(0, width):]
		return n
	}
	changes := ListChanges{}
	for _, by := range StoredOrders {
		last := 0
		for n := next(); n > 0 && len(body) > 0; n-- {
			at := next()
			change := ListChange{At: last + int(at>>1), Added: at&1 != 0}
			if last = change.At; change.Added {
				change.Ordinal = uint32(next())
			}
			changes[by] = append(changes[by], change)
		}
	}
	return changes
}

// listPiece is a part of a list: products of the stored list from a position on, or products that layers above added.
type listPiece struct {
	before int      // products of the list before the piece
	start  int      // position in the stored list, unless there are own
	n      int      // products of the piece
	own    []uint32 // the products, if layers above added them; nil for a part of the stored list
}

// stored returns how many products are of the stored list.
func (p listPiece) stored() int {
	if p.own != nil {
		return 0
	}
	return p.n
}

// cut returns the products of a piece from one to another.
func (p listPiece) cut(from, until int) listPiece {
	p.before, p.n = p.before+from, until-from
	if p.own != nil {
		p.own = p.own[from:until:until]
	} else {
		p.start += from
	}
	return p
}

// slice returns the pieces of a list from position start until just before end, cut to these.
func (h *ListHead) slice(by store.SortBy, start, end int) (found []listPiece) {
	if start >= end {
		return nil
	}
	if h.pieces == nil {
		return []listPiece{{start, start, end - start, nil}}
	}
	pieces := h.pieces[by]
	first := sort.Search(len(pieces), func(i int) bool { return pieces[i].before+pieces[i].n > start })
	for _, p := range pieces[first:] {
		if p.before >= end {
			break
		}
		found = append(found, p.cut(max(0, start-p.before), min(p.n, end-p.before)))
	}
	return found
}

// applyToPieces returns the pieces of a whole list after changes. It copies what is before each change, then adds the product
// that comes, or steps over the one that leaves. Neighboring pieces become one where they can.
func applyToPieces(pieces []listPiece, changes []ListChange) (all []listPiece) {
	total := 0
	add := func(p listPiece) {
		if p.n == 0 {
			return
		}
		p.before, total = total, total+p.n
		if len(all) > 0 {
			switch last := &all[len(all)-1]; {
			case last.own != nil && p.own != nil:
				last.own, last.n = append(last.own, p.own...), last.n+p.n
				return
			case last.own == nil && p.own == nil && last.start+last.n == p.start:
				last.n += p.n
				return
			}
		}
		all = append(all, p)
	}
	at := 0 // position in the list before the changes; pieces are what is left of it
	copyUntil := func(position int) {
		for at < position && len(pieces) > 0 {
			p := pieces[0]
			from, until := at-p.before, min(p.n, position-p.before)
			add(p.cut(from, until))
			if at = p.before + until; until == p.n {
				pieces = pieces[1:]
			}
		}
	}
	for _, change := range changes {
		copyUntil(change.At)
		if change.Added {
			add(listPiece{n: 1, own: []uint32{change.Ordinal}})
			continue
		}
		if at++; len(pieces) > 0 && at == pieces[0].before+pieces[0].n {
			pieces = pieces[1:]
		}
	}
	if len(pieces) > 0 {
		last := pieces[len(pieces)-1]
		copyUntil(last.before + last.n)
	}
	return all
}
