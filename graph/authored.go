package graph

import (
	"context"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
)

// authoredByID returns an authored resource by its global or own id; the zero value if there is none. Root fields of one name read
// theirs together.
func authoredByID[T any](ctx context.Context, field, id string, read func(context.Context, []string) (map[string]T, error)) (T, error) {
	if err := auth.Require(ctx, "Query."+field); err != nil {
		var none T
		return none, err
	}
	return opctx.ReadTogether(ctx, field, "id", store.LocalID(id), read)
}

// authoredRow is authoredByID for resources that are rows. Each is a batch of its own: root fields run side by side, and a batch
// is read by one goroutine.
func authoredRow[T, S any, P model.Row[T, *S]](ctx context.Context, field, id string, read func(context.Context, []string) (map[string]*S, error)) (*T, error) {
	source, err := authoredByID(ctx, field, id, read)
	if source == nil {
		return nil, err
	}
	return singleRow[T, *S, P](source, err)
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
	return authoredByID(ctx, "pricebook", id, r.store.Catalogs.Pricebooks.ByIDs)
}

func (r queryResolver) Pricebooks(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.PricebookConnection, error) {
	return authoredPage(ctx, "Query.pricebooks", func() (*store.Slice[*catalog.Pricebook], error) {
		return r.store.Catalogs.Pricebooks.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) AuthoredPrice(ctx context.Context, id string) (*model.AuthoredPrice, error) {
	return authoredRow[model.AuthoredPrice](ctx, "authoredPrice", id, r.store.Catalogs.Prices.ByIDs)
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
	return pageOfRows[model.AuthoredPrice](r.store.Catalogs.AuthoredPrices(ctx, only, pageOf(first, after, last, before, offset)))
}

func (r queryResolver) AuthoredPriceModifier(ctx context.Context, id string) (*catalog.AuthoredPriceModifier, error) {
	return authoredByID(ctx, "authoredPriceModifier", id, r.store.Catalogs.Modifiers.ByIDs)
}

func (r queryResolver) AuthoredPriceModifiers(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredPriceModifierConnection, error) {
	return authoredPage(ctx, "Query.authoredPriceModifiers", func() (*store.Slice[*catalog.AuthoredPriceModifier], error) {
		return r.store.Catalogs.Modifiers.List(ctx, pageOf(first, after, last, before, offset))
	})
}

// Prices reads the prices of all rows at once.
func (r authoredProductResolver) Prices(ctx context.Context, obj *model.AuthoredProduct) ([]*model.AuthoredPrice, error) {
	return model.Load(ctx, obj.BatchRow, "prices", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredProduct) ([][]*model.AuthoredPrice, error) {
		skus := mapRows(all, func(p *model.AuthoredProduct) string { return p.SKU })
		bySKU, err := r.store.Catalogs.PricesOfSKUs(ctx, unique(skus))
		if err != nil {
			return nil, err
		}
		return model.NewBatchOfLists[model.AuthoredPrice](model.ValuesByKey(skus, bySKU)), nil
	})
}

// Pricebook reads the price books of all rows at once.
func (r authoredPriceResolver) Pricebook(ctx context.Context, obj *model.AuthoredPrice) (*catalog.Pricebook, error) {
	return model.Load(ctx, obj.BatchRow, "pricebook", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.AuthoredPrice) ([]*catalog.Pricebook, error) {
		ids := mapRows(all, func(p *model.AuthoredPrice) string { return p.PricebookID })
		byID, err := r.store.Catalogs.Pricebooks.ByIDs(ctx, unique(ids))
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
	list, err := r.store.Releases.Monies(ctx, []store.CurrencyAmount{{Currency: currency, Minor: minor}}, opctx.Shopper(ctx).Languages)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (r queryResolver) AuthoredFile(ctx context.Context, id string) (*catalog.AuthoredFile, error) {
	return authoredByID(ctx, "authoredFile", id, r.store.Catalogs.AuthoredFiles.ByIDs)
}

func (r queryResolver) AuthoredFiles(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredFileConnection, error) {
	return authoredPage(ctx, "Query.authoredFiles", func() (*store.Slice[*catalog.AuthoredFile], error) {
		return r.store.Catalogs.AuthoredFiles.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) AuthoredAttribute(ctx context.Context, id string) (*catalog.AuthoredAttribute, error) {
	return authoredByID(ctx, "authoredAttribute", id, r.store.Catalogs.AuthoredAttributes.ByIDs)
}

func (r queryResolver) AuthoredAttributes(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredAttributeConnection, error) {
	return authoredPage(ctx, "Query.authoredAttributes", func() (*store.Slice[*catalog.AuthoredAttribute], error) {
		return r.store.Catalogs.AuthoredAttributes.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r queryResolver) AuthoredRedirect(ctx context.Context, id string) (*catalog.AuthoredRedirect, error) {
	return authoredByID(ctx, "authoredRedirect", id, r.store.Catalogs.AuthoredRedirects.ByIDs)
}

func (r queryResolver) AuthoredRedirects(ctx context.Context, filter *model.AuthoredRedirectFilter, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredRedirectConnection, error) {
	return authoredPage(ctx, "Query.authoredRedirects", func() (*store.Slice[*catalog.AuthoredRedirect], error) {
		wanted, err := filter.Filter()
		if err != nil {
			return nil, err
		}
		return r.store.Catalogs.AuthoredRedirects.List(ctx, pageOf(first, after, last, before, offset), wanted.Conditions()...)
	})
}

func (r queryResolver) Synonym(ctx context.Context, id string) (*catalog.Synonym, error) {
	return authoredByID(ctx, "synonym", id, r.store.Catalogs.Synonyms.ByIDs)
}

func (r queryResolver) Synonyms(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.SynonymConnection, error) {
	return authoredPage(ctx, "Query.synonyms", func() (*store.Slice[*catalog.Synonym], error) {
		return r.store.Catalogs.Synonyms.List(ctx, pageOf(first, after, last, before, offset))
	})
}
