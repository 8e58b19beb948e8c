package cart

import (
	"context"
	"sync"
	"time"

	"portico/store"
	"portico/store/promotion/rule"
	"portico/store/release"
)

// PublicPromotion is what shoppers may know of a promotion, in the currency of their view. It names no
// codes.
type PublicPromotion struct {
	ID                     string
	Name                   string
	Description            *string // nil for none
	Type                   rule.PromotionType
	End                    time.Time
	Amount                 *store.Money       // off the cart, a unit or a bundle, or of a group; nil for none
	Percent                *string            // digits; nil for none
	X, Y                   *int               // of groups; nil for other types
	SKUs                   []string           // of the items; nil for all, for the whole cart and for bundles
	Gifts                  []string           // SKUs
	Requirements           []rule.Requirement // parts of a bundle
	MinCartValue           *store.Money       // nil for none
	MaxDiscountValue       *store.Money       // nil for none
	MaxApplicationsPerCart *int               // nil for no limit
}

// NewPublicPromotion returns what a view's shopper may know of a promotion.
func NewPublicPromotion(v *release.View, p *rule.Promotion) *PublicPromotion {
	terms := p.Terms()
	public := &PublicPromotion{ID: p.ID, SKUs: terms.Targets, Name: p.Name, Description: store.NonEmptyAt(&p.Description), Type: p.Type, End: p.End, Gifts: terms.Gifts, Requirements: terms.Requirements,
		MaxApplicationsPerCart: p.MaxApplicationsPerCart}
	money := func(minor int64, ok bool) *store.Money {
		if !ok {
			return nil
		}
		return v.Money(minor)
	}
	public.Amount = money(p.AmountIn(v.Currency))
	public.MinCartValue = money(rule.AmountIn(p.MinCartValue, v.Currency))
	public.MaxDiscountValue = money(rule.AmountIn(p.MaxDiscountValue, v.Currency))
	if percent := p.PercentageIn(v.Currency); percent != nil {
		public.Percent = new(percent.String())
	}
	switch p.Type {
	case rule.XForY:
		public.X, public.Y = &terms.X, &terms.Y
	case rule.XForAmount:
		public.X = &terms.X
	}
	return public
}

// ActivePromotions returns the active automatic promotions of a view's catalog, at most first, those that end first, in one statement.
// Those that give nothing in the view's currency are left out.
func (s *Service) ActivePromotions(ctx context.Context, v *release.View, first int) ([]*PublicPromotion, error) {
	active, err := rule.FindAutomatic(ctx, s.db.Reader, v.Now(), v.Release.CatalogID)
	if err != nil {
		return nil, err
	}
	list := []*PublicPromotion{}
	for _, p := range active {
		if len(list) < first && holdsIn(p, v.Currency) {
			list = append(list, NewPublicPromotion(v, p))
		}
	}
	return list, nil
}

// holdsIn reports whether carts in a currency can have a promotion.
func holdsIn(p *rule.Promotion, currency string) bool {
	_, ok := p.MinimumIn(currency)
	return ok && p.GivesIn(currency)
}

// stepsOfTarget are the steps of comparing a product with the targets and conditions of a promotion.
const stepsOfTarget = 16

// ProductPromotions returns the active automatic promotions that target each product of a view, those
// that end first, in one statement. Promotions of the whole cart target no product. A nil product has none.
func (s *Service) ProductPromotions(ctx context.Context, v *release.View, products []*release.Product) ([][]*PublicPromotion, error) {
	active, err := rule.FindAutomatic(ctx, s.db.Reader, v.Now(), v.Release.CatalogID)
	if err != nil {
		return nil, err
	}
	type target struct {
		*rule.Promotion
		public    *PublicPromotion
		all       bool
		skus      map[string]bool
		exclusion rule.Exclusion
	}
	wanted := map[string]bool{}
	for _, product := range products {
		if product != nil {
			wanted[product.SKU()] = true
		}
	}
	var targets []target
	for _, p := range active {
		if !holdsIn(p, v.Currency) || !p.HasItems() {
			continue
		}
		t := target{p, NewPublicPromotion(v, p), p.TargetsAll(), map[string]bool{}, p.Exclusion()}
		for _, list := range p.SKULists() {
			for _, sku := range list.SKUs {
				if wanted[sku] {
					t.skus[sku] = true
				}
			}
		}
		targets = append(targets, t)
	}
	lists := make([][]*PublicPromotion, len(products))
	for i, product := range products {
		lists[i] = []*PublicPromotion{}
		if product == nil || len(targets) == 0 {
			continue
		}
		sku, fields := product.SKU(), sync.OnceValue(func() rule.ItemFields { return rule.DecodeItemFields(product.Extensions()) })
		for _, t := range targets {
			if (t.all || t.skus[sku]) && (len(t.exclusion) == 0 || !t.exclusion.Excludes(fields())) {
				lists[i] = append(lists[i], t.public)
			}
		}
		if err := store.ChargeSteps(ctx, stepsOfTarget*len(targets)); err != nil {
			return nil, err
		}
	}
	return lists, nil
}
