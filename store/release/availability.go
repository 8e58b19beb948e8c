package release

import (
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// checkedAtOnce is how many products withStock looks up at a time: writers of stock wait for one such step.
const checkedAtOnce = 1024

// stockWork is the cost of looking the stock of one product up, in bytes of an Allowance.
const stockWork = 64

// inStock returns the result of a filter by live stock, sorted. It is live, so the view's response is not cached. The result is,
// until a product of the shop comes into stock or runs out of it.
func (o *resultOrder) inStock(ctx context.Context) (index.Ordinals, error) {
	o.valid.live.Store(true)
	static := *o
	static.filter = o.filter.static()
	found, err := static.filteredAndSorted(ctx)
	if err != nil {
		return nil, err
	}
	families, err := o.Families(ctx)
	if err != nil {
		return nil, err
	}
	version := o.service.stock.InStockVersion(families.InSets()) // before the stock is read
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedFilter, Name: cachekey.Join(o.key(), cachekey.New(version)), Sort: o.sort, Number: o.epoch}
	if version != "" {
		if kept, ok := db.Cached[index.Ordinals](o.Cache, key); ok {
			return kept, nil
		}
	}
	if found, err = o.keepLive(ctx, families, found); err == nil && version != "" {
		o.Cache.Set(key, found)
	}
	return found, err
}

// keepLive returns the products that the conditions on live stock keep, in the same order.
func (o *resultOrder) keepLive(ctx context.Context, families *segment.Families, found index.Ordinals) (index.Ordinals, error) {
	for _, a := range o.filter.AnyOf {
		if !a.live() {
			continue
		}
		kept, err := o.keptByAny(ctx, a)
		if err != nil {
			return nil, err
		}
		if err := store.Charge(ctx, filteredWork*len(found)); err != nil {
			return nil, err
		}
		found = kept.set.Filter(slices.Clone(found)) // it is cached
	}
	if o.filter.InStock == nil {
		return found, nil
	}
	return o.withStock(ctx, families, found, *o.filter.InStock)
}

// Supply is whose stock decides how many units of some products can be bought.
type Supply struct {
	IDs      []string   // of products with a record of their own; one may be there twice
	products []*Product // nil stands for one that cannot be bought
	families *segment.Families
}

// SupplyOf returns the supply of products, as segment.Families.Units has it; nil stands for a product that cannot be bought.
func (v *View) SupplyOf(ctx context.Context, products []*Product) (*Supply, error) {
	families, err := v.Families(ctx)
	if err != nil {
		return nil, err
	}
	s := &Supply{products: products, families: families}
	var ordinals []uint32 // of products other than those of the list
	var at []int          // where their ids stand in IDs
	for _, p := range products {
		if p == nil {
			continue
		}
		families.Units(p.Ordinal, func(ordinal uint32) int32 { // it asks in the same order when Supply.Units answers
			if s.IDs = append(s.IDs, p.id); ordinal != p.Ordinal {
				ordinals, at = append(ordinals, ordinal), append(at, len(s.IDs)-1)
			}
			return 0
		})
	}
	if err := store.Charge(ctx, stockWork*len(s.IDs)); err != nil {
		return nil, err
	}
	ids, err := v.IDsAt(ctx, ordinals)
	for i, id := range ids {
		s.IDs[at[i]] = id
	}
	return s, err
}

// Units returns how many units of each product can be bought, by the available units of IDs, in their order;
// store.NoStockRecord without a limit, and 0 for a product that is nil.
func (s *Supply) Units(available []int32) []int32 {
	units := make([]int32, len(s.products))
	for i, p := range s.products {
		if p != nil {
			units[i] = s.families.Units(p.Ordinal, next(&available))
		}
	}
	return units
}

// UnitsOf returns how many units of each product can be bought by the stock now.
func (v *View) UnitsOf(ctx context.Context, products []*Product) ([]int32, error) {
	supply, err := v.SupplyOf(ctx, products)
	if err != nil {
		return nil, err
	}
	available, err := v.service.stock.AvailableUnits(ctx, supply.IDs)
	if err != nil {
		return nil, err
	}
	v.valid.live.Store(true)
	return supply.Units(available), nil
}

// OwnUnitsOf returns the available units of the products' own records.
func (v *View) OwnUnitsOf(ctx context.Context, products []*Product) ([]int32, error) {
	ids := make([]string, len(products))
	for i, p := range products {
		ids[i] = p.id
	}
	if err := store.Charge(ctx, stockWork*len(ids)); err != nil {
		return nil, err
	}
	v.valid.live.Store(true)
	return v.service.stock.AvailableUnits(ctx, ids)
}

// withStock keeps the products of which their stock allows to buy a unit now (segment.Families.Units), or the others if want
// is false. It keeps the order. It runs Units twice: to collect whose records it needs, and with these, in the same order.
func (v *View) withStock(ctx context.Context, families *segment.Families, ordinals index.Ordinals, want bool) (index.Ordinals, error) {
	ids, err := v.AllIDs(ctx)
	if err != nil {
		return nil, err
	}
	kept := make(index.Ordinals, 0, len(ordinals))
	asked := make([]string, 0, checkedAtOnce)
	for chunk := range slices.Chunk(ordinals, checkedAtOnce) {
		asked = asked[:0]
		for _, ordinal := range chunk {
			families.Units(ordinal, func(of uint32) int32 {
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
		for _, ordinal := range chunk {
			if store.InStock(families.Units(ordinal, next(&units))) == want {
				kept = append(kept, ordinal)
			}
		}
	}
	return slices.Clip(kept), nil
}

// next returns the argument available of Families.Units that takes one record after the other from units.
func next(units *[]int32) func(uint32) int32 {
	return func(uint32) int32 {
		first := (*units)[0]
		*units = (*units)[1:]
		return first
	}
}
