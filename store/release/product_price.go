package release

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/release/price"
	"portico/store/release/segment"
)

// Range is the lowest and the highest of some prices.
type Range = price.Range

// ProductPrices is what the live children of a parent cost now, or what a product without children costs.
type ProductPrices struct {
	Current  *Range // nil if nothing has a price
	Original *Range // without sales; nil outside a sale, and if nothing has a price without it
	OnSale   bool   // of one of them at least

	from, until int64 // as Quote.From and Quote.Until
}

// Size is about the memory in bytes, with two ranges.
func (p *ProductPrices) Size() int { return 512 }

// PricesOf returns the price ranges of products, in their order. Parents that are not cached are read together, in
// four statements for each 512 of their children.
func (v *View) PricesOf(ctx context.Context, products []*Product) ([]*ProductPrices, error) {
	ranges, now := make([]*ProductPrices, len(products)), store.Micros(v.now)
	key := db.CacheKey{Kind: cachedPrices, Name: v.name}
	var missing []int
	var children []string
	for i, p := range products {
		ids := p.ChildIDs()
		if len(ids) == 0 {
			ranges[i] = ownRange(p.quote)
			if p.BaseProduct() { // a parent whose children are all drafts cannot be bought
				ranges[i] = &ProductPrices{}
			}
			continue
		}
		for _, id := range ids {
			v.Reads.Add(segment.ProductKey(id))
		}
		key.Release, key.Number = v.Release.HolderIdentity(int(p.Ordinal)), int(p.Ordinal)
		if kept, ok := db.Cached[*ProductPrices](v.Cache, key); ok && now >= kept.from && (kept.until == 0 || now < kept.until) {
			ranges[i] = kept
			v.valid.narrow(kept.from, kept.until)
			continue
		}
		missing, children = append(missing, i), append(children, ids...)
	}
	if len(missing) == 0 {
		return ranges, nil
	}
	offers, err := v.offersOf(ctx, store.Unique(children))
	if err != nil {
		return nil, err
	}
	formatter := v.formatter()
	for _, i := range missing {
		p := products[i]
		var own []*price.Offer
		for _, id := range p.ChildIDs() {
			if offer := offers[id]; offer != nil {
				own = append(own, offer)
			}
		}
		ranges[i] = rangeOf(own, now, formatter)
		v.valid.narrow(ranges[i].from, ranges[i].until)
		key.Release, key.Number = v.Release.HolderIdentity(int(p.Ordinal)), int(p.Ordinal)
		v.Cache.Set(key, ranges[i])
	}
	return ranges, nil
}

// offersOf returns what products cost, by id. It leaves out unknown ids.
func (v *View) offersOf(ctx context.Context, ids []string) (map[string]*price.Offer, error) {
	ordinals := make(map[string]segment.Ordinal, len(ids))
	if err := store.Chunked(ids, 512, func(ids []string) error {
		some, err := v.OrdinalsByID(ctx, ids, nil)
		maps.Copy(ordinals, some)
		return err
	}); err != nil {
		return nil, err
	}
	offers := make(map[string]*price.Offer, len(ordinals))
	return offers, store.Chunked(slices.Sorted(maps.Keys(ordinals)), 512, func(ids []string) error {
		at := make([]uint32, len(ids))
		for i, id := range ids {
			at[i] = uint32(ordinals[id])
		}
		found, err := v.OffersAt(ctx, at, v.Currency)
		for i, offer := range found {
			if offers[ids[i]] = offer; offer == nil && err == nil {
				err = segment.ErrGone
			}
		}
		return err
	})
}

// ownRange returns the prices of a product without children. It has no times: whoever read the product recorded those of its
// quote.
func ownRange(q *price.Quote) *ProductPrices {
	r := &ProductPrices{Current: price.NewRange(q.Price, q.Price), OnSale: q.SaleID != ""}
	if r.OnSale {
		r.Original = price.NewRange(q.Original, q.Original)
	}
	return r
}

// rangeOf returns the prices of some offers at a moment, in microseconds, and how long they hold.
func rangeOf(offers []*price.Offer, at int64, formatter price.Formatter) *ProductPrices {
	r := &ProductPrices{}
	var current, original priceBounds
	for _, o := range offers {
		sale, from, until := o.SaleAt(at)
		r.from = max(r.from, from)
		if until != 0 && (r.until == 0 || until < r.until) {
			r.until = until
		}
		original.extend(o.Base)
		if sale != nil {
			r.OnSale = true
			current.extend(&sale.TieredPrice)
		} else {
			current.extend(o.Base)
		}
	}
	r.Current = current.shown(formatter)
	if r.OnSale {
		r.Original = original.shown(formatter)
	}
	return r
}

// priceBounds are the lowest and the highest of some prices; nil for none.
type priceBounds struct{ lowest, highest *price.TieredPrice }

// extend extends the bounds to a price, unless it is nil.
func (b *priceBounds) extend(p *price.TieredPrice) {
	if p == nil {
		return
	}
	if b.lowest == nil || p.Minor < b.lowest.Minor {
		b.lowest = p
	}
	if b.highest == nil || p.Minor > b.highest.Minor {
		b.highest = p
	}
}

// shown returns the bounds as a Range; nil for none.
func (b *priceBounds) shown(formatter price.Formatter) *Range {
	if b.lowest == nil {
		return nil
	}
	return price.NewRange(formatter.Price(b.lowest.Minor, b.lowest.IncludesTax, ""), formatter.Price(b.highest.Minor, b.highest.IncludesTax, ""))
}
