package segment

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/price"
)

// Unpriced is the sort key of a product without a price.
const Unpriced = -1

// SortOfPrices returns the name of the sort keys that hold the base prices in a
// currency. Chunks in which no product has a price are not stored.
func SortOfPrices(currency string) store.SortBy { return store.SortPrice + store.SortBy("/"+currency) }

// Prices are the prices of all products of a release in one currency. Sales
// start and end at edges; between two edges, in one epoch, prices stay the same.
type Prices struct {
	base  []int64     // by ordinal, in minor units, without sales; nil when no product has a price or sale
	sales []saleOffer // by ordinal, of the products that have any
	edges []int64     // when a sale starts or ends, in microseconds, each once

	families *Families // whose parents cost what the cheapest of their children costs; nil if base is
}

// saleOffer is what a product with sales costs. Of its base price it has the amount only.
type saleOffer struct {
	ordinal uint32
	price.Offer
}

func (p *Prices) Size() int {
	return 8*len(p.base) + 256*len(p.sales) + 8*len(p.edges) + p.families.Size()
}

// None reports whether no product has a price or a sale.
func (p *Prices) None() bool { return p.base == nil }

// LastEpoch returns the number of the last epoch; the first is 0.
func (p *Prices) LastEpoch() int { return len(p.edges) }

// Epoch returns the number of the epoch of a moment, in microseconds.
func (p *Prices) Epoch(at int64) int {
	n, isEdge := slices.BinarySearch(p.edges, at)
	if isEdge {
		n++
	}
	return n
}

// Bounds returns the start and end of an epoch, in microseconds; 0 is unbounded.
func (p *Prices) Bounds(epoch int) (from, until int64) {
	if epoch > 0 {
		from = p.edges[epoch-1]
	}
	if epoch < len(p.edges) {
		until = p.edges[epoch]
	}
	return from, until
}

// in returns the prices of an epoch, by ordinal: of a parent the lowest of its live children. Do not change them.
func (p *Prices) in(epoch int) []int64 {
	if len(p.sales) == 0 {
		return p.base
	}
	moment, amounts := p.moment(epoch), slices.Clone(p.base)
	for _, s := range p.sales {
		if now, _ := s.AmountAt(moment); now != nil {
			amounts[s.ordinal] = now.Minor
		}
	}
	p.families.lower(amounts)
	return amounts
}

// moment returns a time in an epoch, in microseconds.
func (p *Prices) moment(epoch int) int64 {
	switch {
	case epoch > 0:
		return p.edges[epoch-1]
	case len(p.edges) > 0:
		return max(0, p.edges[0]-1)
	}
	return 0
}

// onSaleWork is the cost of reading the sales of one product, or a parent, in bytes of an Allowance.
const onSaleWork = 64

// OnSale returns the products that have an active sale in a currency and epoch of Prices: a parent if a live child has one.
func (r *Reader) OnSale(ctx context.Context, currency string, epoch int) (index.OrdinalSet, error) {
	prices, err := r.Prices(ctx, currency)
	if err != nil {
		return nil, err
	}
	set := index.NewOrdinalSet(r.Release.Ordinals)
	if len(prices.sales) == 0 {
		return set, nil
	}
	if err := store.Charge(ctx, set.Size()+onSaleWork*(len(prices.sales)+prices.families.parents())); err != nil {
		return nil, err
	}
	moment := prices.moment(min(epoch, prices.LastEpoch()))
	for _, s := range prices.sales {
		if sale, _, _ := s.SaleAt(moment); sale != nil {
			set.Add(s.ordinal)
		}
	}
	prices.families.lift(set)
	return set, nil
}

// epochPrices are the prices of an epoch, by ordinal.
type epochPrices []int64

func (a epochPrices) Size() int { return 24 + 8*len(a) }

// Amounts returns the prices of all products in a currency and epoch of Prices, by ordinal, in minor
// units; Unpriced for a product without one. It is nil if no product has a price.
func (r *Reader) Amounts(ctx context.Context, currency string, epoch int) ([]int64, error) {
	prices, err := r.Prices(ctx, currency)
	if err != nil || len(prices.sales) == 0 {
		return prices.baseOf(), err
	}
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedAmounts, Name: cachekey.New(currency), Number: epoch}
	if kept, ok := db.Cached[epochPrices](r.Cache, key); ok {
		return kept, nil
	}
	found := epochPrices(prices.in(min(epoch, prices.LastEpoch())))
	r.Cache.Set(key, found)
	return found, nil
}

// AmountsWithin returns Amounts for a filter by price: a parent is within the bounds, both inclusive, if a live child is.
func (r *Reader) AmountsWithin(ctx context.Context, currency string, epoch int, low, high int64) ([]int64, error) {
	amounts, families, err := r.amounts(ctx, currency, epoch)
	if err != nil || !families.any() {
		return amounts, err
	}
	return families.within(amounts, low, high), store.Charge(ctx, 8*len(amounts))
}

// PriceBounds returns the lowest and the highest price of a set, with those of all live children of its parents; Unpriced for
// a set without prices.
func (r *Reader) PriceBounds(ctx context.Context, currency string, epoch int, set index.OrdinalSet) (lowest, highest int64, err error) {
	amounts, families, err := r.amounts(ctx, currency, epoch)
	if err != nil {
		return 0, 0, err
	}
	if lowest, highest = set.Bounds(amounts, Unpriced+1); highest < lowest {
		return Unpriced, Unpriced, nil
	}
	return lowest, max(highest, families.highestChildAmount(set, amounts)), nil
}

// amounts returns Amounts, and the families of the release; nil if no product has a price.
func (r *Reader) amounts(ctx context.Context, currency string, epoch int) ([]int64, *Families, error) {
	prices, err := r.Prices(ctx, currency)
	if err != nil {
		return nil, nil, err
	}
	amounts, err := r.Amounts(ctx, currency, epoch)
	return amounts, prices.families, err
}

// baseOf returns the base prices; nil for nil, which Prices returns with an error.
func (p *Prices) baseOf() []int64 {
	if p == nil {
		return nil
	}
	return p.base
}

// Prices reads the prices of all products in a currency.
func (r *Reader) Prices(ctx context.Context, currency string) (*Prices, error) {
	r.Reads.Add(AnyProduct)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedPrices, Name: cachekey.New(currency), Number: -1}
	if kept, ok := db.Cached[*Prices](r.Cache, key); ok {
		return kept, nil
	}
	base, none, err := r.sparseKeys(ctx, SortOfPrices(currency), Unpriced)
	if err != nil {
		return nil, err
	}
	p := &Prices{base: base}
	if p.sales, err = r.saleOffers(ctx, currency, p.base); err != nil {
		return nil, err
	}
	for _, s := range p.sales {
		for _, sale := range s.Sales {
			p.edges = append(p.edges, sale.From, sale.To)
		}
	}
	slices.Sort(p.edges)
	p.edges = slices.DeleteFunc(slices.Compact(p.edges), func(edge int64) bool { return edge == 0 })
	if _, err := KeptRelease(ctx, r.db.Reader, r.Release.ID); err != nil {
		return nil, ErrGone // some chunks may have been deleted
	}
	if none && len(p.sales) == 0 {
		p.base = nil // requests for unknown currencies fill no memory
	} else if p.families, err = r.Families(ctx); err != nil {
		return nil, err
	}
	if len(p.sales) == 0 && p.base != nil {
		p.families.lower(p.base)
	}
	r.Cache.Set(key, p)
	return p, nil
}

// saleOffers reads the products that have sales in a currency, by ordinal. Those of dead products are among them.
func (r *Reader) saleOffers(ctx context.Context, currency string, base []int64) ([]saleOffer, error) {
	of, args := r.InLayers(currency)
	return db.Collect(ctx, r.session(), func(rows *sql.Rows) (s saleOffer, err error) {
		var text []byte
		if err := rows.Scan(&s.ordinal, &text); err != nil {
			return s, err
		}
		if int(s.ordinal) < len(base) && base[s.ordinal] != Unpriced {
			s.Base = &price.TieredPrice{Minor: base[s.ordinal]}
		}
		return s, json.Unmarshal(text, &s.Sales)
	}, `SELECT ordinal, sales FROM release_sale WHERE release_id IN (`+of+`) AND currency = $1 ORDER BY ordinal`, args...)
}

// listCurrencies is the cache's name for the currencies of a release.
const listCurrencies = "currencies"

// PriceCurrencies returns the currencies in which products have a price or a sale,
// in order.
func (r *Reader) PriceCurrencies(ctx context.Context) ([]string, error) {
	r.Reads.Add(AnyProduct)
	return r.priceCurrencies(ctx)
}

// HasPricesIn reports whether a product has a price or a sale in a currency. It records no read: the caller records AnyCurrency.
func (r *Reader) HasPricesIn(ctx context.Context, currency string) (bool, error) {
	codes, err := r.priceCurrencies(ctx)
	return slices.Contains(codes, currency), err
}

// priceCurrencies is PriceCurrencies for a caller that records what it shows. The sort keys of prices tell the currencies:
// "~" is above every code.
func (r *Reader) priceCurrencies(ctx context.Context) ([]string, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedTexts, Name: cachekey.New(listCurrencies)}
	if kept, ok := db.Cached[storedTexts](r.Cache, key); ok {
		return kept, nil
	}
	of, args := r.InLayers(ListKeys, string(SortOfPrices("")), string(SortOfPrices("~")))
	sorts, err := db.Collect(ctx, r.session(), db.Scalar[string], `
		SELECT DISTINCT sort FROM release_chunk WHERE release_id IN (`+of+`) AND list = $1 AND sort > $2 AND sort < $3`, args...)
	if err != nil {
		return nil, err
	}
	of, args = r.InLayers()
	codes, err := db.Collect(ctx, r.session(), db.Scalar[string], `SELECT DISTINCT currency FROM release_sale WHERE release_id IN (`+of+`)`, args...)
	if err != nil {
		return nil, err
	}
	for _, sort := range sorts {
		codes = append(codes, strings.TrimPrefix(sort, string(SortOfPrices(""))))
	}
	codes = store.Unique(codes)
	slices.Sort(codes)
	if _, err := KeptRelease(ctx, r.db.Reader, r.Release.ID); err != nil {
		return nil, ErrGone // some chunks may have been deleted
	}
	r.Cache.Set(key, storedTexts(codes))
	return codes, nil
}

// CurrenciesOf returns the currencies in which the products of releases have a price or a sale, by code, in the order of
// the releases. It takes two statements for up to 512 releases.
func CurrenciesOf(ctx context.Context, in db.Session, releases []*Release) ([][]string, error) {
	byRelease := map[int64][]string{}
	for _, r := range releases {
		for _, layer := range r.LayerIDs() {
			byRelease[layer] = nil
		}
	}
	type row struct {
		release  int64
		currency string
	}
	scan := func(rows *sql.Rows) (r row, err error) { return r, rows.Scan(&r.release, &r.currency) }
	prefix := string(SortOfPrices(""))
	err := store.Chunked(slices.Sorted(maps.Keys(byRelease)), 512, func(ids []int64) error {
		list, args := db.InList([]any{ListKeys, prefix, string(SortOfPrices("~"))}, ids)
		priced, err := db.Collect(ctx, in, scan, `SELECT DISTINCT release_id, sort FROM release_chunk WHERE list = $1 AND sort > $2 AND sort < $3 AND release_id IN (`+list+`)`, args...)
		if err != nil {
			return err
		}
		list, args = db.InList(nil, ids)
		onSale, err := db.Collect(ctx, in, scan, `SELECT DISTINCT release_id, currency FROM release_sale WHERE release_id IN (`+list+`)`, args...)
		for _, r := range slices.Concat(priced, onSale) {
			byRelease[r.release] = append(byRelease[r.release], strings.TrimPrefix(r.currency, prefix))
		}
		return err
	})
	found := make([][]string, len(releases))
	for i, r := range releases {
		for _, layer := range r.LayerIDs() {
			found[i] = append(found[i], byRelease[layer]...)
		}
		slices.Sort(found[i])
		found[i] = slices.Compact(found[i])
	}
	return found, err
}
