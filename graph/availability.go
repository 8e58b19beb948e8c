package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release"
)

func (r productResolver) PriceRange(ctx context.Context, obj *model.Product) (*release.Range, error) {
	prices, err := r.priceRange(ctx, obj)
	if err != nil {
		return nil, err
	}
	return prices.Current, nil
}

func (r productResolver) OriginalPriceRange(ctx context.Context, obj *model.Product) (*release.Range, error) {
	prices, err := r.priceRange(ctx, obj)
	if err != nil {
		return nil, err
	}
	return prices.Original, nil
}

func (r productResolver) OnSale(ctx context.Context, obj *model.Product) (bool, error) {
	prices, err := r.priceRange(ctx, obj)
	return err == nil && prices.OnSale, err
}

// priceRange returns what a product or its children cost, loaded for all rows of its batch.
func (r *Resolver) priceRange(ctx context.Context, obj *model.Product) (*release.ProductPrices, error) {
	return model.Load(ctx, obj.BatchRow, "prices", r, func(r *Resolver, ctx context.Context, all []*model.Product) ([]*release.ProductPrices, error) {
		v, err := r.View(ctx)
		if err != nil {
			return nil, err
		}
		return v.PricesOf(ctx, storedProducts(all))
	})
}

func (r productResolver) Availability(ctx context.Context, obj *model.Product) (*store.Availability, error) {
	if err := auth.Require(ctx, "Product.availability"); err != nil {
		return nil, err
	}
	known, err := r.availability(ctx, obj)
	if err != nil {
		return nil, err
	}
	return &known.word, nil
}

func (r productResolver) AvailableForSale(ctx context.Context, obj *model.Product) (*bool, error) {
	if err := auth.Require(ctx, "Product.availableForSale"); err != nil {
		return nil, err
	}
	known, err := r.availability(ctx, obj)
	if err != nil {
		return nil, err
	}
	return &known.forSale, nil
}

// availability is what the stock of a product is shown as.
type availability struct {
	word    store.Availability // in stock, low, out or untracked, by the settings
	forSale bool
}

// availability returns the availability of a product, loaded for all rows of its batch.
func (r *Resolver) availability(ctx context.Context, obj *model.Product) (*availability, error) {
	return model.Load(ctx, obj.BatchRow, "availability", r, (*Resolver).availabilities)
}

// availabilities returns the availability of products: of a parent or bundle, by the stock of its children or components.
func (r *Resolver) availabilities(ctx context.Context, all []*model.Product) ([]*availability, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := r.store.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	products, err := v.Named(ctx, storedProducts(all)) // of a cached response only ids are known
	if err != nil {
		return nil, err
	}
	supply, err := v.SupplyOf(ctx, products)
	if err != nil {
		return nil, err
	}
	stocks, err := r.store.Stock.Column(ctx, supply.IDs)
	if err != nil {
		return nil, err
	}
	available := make([]int32, len(stocks))
	for i, record := range stocks {
		if available[i] = store.NoStockRecord; record != nil {
			available[i] = int32(record.Available)
		}
	}
	known := make([]*availability, len(all))
	for i, units := range supply.Units(available) {
		known[i] = &availability{settings.AvailabilityOf(units), store.InStock(units)}
	}
	return known, nil
}
