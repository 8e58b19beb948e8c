package publish

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// priceIndex gathers base prices, of products that come in order.
type priceIndex struct {
	parts    map[string]*pricePart // the one that is being filled, by currency
	complete []pricePart
}

// pricePart is a part of the list of base prices in a currency.
type pricePart struct {
	currency string
	number   int
	keys     []int64
}

// add notes what a product costs; end is behind the last ordinal.
func (x *priceIndex) add(ordinal int, offers map[string]*catalog.Offer, end int) {
	for currency, o := range offers {
		if o.Base == nil {
			continue
		}
		part := x.parts[currency]
		if part == nil || part.number != ordinal/segment.ChunkSize {
			x.finish(currency)
			part = &pricePart{currency, ordinal / segment.ChunkSize, slices.Repeat([]int64{segment.Unpriced}, min(segment.ChunkSize, end-ordinal/segment.ChunkSize*segment.ChunkSize))}
			x.parts[currency] = part
		}
		part.keys[ordinal%segment.ChunkSize] = o.Base.Minor
	}
}

func (x *priceIndex) finish(currency string) {
	if x.parts == nil {
		x.parts = map[string]*pricePart{}
	}
	if part := x.parts[currency]; part != nil {
		x.complete = append(x.complete, *part)
		delete(x.parts, currency)
	}
}

// writePrices writes the parts that are complete.
func (w *releaseWriter) writePrices(ctx context.Context) error {
	parts := w.prices.complete
	w.prices.complete = nil
	return store.Chunked(parts, 128, func(parts []pricePart) error {
		rows := make([][]any, len(parts))
		for i, part := range parts {
			rows[i] = []any{w.release.ID, segment.ListKeys, string(segment.SortOfPrices(part.currency)), part.number, index.PackKeys(part.keys)}
		}
		return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			return t.InsertRows(ctx, "release_chunk", []string{"release_id", "list", "sort", "chunk", "body"}, rows)
		})
	})
}

// pricesEnd writes the rest.
func (w *releaseWriter) pricesEnd(ctx context.Context) error {
	for _, currency := range slices.Sorted(maps.Keys(w.prices.parts)) {
		w.prices.finish(currency)
	}
	return w.writePrices(ctx)
}
