package release

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// resultOrder is a list of products as a query requests it: filtered and sorted.
type resultOrder struct {
	*View
	list   segment.List
	of     cachekey.Key   // names a list that the release does not store (setMembers); else zero
	named  index.Ordinals // all products of a list that the release does not store; else nil
	filter ProductFilter
	sort   store.Sort
	epoch  int // of the prices, when sorted or filtered by price or sale

	grouped *segment.Families // of a list of parents, which their children find too; else nil
	matches []*index.Matches  // of searched
}

// readPositions returns the products from position start until just before end.
type readPositions func(ctx context.Context, start, end int) ([]uint32, error)

// arrange returns the length of the result and how to read a part of it, in one of these ways:
//   - by relevance, the best first: the best products are computed and cached, and all only for a page beyond (arrangeBest);
//   - any other result that is not stored is computed once and cached;
//   - the list's own order is read as it is stored, and costs the same at any offset;
//   - so is another stored order, within bounds of its sort key (bounded).
func (o *resultOrder) arrange(ctx context.Context) (total int, read readPositions, err error) {
	switch {
	case o.sort.By == store.SortRelevance && !o.sort.Descending && !o.filter.Live():
		return o.arrangeBest(ctx)
	case o.computed():
		found, err := o.result(ctx)
		return len(found), func(_ context.Context, start, end int) ([]uint32, error) { return found[start:end], nil }, err
	case o.sort.By == store.SortDefault:
		return o.list.Head.Total, o.list.InOrder, nil
	}
	return o.bounded(ctx)
}

// computed reports whether the result has to be computed, because the filter
// has more than bounds of the sort key, or the order is not stored.
func (o *resultOrder) computed() bool {
	_, byAttribute := segment.AttributeOfSort(o.sort.By)
	return byAttribute || o.named != nil || o.filter.InStock != nil || o.filter.indexed() || len(o.filter.Keys) > 0 || o.sort.By == store.SortRelevance || o.sort.By == store.SortPrice ||
		slices.ContainsFunc(o.filter.Ranges, func(r store.Range) bool { return o.sort.By == store.SortDefault || r.Attribute != o.sort.By })
}

// stored reports whether the result is the list in a stored order, as it is.
func (o *resultOrder) stored() bool { return !o.computed() && len(o.filter.Ranges) == 0 }

// listKey names the list.
func (o *resultOrder) listKey() cachekey.Key {
	if o.of != (cachekey.Key{}) {
		return o.of
	}
	return cachekey.New(o.list.Name)
}

// key names the filter's result in the list for this shopper, in any order. A cache entry that depends on prices has the epoch
// beside it.
func (o *resultOrder) key() cachekey.Key {
	filter, currency := o.filter.key(), ""
	if len(o.filter.Searches) > 0 {
		filter = o.SearchKey(filter)
	}
	if o.sort.By == store.SortPrice || o.filter.byPrice() {
		currency = o.Currency
	}
	return cachekey.Join(o.listKey(), filter, cachekey.New(currency))
}

// bounded is arrange for a stored order. A binary search finds the bounds of the
// sort key.
func (o *resultOrder) bounded(ctx context.Context) (total int, read readPositions, err error) {
	low, high := 0, o.list.Head.Total
	for _, r := range o.filter.Ranges {
		i, err := o.interval(ctx, r)
		if err != nil {
			return 0, nil, err
		}
		from, err := o.search(ctx, i.low)
		if err != nil {
			return 0, nil, err
		}
		until, err := o.search(ctx, i.high)
		if err != nil {
			return 0, nil, err
		}
		low, high = max(low, from), min(high, until)
	}
	total = max(0, high-low)
	return total, func(ctx context.Context, start, end int) ([]uint32, error) {
		if !o.sort.Descending {
			return o.list.Stored(ctx, o.sort.By, low+start, low+end)
		}
		ordinals, err := o.list.Stored(ctx, o.sort.By, high-end, high-start)
		slices.Reverse(ordinals)
		return ordinals, err
	}, nil
}

// search returns the first position whose sort key is at or above key.
func (o *resultOrder) search(ctx context.Context, key int64) (int, error) {
	var failed error
	position := sort.Search(o.list.Head.Total, func(i int) bool {
		at, err := o.list.Stored(ctx, o.sort.By, i, i+1)
		if err != nil {
			failed = err
			return true
		}
		own, err := o.KeyAt(ctx, o.sort.By, int(at[0]))
		if err != nil {
			failed = err
			return true
		}
		return own >= key
	})
	return position, failed
}

// foundSet is the products of a result, to be counted.
type foundSet struct {
	set   index.OrdinalSet
	total int
}

func (f *foundSet) Size() int { return 16 + f.set.Size() }

func newFoundSet(set index.OrdinalSet) *foundSet { return &foundSet{set, set.Len()} }

// foundSet returns the products of the result. It caches them, unless they depend on live stock.
func (o *resultOrder) foundSet(ctx context.Context) (*foundSet, error) {
	if !o.computed() {
		set, err := o.list.MemberSet(ctx)
		return newFoundSet(set), err
	}
	if o.filter.Live() {
		found, err := o.inStock(ctx)
		return newFoundSet(index.Posting{Ordinals: found}.Set(o.Release.Ordinals)), err
	}
	o.record()
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedFound, Name: o.key(), Number: o.epoch}
	if cached, ok := db.Cached[*foundSet](o.Cache, key); ok {
		return cached, nil
	}
	found, err := o.keptSet(ctx)
	if err != nil {
		return nil, err
	}
	set := newFoundSet(found)
	o.Cache.Set(key, set)
	return set, nil
}

// keptSet returns the products that the filter keeps as a set. If each of its terms keeps many, no list is made. It must not
// have conditions on live stock.
func (o *resultOrder) keptSet(ctx context.Context) (set index.OrdinalSet, err error) {
	if o.named != nil || len(o.filter.Searches)+len(o.filter.Ranges) > 0 {
		return o.keptAsSet(ctx)
	}
	members, err := o.list.MemberSet(ctx)
	if err != nil {
		return nil, err
	}
	set = members.Clone()
	for _, term := range o.filter.Terms {
		matches, err := o.matching(ctx, term)
		if err != nil {
			return nil, err
		}
		if matches.many == nil {
			return o.keptAsSet(ctx)
		}
		set.And(matches.many.set)
	}
	for _, a := range o.filter.AnyOf {
		kept, err := o.keptByAny(ctx, a)
		if err != nil {
			return nil, err
		}
		set.And(kept.set)
	}
	if err := store.Charge(ctx, filteredWork*set.Len()); err != nil {
		return nil, err
	}
	for _, r := range o.filter.Keys {
		keys, err := o.sparseKeys(ctx, r)
		if err != nil {
			return nil, err
		}
		set.FilterKeys(keys, r.Low, r.High)
	}
	return set, nil
}

// keptAsSet is keptSet for any filter.
func (o *resultOrder) keptAsSet(ctx context.Context) (index.OrdinalSet, error) {
	buffer := filterBuffers.Get().(*index.Ordinals)
	defer filterBuffers.Put(buffer)
	found, err := o.kept(ctx, buffer)
	return index.Posting{Ordinals: found}.Set(o.Release.Ordinals), err
}

// result computes the result. What depends on live stock is applied to the cached rest.
func (o *resultOrder) result(ctx context.Context) (index.Ordinals, error) {
	if o.filter.Live() {
		return o.inStock(ctx)
	}
	return o.filteredAndSorted(ctx)
}

// filteredWork is the cost of filtering and sorting one product, in bytes of an
// Allowance.
const filteredWork = 32

// filteredAndSorted computes the result and caches it. The filter must not have conditions on live stock.
func (o *resultOrder) filteredAndSorted(ctx context.Context) (index.Ordinals, error) {
	o.record()
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedFilter, Name: o.key(), Sort: o.sort, Number: o.epoch}
	if kept, ok := db.Cached[index.Ordinals](o.Cache, key); ok {
		return kept, nil
	}
	buffer := filterBuffers.Get().(*index.Ordinals)
	defer filterBuffers.Put(buffer)
	found, err := o.kept(ctx, buffer)
	if err != nil {
		return nil, err
	}
	if found, err = o.sorted(ctx, found); err != nil {
		return nil, err
	}
	found = slices.Clip(slices.Clone(found)) // found has the memory of a buffer or of a longer list
	o.Cache.Set(key, found)
	return found, nil
}

// kept returns the products that the filter keeps, by ordinal. They may have the memory of the buffer.
func (o *resultOrder) kept(ctx context.Context, buffer *index.Ordinals) (index.Ordinals, error) {
	found, err := o.candidates(ctx, buffer)
	if err != nil {
		return nil, err
	}
	if err := store.Charge(ctx, filteredWork*len(found)); err != nil {
		return nil, err
	}
	return o.within(ctx, found)
}

// record records what the filter and the order read, besides the list.
func (o *resultOrder) record() {
	for _, term := range o.filter.Terms {
		o.ReadValues(term.Attribute, term.Values)
	}
	if len(o.filter.Searches)+len(o.filter.Ranges)+len(o.filter.Keys)+len(o.filter.AnyOf) > 0 || o.sort.By == store.SortPrice || o.sort.By == store.SortRelevance || strings.HasPrefix(string(o.sort.By), string(store.SortAttribute)) {
		o.Reads.Add(segment.AnyProduct)
	}
}

// filterBuffers holds the memory of results while they are computed.
var filterBuffers = sync.Pool{New: func() any { return new(index.Ordinals) }}

// candidates returns the products of the list that the filter's terms, AnyOf and
// searches keep, by ordinal. It begins with the rarest term and checks the others
// for its products only, so that the cost depends on what is found. The result may
// have the memory of the buffer.
func (o *resultOrder) candidates(ctx context.Context, buffer *index.Ordinals) (found index.Ordinals, err error) {
	if !o.filter.indexed() {
		if o.named != nil {
			*buffer = append((*buffer)[:0], o.named...)
			return *buffer, nil
		}
		found, err = o.list.MembersIn(ctx, slices.Grow((*buffer)[:0], o.list.Head.Total))
		*buffer = found
		return found, err
	}
	terms := make([]termMatches, len(o.filter.Terms)+len(o.filter.AnyOf))
	for i, term := range o.filter.Terms {
		if terms[i], err = o.matching(ctx, term); err != nil {
			return nil, err
		}
	}
	for i, a := range o.filter.AnyOf {
		if terms[len(o.filter.Terms)+i].many, err = o.keptByAny(ctx, a); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(terms, func(a, b termMatches) int { return cmp.Compare(a.len(), b.len()) })
	members := index.OrdinalSet{}
	if o.named == nil {
		if members, err = o.list.MemberSet(ctx); err != nil {
			return nil, err
		}
	}
	for i, term := range terms {
		switch {
		case i > 0 && term.many != nil:
			found = term.many.set.Filter(found)
		case i > 0:
			found = term.few.Filter(found, o.Release.Ordinals)
		case term.many == nil:
			found = term.few.List(o.Release.Ordinals)
		case o.named != nil:
			found = term.many.set.List()
		default:
			*buffer = term.many.set.AppendCommon(members, (*buffer)[:0])
			found = *buffer
		}
	}
	searched, err := o.searched(ctx)
	if err != nil {
		return nil, err
	}
	for i, matching := range searched {
		if i == 0 && len(terms) == 0 {
			*buffer = append((*buffer)[:0], matching.Found...)
			found = *buffer
			continue
		}
		found = index.Intersect(found, matching.Found)
	}
	if o.named != nil { // it has live products only, like the list
		return index.Intersect(found, o.named), nil
	}
	return members.Filter(found), nil
}

// keptByAny returns the products of the list that an AnyOf keeps. What each of its filters finds is cached as if the list
// were filtered by it alone. So a filter that does not depend on prices is given epoch 0.
func (o *resultOrder) keptByAny(ctx context.Context, a AnyOf) (*foundSet, error) {
	kept := index.NewOrdinalSet(o.Release.Ordinals)
	for _, filter := range a.Filters {
		own := *o
		own.filter, own.sort, own.matches = filter, store.Sort{}, nil
		if !filter.byPrice() {
			own.epoch = 0
		}
		found, err := own.foundSet(ctx)
		if err == nil {
			err = store.Charge(ctx, kept.Size())
		}
		if err != nil {
			return nil, err
		}
		kept.Or(found.set)
	}
	if a.Negated {
		return o.without(ctx, kept)
	}
	return newFoundSet(kept), nil
}

// without returns the products of the list that are not in a set.
func (o *resultOrder) without(ctx context.Context, set index.OrdinalSet) (*foundSet, error) {
	if err := store.Charge(ctx, set.Size()); err != nil {
		return nil, err
	}
	if o.named != nil {
		rest := index.Posting{Ordinals: o.named}.Set(o.Release.Ordinals)
		rest.AndNot(set)
		return newFoundSet(rest), nil
	}
	members, err := o.list.MemberSet(ctx)
	if err != nil {
		return nil, err
	}
	rest := members.Clone()
	rest.AndNot(set)
	return newFoundSet(rest), nil
}

// onSale returns the products that a NewSaleTerm keeps. Those on sale are cached.
func (o *resultOrder) onSale(ctx context.Context, term store.Term) (matches termMatches, err error) {
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedOnSale, Name: cachekey.New(o.Currency), Number: o.epoch}
	matches.many, _ = db.Cached[*foundSet](o.Cache, key)
	if matches.many == nil {
		set, err := o.OnSale(ctx, o.Currency, o.epoch)
		if err != nil {
			return matches, err
		}
		matches.many = newFoundSet(set)
		o.Cache.Set(key, matches.many)
	}
	if term.Values[0] != "true" {
		matches.many, err = o.without(ctx, matches.many.set)
	}
	return matches, err
}

// termMatches are the products that a term or an AnyOf keeps.
type termMatches struct {
	few  index.Posting // as an index has them; may have dead products
	many *foundSet     // in place of few; else nil
}

func (m termMatches) len() int {
	if m.many != nil {
		return m.many.total
	}
	return m.few.Len()
}

// matching returns the products that a term keeps, by the first rule that applies:
//   - NewWithinTerm: the products of the nodes, which inNodes caches;
//   - NewSaleTerm: onSale;
//   - in a list of parents, an attribute by which children find them: the index, with the parents of what it has;
//   - any other: the index. If it has many, they are cached as a set.
func (o *resultOrder) matching(ctx context.Context, term store.Term) (termMatches, error) {
	if term.Attribute == withinNodes {
		members, err := o.inNodes(ctx, term.Values)
		return termMatches{few: index.Posting{Ordinals: members}}, err
	}
	o.ReadValues(term.Attribute, term.Values)
	if term.Attribute == activeSale {
		return o.onSale(ctx, term)
	}
	if o.grouped != nil && slices.ContainsFunc(Filterable, func(a filterAttribute) bool { return a.Name == term.Attribute && a.matchesByChildren() }) {
		posting, err := o.Matching(ctx, term)
		found := posting.List(o.Release.Ordinals)
		found = append(found, replaceAll(found, parentOf(o.grouped))...)
		slices.Sort(found)
		return termMatches{few: index.Posting{Ordinals: slices.Compact(found)}}, cmp.Or(err, store.Charge(ctx, filteredWork*len(found)))
	}
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedTerm, Name: term.Key()}
	if cached, ok := db.Cached[*foundSet](o.Cache, key); ok {
		return termMatches{many: cached}, nil
	}
	posting, err := o.Matching(ctx, term)
	if err != nil || !posting.Dense(o.Release.Ordinals) {
		return termMatches{few: posting}, err
	}
	many := newFoundSet(posting.Set(o.Release.Ordinals))
	o.Cache.Set(key, many)
	return termMatches{many: many}, nil
}

// within removes the products outside the filter's Keys and Ranges. It may change found.
func (o *resultOrder) within(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	for _, r := range o.filter.Keys {
		keys, err := o.sparseKeys(ctx, r)
		if err != nil {
			return nil, err
		}
		found = found.FilterKeys(keys, r.Low, r.High)
	}
	for _, r := range o.filter.Ranges {
		i, err := o.interval(ctx, r)
		if err != nil {
			return nil, err
		}
		keys, err := o.AllKeys(ctx, r.Attribute)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(ordinal uint32) bool { return !i.holds(keys.At(ordinal)) })
	}
	return found, nil
}

// sparseKeys returns the current prices, or the values of an attribute, by ordinal, to be compared with a range.
func (o *resultOrder) sparseKeys(ctx context.Context, r KeyRange) ([]int64, error) {
	if r.Sort == store.SortPrice {
		return o.AmountsWithin(ctx, o.Currency, o.epoch, r.Low, r.High)
	}
	key, _ := segment.AttributeOfSort(r.Sort)
	return o.Orders(ctx, key)
}

// inNodes returns the products attached to one of some nodes or hierarchies, or below, by ordinal. Unknown
// nodes have none.
func (v *View) inNodes(ctx context.Context, ids []string) (index.Ordinals, error) {
	v.Reads.Add(segment.AnyProduct)
	v.Reads.Add(segment.AnyNode)
	key := db.CacheKey{Release: v.Release.CacheIdentity(), Kind: cachedWithin, Name: cachekey.New(ids...)}
	if kept, ok := db.Cached[index.Ordinals](v.Cache, key); ok {
		return kept, nil
	}
	tree, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	below := tree.Below(ids)
	names := make([]string, len(below))
	for i, node := range below {
		names[i] = segment.ListOfNode(node.ID)
	}
	set, err := v.MembersOf(ctx, names)
	if err != nil {
		return nil, err
	}
	found := set.List()
	v.Cache.Set(key, found)
	return found, nil
}

// parentOf returns a function that appends the parent of a product, or the product if it has none.
func parentOf(f *segment.Families) func(dst []uint32, ordinal uint32) []uint32 {
	return func(dst []uint32, ordinal uint32) []uint32 {
		if parent, isChild := f.Parent(ordinal); isChild {
			ordinal = parent
		}
		return append(dst, ordinal)
	}
}

// replaceAll replaces each of some ordinals by those that replace appends.
func replaceAll(ordinals []uint32, replace func(dst []uint32, ordinal uint32) []uint32) []uint32 {
	replaced := make([]uint32, 0, len(ordinals))
	for _, ordinal := range ordinals {
		replaced = replace(replaced, ordinal)
	}
	return replaced
}
