package release

import (
	"cmp"
	"context"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// sorted returns products, given by ordinal, as the query sorts them. It may change found.
func (o *resultOrder) sorted(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	if key, ok := segment.AttributeOfSort(o.sort.By); ok {
		return o.byAttribute(ctx, found, key)
	}
	var err error
	switch o.sort.By {
	case store.SortDefault:
		return o.curatedFirst(ctx, found)
	case store.SortPrice:
		prices, err := o.PriceOrder(ctx, o.Currency, o.epoch)
		if err != nil {
			return nil, err
		}
		return prices.Sort(found, o.sort.Descending), nil
	case store.SortRelevance:
		if found, err = o.curatedFirst(ctx, found); err == nil {
			err = o.byRelevance(ctx, found)
		}
	default:
		err = o.byKey(ctx, found)
	}
	if o.sort.Descending {
		slices.Reverse(found)
	}
	return found, err
}

// curatedFirst sorts in the list's own order: curated products first, unless the
// filter has ids, then by last update.
func (o *resultOrder) curatedFirst(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	if o.filter.byID() {
		return o.ByUpdate(ctx, found)
	}
	if len(o.list.Head.Curated) == 0 {
		return o.ByUpdate(ctx, found)
	}
	curated := intersectOrdered(o.list.Head.Curated, found)
	rest := slices.DeleteFunc(found, func(ordinal uint32) bool { return slices.Contains(curated, ordinal) })
	rest, err := o.ByUpdate(ctx, rest)
	return append(curated, rest...), err
}

// byRelevance sorts the products first that answer the searches best.
func (o *resultOrder) byRelevance(ctx context.Context, found index.Ordinals) error {
	matches, err := o.searched(ctx)
	if len(matches) > 0 && err == nil {
		index.SortByScore(found, o.Release.Ordinals, matches...)
	}
	return err
}

// searched returns what each search of the filter finds, in a list of parents with the parents of children that it finds. It
// is computed once.
func (o *resultOrder) searched(ctx context.Context) ([]*index.Matches, error) {
	if o.matches != nil || len(o.filter.Searches) == 0 {
		return o.matches, nil
	}
	matches := make([]*index.Matches, len(o.filter.Searches))
	for i, search := range o.filter.Searches {
		result, err := o.Searched(ctx, search)
		if err != nil {
			return nil, err
		}
		matches[i] = &result.Matches
		if o.grouped == nil {
			continue
		}
		if err := store.Charge(ctx, filteredWork*len(result.Found)); err != nil {
			return nil, err
		}
		matches[i] = result.Matches.With(o.grouped.Parent)
	}
	o.matches = matches
	return matches, nil
}

// bestProducts are the first products of a result by relevance.
type bestProducts struct {
	products index.Ordinals // at most maxBest, the best first
	total    int            // of all products of the result
}

func (b *bestProducts) Size() int { return 16 + b.products.Size() }

// maxBest is the number of products that bestProducts has. Pages beyond are read from the whole order.
const maxBest = 200

// arrangeBest is arrange by relevance, the best first, without conditions on live stock: best caches what it finds. It sorts only
// the best products, until a page beyond these is read.
func (o *resultOrder) arrangeBest(ctx context.Context) (total int, read readPositions, err error) {
	best, err := o.best(ctx)
	if err != nil {
		return 0, nil, err
	}
	return best.total, func(ctx context.Context, start, end int) ([]uint32, error) {
		if end <= len(best.products) {
			return best.products[start:end], nil
		}
		found, err := o.filteredAndSorted(ctx)
		if err != nil {
			return nil, err
		}
		return found[start:end], nil
	}, nil
}

// best computes the best products and caches them.
func (o *resultOrder) best(ctx context.Context) (*bestProducts, error) {
	o.record()
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedBest, Name: o.key(), Number: o.epoch}
	if kept, ok := db.Cached[*bestProducts](o.Cache, key); ok {
		return kept, nil
	}
	buffer := filterBuffers.Get().(*index.Ordinals)
	defer filterBuffers.Put(buffer)
	found, err := o.kept(ctx, buffer)
	if err != nil {
		return nil, err
	}
	if found, err = o.curatedFirst(ctx, found); err != nil {
		return nil, err
	}
	matches, err := o.searched(ctx)
	if err != nil {
		return nil, err
	}
	best := &bestProducts{index.BestByScore(found, maxBest, o.Release.Ordinals, matches...), len(found)}
	o.Cache.Set(key, best)
	return best, nil
}

// byAttribute sorts by an attribute, then id, those without a value last.
func (o *resultOrder) byAttribute(ctx context.Context, found index.Ordinals, key string) (index.Ordinals, error) {
	orders, err := o.Orders(ctx, key)
	if err != nil {
		return nil, err
	}
	ranks, err := o.AllKeys(ctx, store.SortID)
	if err != nil {
		return nil, err
	}
	sign := 1
	if o.sort.Descending {
		sign = -1
	}
	last := func(order int64) int {
		if order == catalog.NoOrder {
			return 1
		}
		return 0
	}
	slices.SortFunc(found, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(last(orders[x]), last(orders[y])), sign*cmp.Compare(orders[x], orders[y]), sign*cmp.Compare(ranks.At(x), ranks.At(y)))
	})
	return found, nil
}

// checkSort returns INVALID for an attribute that is not sortable.
func (v *View) checkSort(ctx context.Context, sort store.Sort) error {
	key, ok := segment.AttributeOfSort(sort.By)
	if !ok {
		return nil
	}
	declared, err := v.Attributes(ctx)
	if err != nil {
		return err
	}
	if a := declared.Get(key); a == nil || !a.Attributes.Sortable {
		return store.Invalidf([]string{"order_by", "attribute"}, "must be the key of a sortable attribute, got %q", store.Abbreviate(key))
	}
	return nil
}

// byKey sorts by a stored sort key, then id.
func (o *resultOrder) byKey(ctx context.Context, found index.Ordinals) error {
	keys, err := o.AllKeys(ctx, o.sort.By)
	if err != nil {
		return err
	}
	ranks, err := o.AllKeys(ctx, store.SortID)
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(keys.At(x), keys.At(y)), cmp.Compare(ranks.At(x), ranks.At(y)))
	})
	return nil
}

// intersectOrdered returns the products of a short list that are in a sorted one,
// in the order of the short list.
func intersectOrdered(list []uint32, sorted index.Ordinals) index.Ordinals {
	both := index.Ordinals{}
	for _, ordinal := range list {
		if _, found := slices.BinarySearch(sorted, ordinal); found {
			both = append(both, ordinal)
		}
	}
	return both
}

// sorting returns how to sort a list and, if it is sorted or filtered by price, in which epoch: that of the
// cursor, so that a sale that starts or ends moves no product between the pages
// of a client, else the current one. In a currency without prices it sorts by id.
func (v *View) sorting(ctx context.Context, sort store.Sort, filter ProductFilter, page store.Page) (store.Sort, int, error) {
	if err := v.checkSort(ctx, sort); err != nil {
		return sort, 0, err
	}
	if sort.By != store.SortPrice && !filter.byPrice() {
		return sort, 0, nil
	}
	prices, err := v.Prices(ctx, v.Currency)
	if err != nil {
		return sort, 0, err
	}
	cursors, err := v.service.db.CursorKey(ctx)
	if err != nil {
		return sort, 0, err
	}
	now, given := prices.Epoch(store.Micros(v.now)), false
	epoch := now
	v.valid.narrow(prices.Bounds(epoch))
	for member, text := range page.Cursors {
		c, err := cursors.Parse(*text, store.ListID{}, member) // of any list: positioned checks which
		if err != nil {
			return sort, 0, err
		}
		if c.Epoch > now && c.Epoch <= prices.LastEpoch() { // which another server's clock has reached
			return sort, 0, store.ExpiredCursor(member, "has prices of a later time than this server's clock. Start again without a cursor.")
		}
		if c.Epoch > now || given && c.Epoch != epoch { // it is of another release, or the two cursors are of different times
			return sort, 0, store.MismatchedCursor(member)
		}
		epoch, given = c.Epoch, true
	}
	if sort.By == store.SortPrice && prices.None() {
		sort.By = store.SortID
	}
	return sort, epoch, nil
}
