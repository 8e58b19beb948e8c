package release

import (
	"context"
	"slices"

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
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedFilter, Name: o.list.Name + "?" + o.name() + "@" + version, Sort: store.SortBy(o.sort.String()), Number: o.epoch}
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

// withStock keeps the products that can be bought by their stock now, or those that cannot: a product without a stock record
// can, and a parent if one of its children can. It keeps the order.
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
			for _, of := range boughtAs(families.Children(place), place) {
				asked = append(asked, ids.At(of))
			}
		}
		if err := store.Charge(ctx, stockWork*len(asked)); err != nil {
			return nil, err
		}
		units, err := v.service.stock.AvailableUnits(ctx, asked)
		if err != nil {
			return nil, err
		}
		for _, place := range chunk {
			n := len(boughtAs(families.Children(place), place))
			if slices.ContainsFunc(units[:n], store.InStock) == want {
				kept = append(kept, place)
			}
			units = units[n:]
		}
	}
	return slices.Clip(kept), nil
}

// boughtAs returns the products whose stock is that of a product: the children of a parent, else itself.
func boughtAs(children []uint32, place uint32) []uint32 {
	if len(children) > 0 {
		return children
	}
	return []uint32{place}
}
