package graph

import (
	"context"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
)

// authoredByID returns an authored resource by its global or own id; nil if there is none.
func authoredByID[T any](ctx context.Context, coordinate, id string, read func(context.Context, string) (*T, error)) (*T, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	return orNull(read(ctx, store.LocalID(id)))
}

// authoredPage returns a page of authored resources.
func authoredPage[T any](ctx context.Context, coordinate string, read func() (*store.Slice[T], error)) (*model.Connection[T], error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	slice, err := read()
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, slice.Items), nil
}

func (r queryResolver) Pricebook(ctx context.Context, id string) (*catalog.Pricebook, error) {
	return authoredByID(ctx, "Query.pricebook", id, r.store.Pricebooks.ByID)
}

func (r queryResolver) Pricebooks(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.PricebookConnection, error) {
	return authoredPage(ctx, "Query.pricebooks", func() (*store.Slice[*catalog.Pricebook], error) {
		return r.store.Pricebooks.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) AuthoredPrice(ctx context.Context, id string) (*model.AuthoredPrice, error) {
	price, err := authoredByID(ctx, "Query.authoredPrice", id, r.store.Prices.ByID)
	if price == nil {
		return nil, err
	}
	return singleRow[model.AuthoredPrice](price, err)
}

func (r queryResolver) AuthoredPrices(ctx context.Context, filter *catalog.PriceFilter, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredPriceConnection, error) {
	if err := auth.Require(ctx, "Query.authoredPrices"); err != nil {
		return nil, err
	}
	var only catalog.PriceFilter
	if filter != nil {
		only = *filter
	}
	if only.PricebookID != nil {
		only.PricebookID = new(store.LocalID(*only.PricebookID))
	}
	slice, err := r.store.AuthoredPrices(ctx, only, pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.NewBatch[model.AuthoredPrice](slice.Items)), nil
}

// Prices reads the prices of all rows at once.
func (r authoredProductResolver) Prices(ctx context.Context, obj *model.AuthoredProduct) ([]*model.AuthoredPrice, error) {
	return model.Load(ctx, obj.BatchRow, "prices", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredProduct) ([][]*model.AuthoredPrice, error) {
		skus := keysOf(all, func(p *model.AuthoredProduct) string { return p.SKU })
		bySKU, err := r.store.PricesOfSKUs(ctx, unique(skus))
		if err != nil {
			return nil, err
		}
		return model.NewBatchOfLists[model.AuthoredPrice](model.ValuesByKey(skus, bySKU)), nil
	})
}

// Pricebook reads the price books of all rows at once.
func (r authoredPriceResolver) Pricebook(ctx context.Context, obj *model.AuthoredPrice) (*catalog.Pricebook, error) {
	return model.Load(ctx, obj.BatchRow, "pricebook", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredPrice) ([]*catalog.Pricebook, error) {
		ids := keysOf(all, func(p *model.AuthoredPrice) string { return p.PricebookID })
		byID, err := r.store.Pricebooks.ByIDs(ctx, unique(ids))
		return model.ValuesByKey(ids, byID), err
	})
}

// Money formats the amount in the caller's locale.
func (r authoredAmountResolver) Money(ctx context.Context, obj *catalog.AuthoredAmount) (*store.Money, error) {
	return r.money(ctx, obj.Currency, obj.Minor)
}

// Money formats the amount in the caller's locale.
func (r authoredTierResolver) Money(ctx context.Context, obj *catalog.AuthoredTier) (*store.Money, error) {
	return r.money(ctx, obj.Currency, obj.Minor)
}

// money formats an amount in the caller's locale.
func (r *Resolver) money(ctx context.Context, currency string, minor int64) (*store.Money, error) {
	list, err := r.store.Monies(ctx, []store.CurrencyAmount{{Currency: currency, Minor: minor}}, opctx.Shopper(ctx).Locale)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (r queryResolver) AuthoredFile(ctx context.Context, id string) (*catalog.AuthoredFile, error) {
	return authoredByID(ctx, "Query.authoredFile", id, r.store.AuthoredFiles.ByID)
}

func (r queryResolver) AuthoredFiles(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredFileConnection, error) {
	return authoredPage(ctx, "Query.authoredFiles", func() (*store.Slice[*catalog.AuthoredFile], error) {
		return r.store.AuthoredFiles.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) AuthoredAttribute(ctx context.Context, id string) (*catalog.AuthoredAttribute, error) {
	return authoredByID(ctx, "Query.authoredAttribute", id, r.store.AuthoredAttributes.ByID)
}

func (r queryResolver) AuthoredAttributes(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredAttributeConnection, error) {
	return authoredPage(ctx, "Query.authoredAttributes", func() (*store.Slice[*catalog.AuthoredAttribute], error) {
		return r.store.AuthoredAttributes.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) AuthoredRedirect(ctx context.Context, id string) (*catalog.AuthoredRedirect, error) {
	return authoredByID(ctx, "Query.authoredRedirect", id, r.store.AuthoredRedirects.ByID)
}

func (r queryResolver) AuthoredRedirects(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredRedirectConnection, error) {
	return authoredPage(ctx, "Query.authoredRedirects", func() (*store.Slice[*catalog.AuthoredRedirect], error) {
		return r.store.AuthoredRedirects.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) Synonym(ctx context.Context, id string) (*catalog.Synonym, error) {
	return authoredByID(ctx, "Query.synonym", id, r.store.Synonyms.ByID)
}

func (r queryResolver) Synonyms(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.SynonymConnection, error) {
	return authoredPage(ctx, "Query.synonyms", func() (*store.Slice[*catalog.Synonym], error) {
		return r.store.Synonyms.List(ctx, pageOf(first, after, last, before, offset))
	})
}
