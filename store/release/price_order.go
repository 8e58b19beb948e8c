package release

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
)

// Unpriced is the sort key of a product without a price.
const Unpriced = -1

// SortOfPrices names the list of base prices in a currency by ordinal. Parts
// of it in which no product has one are left out.
func SortOfPrices(currency string) store.SortBy { return store.SortPrice + store.SortBy("/"+currency) }

// currencyPrices is what the products of a release cost in one currency.
type currencyPrices struct {
	base  []int64     // by ordinal, in minor units
	sales []saleOffer // by ordinal, of the products that have any
	edges []int64     // when a sale begins or ends, in microseconds, each once
}

type saleOffer struct {
	ordinal uint32
	catalog.Offer
}

func (c *currencyPrices) Size() int { return 8*len(c.base) + 256*len(c.sales) + 8*len(c.edges) }

// epoch is how many edges there are up to a moment. Between two edges prices
// stay as they are.
func (c *currencyPrices) epoch(at int64) int {
	n, isEdge := slices.BinarySearch(c.edges, at)
	if isEdge {
		n++
	}
	return n
}

// edgesOf are the edges around an epoch, 0 where there is none.
func (c *currencyPrices) edgesOf(epoch int) (from, until int64) {
	if epoch > 0 {
		from = c.edges[epoch-1]
	}
	if epoch < len(c.edges) {
		until = c.edges[epoch]
	}
	return from, until
}

// at is what the products cost in an epoch, by ordinal.
func (c *currencyPrices) at(epoch int) []int64 {
	if len(c.sales) == 0 {
		return c.base
	}
	moment := int64(0)
	switch {
	case epoch > 0:
		moment = c.edges[epoch-1]
	case len(c.edges) > 0:
		moment = max(0, c.edges[0]-1)
	}
	amounts := slices.Clone(c.base)
	for _, s := range c.sales {
		if now, _ := s.AmountAt(moment); now != nil {
			amounts[s.ordinal] = now.Minor
		}
	}
	return amounts
}

// prices reads what products cost in the view's currency.
func (v *View) prices(ctx context.Context) (*currencyPrices, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedPrices, Name: v.Currency, Number: -1}
	if kept, ok := db.Cached[*currencyPrices](v.Cache, key); ok {
		return kept, nil
	}
	c := &currencyPrices{base: make([]int64, v.Release.Ordinals)}
	for i := range c.base {
		c.base[i] = Unpriced
	}
	parts, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (number int, err error) {
		var body []byte
		err = rows.Scan(&number, &body)
		copy(c.base[min(len(c.base), number*ChunkSize):], index.UnpackKeys(body))
		return number, err
	}, `
		SELECT chunk, body FROM release_chunk
		WHERE release_id IN ($1, $2) AND list = $3 AND sort = $4 AND chunk BETWEEN 0 AND $5 ORDER BY chunk`,
		append(v.Layers(), ListKeys, string(SortOfPrices(v.Currency)), len(c.base)/ChunkSize)...)
	if err != nil {
		return nil, err
	}
	if c.sales, err = v.saleOffers(ctx, c.base); err != nil {
		return nil, err
	}
	for _, s := range c.sales {
		for _, sale := range s.Sales {
			c.edges = append(c.edges, sale.From, sale.To)
		}
	}
	slices.Sort(c.edges)
	c.edges = slices.DeleteFunc(slices.Compact(c.edges), func(edge int64) bool { return edge == 0 })
	if _, err := KeptRelease(ctx, v.service.db.Reader, v.Release.ID); err != nil {
		return nil, errReleaseGone // of which some parts may have been swept
	}
	if len(parts)+len(c.sales) == 0 {
		c.base = nil // whoever asks for made-up currencies fills no memory
	}
	v.Cache.Set(key, c)
	return c, nil
}

func (v *View) saleOffers(ctx context.Context, base []int64) ([]saleOffer, error) {
	return db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (s saleOffer, err error) {
		var text []byte
		if err := rows.Scan(&s.ordinal, &text); err != nil {
			return s, err
		}
		if int(s.ordinal) < len(base) && base[s.ordinal] != Unpriced {
			s.Base = &catalog.TieredPrice{Minor: base[s.ordinal]}
		}
		return s, json.Unmarshal(text, &s.Sales)
	}, `SELECT ordinal, sales FROM release_sale WHERE release_id IN ($1, $2) AND currency = $3 ORDER BY ordinal`, append(v.Layers(), v.Currency)...)
}

// priceOrder is the order of all products of a release in an epoch: by price,
// then id, those without a price last.
type priceOrder struct {
	ranks  []uint32 // by ordinal
	priced uint32   // those that rank below have a price
}

func (o *priceOrder) Size() int { return 4*len(o.ranks) + 48 }

func (v *View) priceOrder(ctx context.Context, epoch int) (*priceOrder, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedPrices, Name: v.Currency, Number: epoch}
	if kept, ok := db.Cached[*priceOrder](v.Cache, key); ok {
		return kept, nil
	}
	prices, err := v.prices(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := v.allKeys(ctx, store.SortID)
	if err != nil {
		return nil, err
	}
	amounts := prices.at(min(epoch, len(prices.edges)))
	o := &priceOrder{ranks: make([]uint32, len(amounts))}
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
		return cmp.Or(cmp.Compare(last(amounts[a]), last(amounts[b])), cmp.Compare(ids.at(a), ids.at(b)))
	})
	for rank, ordinal := range order {
		o.ranks[ordinal] = uint32(rank)
	}
	v.Cache.Set(key, o)
	return o, nil
}

// sort orders products; those without a price come last also in descending
// order.
func (o *priceOrder) sort(found index.Ordinals, descending bool) index.Ordinals {
	if len(found) > len(o.ranks)/16 { // most places are taken: go by them
		taken := make([]uint32, len(o.ranks)) // by rank: the ordinal, and one
		for _, place := range found {
			taken[o.ranks[place]] = place + 1
		}
		found = found[:0]
		for _, place := range taken {
			if place > 0 {
				found = append(found, place-1)
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

// sorting is how a list is to be sorted, and for prices in which epoch: that
// of its cursor, so that a sale that begins or ends moves nothing under a
// reader who pages, or else the present one. In a currency without prices it
// is by id.
func (v *View) sorting(ctx context.Context, sort store.Sort, page store.Page) (store.Sort, int, error) {
	if sort.By != store.SortPrice {
		return sort, 0, nil
	}
	prices, err := v.prices(ctx)
	if err != nil {
		return sort, 0, err
	}
	epoch, given := prices.epoch(store.Micros(v.now)), false
	v.valid.narrow(prices.edgesOf(epoch))
	for member, text := range page.Cursors {
		c, err := store.ParseCursor(*text, "", member)
		if err != nil {
			return sort, 0, err
		}
		if c.Epoch < 0 || c.Epoch > len(prices.edges) || given && c.Epoch != epoch {
			return sort, 0, store.MismatchedCursor(member)
		}
		epoch, given = c.Epoch, true
	}
	if prices.base == nil {
		sort.By = store.SortID
	}
	return sort, epoch, nil
}
