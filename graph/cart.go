package graph

import (
	"cmp"
	"context"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/cart"
	"portico/store/promotion/redeem"
)

func (r queryResolver) CartPreview(ctx context.Context, lines []*cart.LineInput, codes []string) (*model.CartPreview, error) {
	v, err := r.catalog(ctx, "Query.cartPreview")
	if err != nil {
		return nil, err
	}
	codes = store.Unique(codes)
	for range min(len(codes), cart.MaxCodes) { // each code is a guess
		if err := r.codeLimit(ctx, auth.PrincipalFrom(ctx).QuotaClientID()); err != nil {
			return nil, err
		}
	}
	shopper := opctx.Shopper(ctx)
	preview, err := r.store.Carts.Preview(ctx, v, cart.Input{Lines: localLines(lines), Codes: codes, User: cmp.Or(shopper.CustomerID, shopper.AccountID), Stock: mayReadStock(ctx)})
	if err != nil {
		return nil, err
	}
	if err := opctx.SpendRows(ctx, "lines", len(preview.Lines)); err != nil {
		return nil, err
	}
	return model.NewCartPreview(preview), nil
}

// mayReadStock reports whether carts check the stock: else their problems would tell it to a token without the scope.
func mayReadStock(ctx context.Context) bool {
	return auth.Require(ctx, "Product.availableForSale") == nil
}

// localLines converts the global ids of lines to stored ones.
func localLines(lines []*cart.LineInput) []cart.LineInput {
	local := make([]cart.LineInput, len(lines))
	for i, line := range lines {
		local[i] = cart.LineInput{ProductID: store.LocalID(line.ProductID), Quantity: line.Quantity}
		if line.Choices != nil {
			local[i].Choices = localChoices(line.Choices)
		}
	}
	return local
}

func (r queryResolver) ActivePromotions(ctx context.Context, first int) ([]*cart.PublicPromotion, error) {
	v, err := r.catalog(ctx, "Query.activePromotions")
	if err != nil {
		return nil, err
	}
	if err := store.CheckLimit("first", first); err != nil {
		return nil, err
	}
	return r.store.Carts.ActivePromotions(ctx, v, first)
}

// Promotions returns the promotions that target a product, loaded for all rows of its batch.
func (r productResolver) Promotions(ctx context.Context, obj *model.Product) ([]*cart.PublicPromotion, error) {
	return model.Load(ctx, obj.BatchRow, "promotions", r.Resolver, (*Resolver).promotionsOf)
}

// promotionsOf returns the promotions that target each product.
func (r *Resolver) promotionsOf(ctx context.Context, all []*model.Product) ([][]*cart.PublicPromotion, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	products, err := v.Named(ctx, storedProducts(all))
	if err != nil {
		return nil, err
	}
	return r.store.Carts.ProductPromotions(ctx, v, products)
}

// checkCodeInCart checks a code for the lines of a cart.
func (r *Resolver) checkCodeInCart(ctx context.Context, use redeem.CodeUse, lines []*cart.LineInput) (*redeem.CodeCheck, error) {
	if use.CartValue != nil {
		return nil, store.Invalidf([]string{"cart_value"}, "cannot be combined with lines; use one of them")
	}
	v, err := r.catalog(ctx, "Query.promotionCodeCheck(lines:)")
	if err != nil {
		return nil, err
	}
	return r.store.Carts.CheckCode(ctx, v, use, cart.Input{Lines: localLines(lines), Stock: mayReadStock(ctx)})
}
