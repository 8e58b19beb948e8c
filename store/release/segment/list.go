package segment

import (
	"context"
	"database/sql"
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
	Total   int
	Curated []uint32                   // ordinals that come first, in order
	HeldBy  int64                      // the release that holds the list's chunks
	Since   int64                      // the release since which the list is the same, in all orders
	parts   map[store.SortBy]ListParts // of a delta's own list; nil for any other
}

func (h *ListHead) Size() int {
	size := 72 + 4*len(h.Curated)
	for _, parts := range h.parts {
		size += 64 + 4*len(parts)
	}
	return size
}

// Kept returns the list of that name with its holder.
func (h *ListHead) Kept(name string) KeptList { return KeptList{h.HeldBy, name} }

// ListHeads reads the heads of several lists in one statement. It leaves out
// unknown names.
func (r *Reader) ListHeads(ctx context.Context, lists []string) (map[string]*ListHead, error) {
	r.Reads.AddNames(listKind, lists)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedList}
	return db.Fetch(r.Cache, key, lists, func(lists []string) (map[string]*ListHead, error) {
		heads := make(map[string]*ListHead, len(lists))
		places, args := db.InList([]any{r.Release.ID}, lists)
		_, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (h *ListHead, err error) {
			h = &ListHead{}
			var list string
			var curated, parts []byte
			err = rows.Scan(&list, &h.Total, &curated, &h.HeldBy, &parts, &h.Since)
			h.Curated, h.parts = index.UnpackOrdinals(curated), unpackParts(parts)
			heads[list] = h
			return h, err
		}, `SELECT list, total, curated, held_by, parts, CASE since WHEN 0 THEN release_id ELSE since END FROM release_list WHERE release_id = $1 AND list IN (`+places+`)`, args...)
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
	places := slices.Clone(l.Head.Curated[min(start, curated):min(end, curated)])
	rest, err := l.Stored(ctx, store.SortDefault, max(0, start-curated), max(0, end-curated))
	return append(places, rest...), err
}

// Stored reads the products from position start until just before end in one
// of StoredOrders. The curated ones are not in SortDefault.
func (l List) Stored(ctx context.Context, by store.SortBy, start, end int) ([]uint32, error) {
	if start >= end {
		return nil, nil
	}
	return l.appendStored(ctx, make([]uint32, 0, end-start), by, start, end)
}

// appendStored appends what Stored returns.
func (l List) appendStored(ctx context.Context, places []uint32, by store.SortBy, start, end int) ([]uint32, error) {
	lists, first, last := l.Parts(by, start, end)
	at := first * ChunkSize // the position of the first product read
	var parts []index.Ordinals
	var err error
	if patched := l.Head.parts[by]; patched != nil {
		at = patched.before(first)
		parts, err = patched.read(ctx, l.Reader, lists, by, first, last)
	} else {
		parts, err = readChunks(ctx, l.Reader, lists[0], by, first, last, index.UnpackOrdinals)
	}
	if err != nil {
		return nil, err
	}
	wanted := len(places) + end - start
	for _, part := range parts {
		if from, until := max(0, start-at), min(len(part), end-at); from < until {
			places = append(places, part[from:until]...)
		}
		at += len(part)
	}
	if len(places) < wanted {
		return nil, ErrGone
	}
	return places, nil
}

// Parts returns the first and last chunk that hold the positions from start
// until just before end, and the lists that hold them.
func (l List) Parts(by store.SortBy, start, end int) (lists []KeptList, first, last int) {
	own := l.Head.Kept(l.Name)
	if patched := l.Head.parts[by]; patched != nil {
		return []KeptList{own, {l.Release.BaseID, l.Name}}, patched.at(start), patched.at(end - 1)
	}
	return []KeptList{own}, start / ChunkSize, (end - 1) / ChunkSize
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
	if len(l.Head.Curated) > 0 || l.Release.BaseID != 0 {
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

// MembersOf returns all products of several lists as a set. It leaves out unknown names. The Reader must
// have a cache; it takes as many statements as one list.
func (r *Reader) MembersOf(ctx context.Context, names []string) (index.OrdinalSet, error) {
	heads, err := r.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	var kept []KeptList
	last, total := 0, 0
	for name, head := range heads {
		if head != nil && head.Total > 0 {
			lists, _, until := List{r, name, head}.Parts(store.SortDefault, 0, head.Total)
			kept, last, total = append(kept, lists...), max(last, until), total+head.Total
		}
	}
	if err := store.Charge(ctx, memberWork*total); err != nil || total == 0 {
		return index.NewOrdinalSet(r.Release.Ordinals), err
	}
	if _, err := ChunksOf(ctx, r, kept, store.SortDefault, 0, last, index.UnpackOrdinals); err != nil {
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
		for _, place := range members {
			set.Add(place)
		}
	}
	return set, nil
}
