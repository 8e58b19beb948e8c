package release

import (
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// checkedAtOnce is how many products withStock looks up at a time: writers of stock wait for one such step.
const checkedAtOnce = 1024

// stockWork is the cost of looking the stock of one product up, in bytes of an Allowance.
const stockWork = 32

// inStock is the result of a filter by stock. It is live, so the view's response is not cached. The result is, until a product
// of the shop comes into stock or runs out of it.
func (o *resultOrder) inStock(ctx context.Context) (index.Ordinals, error) {
	o.valid.live.Store(true)
	static := *o
	static.filter.InStock = nil
	found, err := static.filtered(ctx)
	if err != nil {
		return nil, err
	}
	version := o.service.stock.InStockVersion() // before the stock is read
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedFilter, Name: cachekey.Join(o.key(), cachekey.New(version)), Sort: o.sort, Number: o.epoch}
	if version != "" {
		if kept, ok := db.Cached[index.Ordinals](o.Cache, key); ok {
			return kept, nil
		}
	}
	if found, err = o.withStock(ctx, found, *o.filter.InStock); err == nil && version != "" {
		o.Cache.Set(key, found)
	}
	return found, err
}

// withStock keeps the products of which their stock allows to buy a unit now (segment.Families.Units), or the others. It
// keeps the order.
func (v *View) withStock(ctx context.Context, places index.Ordinals, want bool) (index.Ordinals, error) {
	families, err := v.Families(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := v.AllIDs(ctx)
	if err != nil {
		return nil, err
	}
	kept := make(index.Ordinals, 0, len(places))
	asked := make([]string, 0, checkedAtOnce)
	for chunk := range slices.Chunk(places, checkedAtOnce) {
		asked = asked[:0]
		for _, place := range chunk {
			families.Units(place, func(of uint32) int32 {
				asked = append(asked, ids.At(of))
				return 0
			})
		}
		if err := store.Charge(ctx, stockWork*len(asked)); err != nil {
			return nil, err
		}
		units, err := v.service.stock.AvailableUnits(ctx, asked)
		if err != nil {
			return nil, err
		}
		for _, place := range chunk {
			if store.InStock(families.Units(place, next(&units))) == want {
				kept = append(kept, place)
			}
		}
	}
	return slices.Clip(kept), nil
}

// next returns the units of one record after the other.
func next(units *[]int32) func(uint32) int32 {
	return func(uint32) int32 {
		first := (*units)[0]
		*units = (*units)[1:]
		return first
	}
}
