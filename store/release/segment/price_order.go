package segment

import (
	"cmp"
	"context"
	"math"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// PriceOrder is the order of all products of a release in one epoch: by price,
// then id, those without a price last.
type PriceOrder struct {
	ranks  []uint32 // by ordinal; empty if no product has a price (Prices.None), and then Sort must not be called
	priced uint32   // products that rank below it have a price
}

func (o *PriceOrder) Size() int { return 4*len(o.ranks) + 48 }

// PriceOrder returns the order by price in a currency and epoch of Prices.
func (r *Reader) PriceOrder(ctx context.Context, currency string, epoch int) (*PriceOrder, error) {
	r.Reads.Add(AnyProduct)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedPrices, Name: cachekey.New(currency), Number: epoch}
	if kept, ok := db.Cached[*PriceOrder](r.Cache, key); ok {
		return kept, nil
	}
	ids, err := r.AllKeys(ctx, store.SortID)
	if err != nil {
		return nil, err
	}
	amounts, err := r.Amounts(ctx, currency, epoch)
	if err != nil {
		return nil, err
	}
	o := &PriceOrder{ranks: make([]uint32, len(amounts))}
	order := make([]uint32, len(amounts))
	for i, amount := range amounts {
		order[i] = uint32(i)
		if amount != Unpriced {
			o.priced++
		}
	}
	last := func(amount int64) int64 {
		if amount == Unpriced {
			return math.MaxInt64
		}
		return amount
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(last(amounts[a]), last(amounts[b])), cmp.Compare(ids.At(a), ids.At(b)))
	})
	for rank, ordinal := range order {
		o.ranks[ordinal] = uint32(rank)
	}
	r.Cache.Set(key, o)
	return o, nil
}

// Sort returns products sorted, in the memory of found or in new memory. Those without a price come last in descending
// order too.
func (o *PriceOrder) Sort(found index.Ordinals, descending bool) index.Ordinals {
	if len(found) > len(o.ranks)/16 { // fill a table by rank, which is faster for many
		taken := make([]uint32, len(o.ranks)) // by rank: the ordinal plus one
		for _, ordinal := range found {
			taken[o.ranks[ordinal]] = ordinal + 1
		}
		found = found[:0]
		for _, ordinal := range taken {
			if ordinal > 0 {
				found = append(found, ordinal-1)
			}
		}
	} else {
		slices.SortFunc(found, func(a, b uint32) int { return cmp.Compare(o.ranks[a], o.ranks[b]) })
	}
	if !descending {
		return found
	}
	slices.Reverse(found)
	without := 0
	for without < len(found) && o.ranks[found[without]] >= o.priced {
		without++
	}
	return slices.Concat(found[without:], found[:without])
}
