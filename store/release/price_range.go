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

// PriceRange is what the live children of a parent cost now, or what a product without children costs.
type PriceRange struct {
	Min, Max                 *price.DisplayPrice // nil if nothing has a price
	OriginalMin, OriginalMax *price.DisplayPrice // without sales; nil outside a sale, and if nothing has a price without it
	OnSale                   bool                // of one of them at least

	from, until int64 // as Quote.From and Quote.Until
}

func (r *PriceRange) Size() int { return 512 }

// PriceRanges returns the price ranges of products, in their order. Parents that are not cached are read together, in
// four statements for each 512 of their children.
func (v *View) PriceRanges(ctx context.Context, products []*Product) ([]*PriceRange, error) {
	ranges, now := make([]*PriceRange, len(products)), store.Micros(v.now)
	key := db.CacheKey{Kind: cachedRange, Name: v.name}
	var missing []int
	var children []string
	for i, p := range products {
		ids := p.ChildIDs()
		if len(ids) == 0 {
			ranges[i] = rangeOf([]*price.Quote{p.quote})
			continue
		}
		for _, id := range ids {
			v.Reads.Add(segment.ProductKey(id))
		}
		key.Release, key.Number = v.Release.HolderIdentity(int(p.Ordinal)), int(p.Ordinal)
		if kept, ok := db.Cached[*PriceRange](v.Cache, key); ok && now >= kept.from && (kept.until == 0 || now < kept.until) {
			ranges[i] = kept
			v.valid.narrow(kept.from, kept.until)
			continue
		}
		missing, children = append(missing, i), append(children, ids...)
	}
	if len(missing) == 0 {
		return ranges, nil
	}
	quotes, err := v.quotesOf(ctx, store.Unique(children))
	if err != nil {
		return nil, err
	}
	for _, i := range missing {
		p := products[i]
		var own []*price.Quote
		for _, id := range p.ChildIDs() {
			if quote := quotes[id]; quote != nil {
				own = append(own, quote)
			}
		}
		ranges[i] = rangeOf(own)
		v.valid.narrow(ranges[i].from, ranges[i].until)
		key.Release, key.Number = v.Release.HolderIdentity(int(p.Ordinal)), int(p.Ordinal)
		v.Cache.Set(key, ranges[i])
	}
	return ranges, nil
}

// quotesOf returns what products cost now, by id. It leaves out unknown ids.
func (v *View) quotesOf(ctx context.Context, ids []string) (map[string]*price.Quote, error) {
	places := make(map[string]segment.Place, len(ids))
	if err := store.Chunked(ids, 512, func(ids []string) error {
		some, err := v.PlacesByID(ctx, ids, nil)
		maps.Copy(places, some)
		return err
	}); err != nil {
		return nil, err
	}
	quotes, formatter := make(map[string]*price.Quote, len(places)), v.formatter()
	return quotes, store.Chunked(slices.Sorted(maps.Keys(places)), 512, func(ids []string) error {
		at := make([]uint32, len(ids))
		for i, id := range ids {
			at[i] = uint32(places[id])
		}
		offers, err := v.OffersAt(ctx, at, v.Currency)
		if err != nil {
			return err
		}
		for i, offer := range offers {
			if offer == nil {
				return segment.ErrGone
			}
			quotes[ids[i]] = price.QuoteAt(offer, store.Micros(v.now), formatter)
		}
		return nil
	})
}

// rangeOf returns the range of some quotes.
func rangeOf(quotes []*price.Quote) *PriceRange {
	r := &PriceRange{}
	var lowest, highest, lowestOriginal, highestOriginal *price.Price
	for _, q := range quotes {
		r.from = max(r.from, q.From)
		if q.Until != 0 && (r.until == 0 || q.Until < r.until) {
			r.until = q.Until
		}
		extend(q.Price, q.Display, &lowest, &highest, &r.Min, &r.Max)
		original, display := q.Original, q.OriginalDisplay
		if q.SaleID == "" {
			original, display = q.Price, q.Display
		} else {
			r.OnSale = true
		}
		extend(original, display, &lowestOriginal, &highestOriginal, &r.OriginalMin, &r.OriginalMax)
	}
	if !r.OnSale {
		r.OriginalMin, r.OriginalMax = nil, nil
	}
	return r
}

// extend extends a range to a price, unless it is nil.
func extend(p *price.Price, shown *price.DisplayPrice, lowest, highest **price.Price, low, high **price.DisplayPrice) {
	if p == nil {
		return
	}
	if *lowest == nil || p.Minor < (*lowest).Minor {
		*lowest, *low = p, shown
	}
	if *highest == nil || p.Minor > (*highest).Minor {
		*highest, *high = p, shown
	}
}
