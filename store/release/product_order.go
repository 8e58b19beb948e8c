package release

import (
	"cmp"
	"context"
	"slices"

	"portico/store"
	"portico/store/index"
)

// sorted sorts products, given by ordinal, as the query requests.
func (o *resultOrder) sorted(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
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
	curated := intersectOrdered(o.list.Head.Curated, found)
	rest := slices.DeleteFunc(found, func(place uint32) bool { return slices.Contains(curated, place) })
	rest, err := o.ByUpdate(ctx, rest)
	return append(curated, rest...), err
}

// byRelevance sorts products first that have more of the searched words in their
// name or SKU.
func (o *resultOrder) byRelevance(ctx context.Context, found index.Ordinals) error {
	var named []index.OrdinalSet
	for _, search := range o.filter.Searches {
		words, err := o.Hits(ctx, search)
		if err != nil {
			return err
		}
		for _, word := range words {
			named = append(named, word.Named)
		}
	}
	scores := make(map[uint32]int, len(found))
	for _, place := range found {
		for _, word := range named {
			if word.Has(place) {
				scores[place]++
			}
		}
	}
	slices.SortStableFunc(found, func(x, y uint32) int { return cmp.Compare(scores[y], scores[x]) })
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
	for _, place := range list {
		if _, found := slices.BinarySearch(sorted, place); found {
			both = append(both, place)
		}
	}
	return both
}

// sorting returns how to sort a list and, if it is sorted or filtered by price, in which epoch: that of the
// cursor, so that a sale that starts or ends moves no product between the pages
// of a client, else the current one. In a currency without prices it sorts by id.
func (v *View) sorting(ctx context.Context, sort store.Sort, filter ProductFilter, page store.Page) (store.Sort, int, error) {
	if sort.By != store.SortPrice && !filter.byPrice() {
		return sort, 0, nil
	}
	prices, err := v.Prices(ctx, v.Currency)
	if err != nil {
		return sort, 0, err
	}
	epoch, given := prices.Epoch(store.Micros(v.now)), false
	v.valid.narrow(prices.Bounds(epoch))
	for member, text := range page.Cursors {
		c, err := store.ParseCursor(*text, "", member)
		if err != nil {
			return sort, 0, err
		}
		if c.Epoch < 0 || c.Epoch > prices.LastEpoch() || given && c.Epoch != epoch {
			return sort, 0, store.MismatchedCursor(member)
		}
		epoch, given = c.Epoch, true
	}
	if sort.By == store.SortPrice && prices.None() {
		sort.By = store.SortID
	}
	return sort, epoch, nil
}
