package segment

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// The names of a release's lists of products, besides those of ListOfNode.
const (
	ListAll   = "all"   // products attached to a node
	ListEvery = "every" // those, and all products that they refer to
)

// ListOfNode returns the name of the list of a node or hierarchy.
func ListOfNode(id string) string { return "node/" + id }

// ListOfSubtree returns the name of the list of a node and of all nodes below it. It is the node's own list if there
// are none below it, and for a hierarchy, whose list has the products of all its nodes.
func (n *CatalogNode) ListOfSubtree() string {
	if n.Kind == KindNode && n.HasChildren() {
		return "subtree/" + n.ID
	}
	return ListOfNode(n.ID)
}

// ListHead is the description of a list.
type ListHead struct {
	Total   int                          // products, curated ones too; NoList only as a row has it
	Curated []uint32                     // ordinals that come first, in order
	Since   int64                        // the release since which the list is the same, in all orders
	heldBy  int64                        // the layer that holds the list's chunks
	pieces  map[store.SortBy][]listPiece // what layers above made of them; nil if the list is as it is stored
}

func (h *ListHead) Size() int {
	size := 72 + 4*len(h.Curated)
	for _, pieces := range h.pieces {
		size += 64
		for _, p := range pieces {
			size += 48 + 4*len(p.own)
		}
	}
	return size
}

// change completes a head that was read from a layer's row: its products are those of the list below, was, after the layer's
// changes.
func (h *ListHead) change(changes ListChanges, was *ListHead) {
	h.heldBy, h.pieces = was.heldBy, map[store.SortBy][]listPiece{}
	for _, by := range StoredOrders {
		h.pieces[by] = applyToPieces(was.slice(by, 0, was.length(by)), changes[by])
	}
}

// length returns the number of products that are stored in one order.
func (h *ListHead) length(by store.SortBy) int {
	if by == store.SortDefault {
		return h.Total - len(h.Curated)
	}
	return h.Total
}

// ListHeads reads the heads of several lists in one statement. It leaves out
// unknown names.
func (r *Reader) ListHeads(ctx context.Context, lists []string) (map[string]*ListHead, error) {
	r.Reads.AddNames(listKind, lists)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedList}
	return db.Fetch(r.Cache, key, lists, func(lists []string) (map[string]*ListHead, error) {
		heads := make(map[string]*ListHead, len(lists))
		of, args := r.InLayers()
		places, args := db.InList(args, lists)
		type row struct {
			list    string
			head    *ListHead
			changes []byte
		}
		rows, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (found row, err error) {
			found.head = &ListHead{}
			var curated []byte
			err = rows.Scan(&found.head.heldBy, &found.list, &found.head.Total, &curated, &found.changes, &found.head.Since)
			found.head.Curated = index.UnpackOrdinals(curated)
			return found, err
		}, `
			SELECT release_id, list, total, curated, parts, CASE since WHEN 0 THEN release_id ELSE since END FROM release_list
			WHERE release_id IN (`+of+`) AND list IN (`+places+`) ORDER BY release_id`, args...)
		for _, found := range rows { // the base first, whose number is the lowest
			was := heads[found.list]
			switch {
			case found.head.Total == NoList:
				delete(heads, found.list)
				continue
			case len(found.changes) > 0 && was == nil:
				return nil, ErrGone
			case len(found.changes) > 0:
				found.head.change(unpackListChanges(found.changes), was)
			}
			heads[found.list] = found.head
		}
		return heads, err
	})
}

// List reads a list of products in the orders in which it is stored.
type List struct {
	*Reader
	Name string
	Head *ListHead
}

// List returns a list by its name. Every node has its list: ErrGone when it is
// missing.
func (r *Reader) List(ctx context.Context, name string) (List, error) {
	heads, err := r.ListHeads(ctx, []string{name})
	if err == nil && heads[name] == nil {
		err = ErrGone
	}
	return List{r, name, heads[name]}, err
}

// InOrder reads the products from position start until just before end, in the
// list's own order: curated products, then the others.
func (l List) InOrder(ctx context.Context, start, end int) ([]uint32, error) {
	curated := len(l.Head.Curated)
	ordinals := slices.Clone(l.Head.Curated[min(start, curated):min(end, curated)])
	rest, err := l.Stored(ctx, store.SortDefault, max(0, start-curated), max(0, end-curated))
	return append(ordinals, rest...), err
}

// Stored reads the products from position start until just before end in one
// of StoredOrders. The curated ones are not in SortDefault. ErrGone when a chunk is missing.
func (l List) Stored(ctx context.Context, by store.SortBy, start, end int) ([]uint32, error) {
	if start >= end {
		return nil, nil
	}
	return l.appendStored(ctx, make([]uint32, 0, end-start), by, start, end)
}

// appendStored appends what Stored returns.
func (l List) appendStored(ctx context.Context, ordinals []uint32, by store.SortBy, start, end int) ([]uint32, error) {
	pieces := l.Head.slice(by, start, end)
	var parts []index.Ordinals
	chunks, stored := l.chunks(by, pieces)
	if stored {
		var err error
		if parts, err = readChunks(ctx, l.Reader, chunks.KeptList, chunks.First, chunks.Last, index.UnpackOrdinals); err != nil {
			return nil, err
		}
	}
	wanted := len(ordinals) + end - start
	for _, p := range pieces {
		ordinals = append(ordinals, p.own...)
		for at, until := p.start, p.start+p.stored(); at < until; {
			part := parts[at/ChunkSize-chunks.First]
			from := at % ChunkSize
			if from >= len(part) {
				return nil, ErrGone
			}
			some := part[from:min(len(part), from+until-at)]
			ordinals, at = append(ordinals, some...), at+len(some)
		}
	}
	if len(ordinals) < wanted {
		return nil, ErrGone
	}
	return ordinals, nil
}

// Chunks returns the chunks that Stored reads for some positions. found is false if it reads none.
func (l List) Chunks(by store.SortBy, start, end int) (chunks ChunkRange, found bool) {
	return l.chunks(by, l.Head.slice(by, start, end))
}

// WholeChunks is Chunks for the whole list.
func (l List) WholeChunks(by store.SortBy) (chunks ChunkRange, found bool) {
	return l.Chunks(by, 0, l.length(by))
}

// chunks returns the chunks that hold pieces of a list; found is false if all are in memory.
func (l List) chunks(by store.SortBy, pieces []listPiece) (chunks ChunkRange, found bool) {
	low, high := math.MaxInt, 0
	for _, p := range pieces {
		if n := p.stored(); n > 0 {
			low, high = min(low, p.start), max(high, p.start+n)
		}
	}
	if low >= high {
		return chunks, false
	}
	return ChunkRange{KeptList{l.Head.heldBy, l.Name, by}, low / ChunkSize, (high - 1) / ChunkSize}, true
}

// length returns the number of products that are stored in one order.
func (l List) length(by store.SortBy) int { return l.Head.length(by) }

// All returns the products in one of StoredOrders.
func (l List) All(ctx context.Context, by store.SortBy) ([]uint32, error) {
	return l.Stored(ctx, by, 0, l.length(by))
}

// Members returns all products of the list, by ordinal.
func (l List) Members(ctx context.Context) (index.Ordinals, error) {
	return l.MembersIn(ctx, make(index.Ordinals, 0, l.Head.Total))
}

// MembersIn is Members in the memory of buffer, if that is large enough.
func (l List) MembersIn(ctx context.Context, buffer index.Ordinals) (members index.Ordinals, err error) {
	members = buffer[:0]
	if n := l.Head.Total - len(l.Head.Curated); n > 0 {
		if members, err = l.appendStored(ctx, members, store.SortDefault, 0, n); err != nil {
			return nil, err
		}
	}
	if len(l.Head.Curated) > 0 || len(l.Release.Below) > 0 { // else the default order is that of the ordinals
		members = append(members, l.Head.Curated...)
		slices.Sort(members)
	}
	return members, nil
}

// MemberSet returns all products of the list as a set.
func (l List) MemberSet(ctx context.Context) (index.OrdinalSet, error) {
	key := db.CacheKey{Release: l.Release.CacheIdentity(), Kind: cachedMembers, Name: cachekey.New(l.Name)}
	if members, ok := db.Cached[index.OrdinalSet](l.Cache, key); ok {
		return members, nil
	}
	all, err := l.Members(ctx)
	if err != nil {
		return nil, err
	}
	members := index.Posting{Ordinals: all}.Set(l.Release.Ordinals)
	l.Cache.Set(key, members)
	return members, nil
}

// memberWork is the cost of reading one product of a list, in bytes of an Allowance.
const memberWork = 8

// MembersOf returns all products of several lists as a set. It leaves out unknown names. It takes as many statements as one
// list. So the Reader must have a cache, into which it reads the chunks of all lists at once.
func (r *Reader) MembersOf(ctx context.Context, names []string) (index.OrdinalSet, error) {
	heads, err := r.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	var kept []ChunkRange
	total := 0
	for name, head := range heads {
		if head == nil {
			continue
		}
		if chunks, found := (List{r, name, head}).WholeChunks(store.SortDefault); found {
			kept = append(kept, chunks)
		}
		total += head.Total
	}
	if err := store.Charge(ctx, memberWork*total); err != nil || total == 0 {
		return index.NewOrdinalSet(r.Release.Ordinals), err
	}
	if _, err := ChunksOf(ctx, r, kept, index.UnpackOrdinals); err != nil {
		return nil, err
	}
	set := index.NewOrdinalSet(r.Release.Ordinals)
	for name, head := range heads {
		if head == nil {
			continue
		}
		members, err := List{r, name, head}.Members(ctx)
		if err != nil {
			return nil, err
		}
		for _, ordinal := range members {
			set.Add(ordinal)
		}
	}
	return set, nil
}
