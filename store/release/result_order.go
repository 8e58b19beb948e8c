package release

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// ResultOrder is a list as a query wants it: filtered and sorted.
type ResultOrder struct {
	*View
	List   string
	Head   *ListHead
	named  index.Ordinals // the whole list, where the release does not keep it; nil where it does
	filter ProductFilter
	sort   store.Sort
	epoch  int // of the prices it is sorted by
}

// reads returns the products from position start until just before end.
type reads func(ctx context.Context, start, end int) ([]uint32, error)

// arrange works out the length and how to read a part. A list that is kept in
// its order is read where it lies, at the same cost at any offset; another is
// worked out once and kept.
func (a *ResultOrder) arrange(ctx context.Context) (total int, places reads, err error) {
	switch {
	case a.picked():
		found, err := a.filtered(ctx)
		return len(found), func(_ context.Context, start, end int) ([]uint32, error) { return found[start:end], nil }, err
	case a.sort.By == store.SortDefault:
		return a.Head.Total, a.inOrder, nil
	}
	return a.bounded(ctx)
}

// picked tells whether the list has to be worked out: its products are picked
// by more than a bound of its sort key, or its order is not stored.
func (a *ResultOrder) picked() bool {
	return a.named != nil || a.filter.picks() || !stored(a.sort.By) ||
		slices.ContainsFunc(a.filter.Ranges, func(r store.Range) bool { return a.sort.By == store.SortDefault || r.Attribute != a.sort.By })
}

// stored tells whether releases keep their lists in an order.
func stored(by store.SortBy) bool { return by != store.SortRelevance && by != store.SortPrice }

// name tells apart what the filter makes of a list for this shopper.
func (a *ResultOrder) name() string {
	name := a.filter.String()
	if len(a.filter.Searches) > 0 {
		name += "@" + strings.Join(a.languages, ",")
	}
	if a.sort.By == store.SortPrice {
		name += "$" + a.Currency
	}
	return name
}

// inOrder reads the list's own order: curated products, then the others.
func (a *ResultOrder) inOrder(ctx context.Context, start, end int) ([]uint32, error) {
	curated := len(a.Head.Curated)
	places := slices.Clone(a.Head.Curated[min(start, curated):min(end, curated)])
	rest, err := a.Stored(ctx, store.SortDefault, max(0, start-curated), max(0, end-curated))
	return append(places, rest...), err
}

// Stored reads a part of the list as it is kept in one of its orders.
func (a *ResultOrder) Stored(ctx context.Context, by store.SortBy, start, end int) ([]uint32, error) {
	if start >= end {
		return nil, nil
	}
	lists, first, last := a.parts(by, start, end)
	at := first * ChunkSize // the position that the first of them begins with
	var parts []index.Ordinals
	var err error
	if patched := a.Head.parts[by]; patched != nil {
		at = patched.before(first)
		parts, err = patched.read(ctx, a.View, lists, by, first, last)
	} else {
		parts, err = readChunks(ctx, a.View, lists[0], by, first, last, index.UnpackOrdinals)
	}
	if err != nil {
		return nil, err
	}
	places := make([]uint32, 0, end-start)
	for _, part := range parts {
		if from, until := max(0, start-at), min(len(part), end-at); from < until {
			places = append(places, part[from:until]...)
		}
		at += len(part)
	}
	if len(places) < end-start {
		return nil, errReleaseGone
	}
	return places, nil
}

// parts are the numbers of the parts that a stretch of the list lies in, first
// and last, and under which names they are kept.
func (a *ResultOrder) parts(by store.SortBy, start, end int) (lists []KeptList, first, last int) {
	own := KeptList{a.Head.HeldBy, a.List}
	if patched := a.Head.parts[by]; patched != nil {
		return []KeptList{own, {a.Release.BaseID, a.List}}, patched.at(start), patched.at(end - 1)
	}
	return []KeptList{own}, start / ChunkSize, (end - 1) / ChunkSize
}

// bounded reads a sorted list between the bounds of its sort key, which a
// binary search finds.
func (a *ResultOrder) bounded(ctx context.Context) (total int, places reads, err error) {
	low, high := 0, a.Head.Total
	for _, r := range a.filter.Ranges {
		i, err := a.interval(ctx, r)
		if err != nil {
			return 0, nil, err
		}
		from, err := a.search(ctx, i.low)
		if err != nil {
			return 0, nil, err
		}
		until, err := a.search(ctx, i.high)
		if err != nil {
			return 0, nil, err
		}
		low, high = max(low, from), min(high, until)
	}
	total = max(0, high-low)
	return total, func(ctx context.Context, start, end int) ([]uint32, error) {
		if !a.sort.Descending {
			return a.Stored(ctx, a.sort.By, low+start, low+end)
		}
		places, err := a.Stored(ctx, a.sort.By, high-end, high-start)
		slices.Reverse(places)
		return places, err
	}, nil
}

// search is the first position whose sort key is not below one.
func (a *ResultOrder) search(ctx context.Context, key int64) (int, error) {
	var failed error
	position := sort.Search(a.Head.Total, func(i int) bool {
		at, err := a.Stored(ctx, a.sort.By, i, i+1)
		if err != nil {
			failed = err
			return true
		}
		own, err := a.KeyAt(ctx, a.sort.By, int(at[0]))
		if err != nil {
			failed = err
			return true
		}
		return own >= key
	})
	return position, failed
}

// whole is the list from end to end, in no order.
func (a *ResultOrder) whole(ctx context.Context) (index.Ordinals, error) {
	if a.picked() {
		return a.filtered(ctx)
	}
	return a.Members(ctx)
}

// filteredWork is what filtering and sorting costs for each product of a list,
// in bytes of an Allowance.
const filteredWork = 32

// filtered works out a filtered list and keeps it.
func (a *ResultOrder) filtered(ctx context.Context) (index.Ordinals, error) {
	key := db.CacheKey{Release: a.Release.identity(), Kind: cachedFilter, Name: a.List + "?" + a.name(), Sort: store.SortBy(a.sort.String()), Number: a.epoch}
	if kept, ok := db.Cached[index.Ordinals](a.Cache, key); ok {
		return kept, nil
	}
	found, err := a.candidates(ctx)
	if err != nil {
		return nil, err
	}
	if err := store.Charge(ctx, filteredWork*len(found)); err != nil {
		return nil, err
	}
	if found, err = a.within(ctx, found); err != nil {
		return nil, err
	}
	if found, err = a.order(ctx, found); err != nil {
		return nil, err
	}
	found = slices.Clip(slices.Clone(found)) // its memory was that of a longer list
	a.Cache.Set(key, found)
	return found, nil
}

// candidates are the products of the list that the filter's terms and searches
// keep, by ordinal. The rarest term comes first, and the others are looked at
// for what it left only, so that the cost is in what is found.
func (a *ResultOrder) candidates(ctx context.Context) (index.Ordinals, error) {
	if !a.filter.picks() {
		return a.Members(ctx)
	}
	var found index.Ordinals
	terms := make([]index.Posting, len(a.filter.Terms))
	for i, term := range a.filter.Terms {
		var err error
		if terms[i], err = a.matching(ctx, term); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(terms, func(a, b index.Posting) int { return cmp.Compare(a.Len(), b.Len()) })
	for i, term := range terms {
		if i > 0 {
			found = term.Filter(found, a.Release.Ordinals)
			continue
		}
		dead, err := a.Dead(ctx)
		if err != nil {
			return nil, err
		}
		found = subtract(term.List(a.Release.Ordinals), dead)
	}
	for i, search := range a.filter.Searches {
		matching, err := a.searched(ctx, search)
		if err != nil {
			return nil, err
		}
		if i == 0 && len(terms) == 0 {
			found = slices.Clone(matching)
			continue
		}
		found = index.Intersect(found, matching)
	}
	return a.listed(ctx, found)
}

// listed keeps what is in the list, in the same memory.
func (a *ResultOrder) listed(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	if a.named != nil {
		return index.Intersect(found, a.named), nil
	}
	key := db.CacheKey{Release: a.Release.identity(), Kind: cachedMembers, Name: a.List}
	members, ok := db.Cached[index.OrdinalSet](a.Cache, key)
	if !ok {
		all, err := a.Members(ctx)
		if err != nil {
			return nil, err
		}
		members = index.Posting{Ordinals: all}.Set(a.Release.Ordinals)
		a.Cache.Set(key, members)
	}
	return members.Filter(found), nil
}

// Members are all products of the list, by ordinal.
func (a *ResultOrder) Members(ctx context.Context) (index.Ordinals, error) {
	if a.named != nil {
		return slices.Clone(a.named), nil
	}
	rest, err := a.Stored(ctx, store.SortDefault, 0, a.Head.Total-len(a.Head.Curated))
	if err != nil {
		return nil, err
	}
	if len(a.Head.Curated) > 0 || a.Release.BaseID != 0 {
		rest = append(rest, a.Head.Curated...)
		slices.Sort(rest)
	}
	return rest, nil
}

// within keeps what is in every range.
func (a *ResultOrder) within(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	for _, r := range a.filter.Ranges {
		i, err := a.interval(ctx, r)
		if err != nil {
			return nil, err
		}
		keys, err := a.allKeys(ctx, r.Attribute)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(place uint32) bool { return !i.holds(keys.at(place)) })
	}
	return found, nil
}
