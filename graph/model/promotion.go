package model

import (
	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// Promotion is a promotion as a row of a response.
type Promotion struct {
	*rule.Promotion
	BatchRow[*Promotion]
}

// Init implements Row.
func (p *Promotion) Init(source *rule.Promotion, position BatchRow[*Promotion]) {
	p.Promotion, p.BatchRow = source, position
}

// PromotionDetails is one of the types below, by the type of the promotion.
type PromotionDetails any

// PromotionTerms are the details of a promotion, with formatted amounts.
type PromotionTerms struct {
	rule.Details
	Money []*store.Money // of each of its Amounts
}

type (
	PromotionFixedDiscount       struct{ PromotionTerms }
	PromotionPercentDiscount     struct{ PromotionTerms }
	PromotionItemFixedDiscount   struct{ PromotionTerms }
	PromotionItemPercentDiscount struct{ PromotionTerms }
	PromotionXForY               struct{ PromotionTerms }
	PromotionXForAmount          struct{ PromotionTerms }
	PromotionBundleFixedDiscount struct{ PromotionTerms }
	PromotionBundleGift          struct{ PromotionTerms }
)

// NewPromotionDetails returns details as the type that the schema has for them.
func NewPromotionDetails(terms PromotionTerms) PromotionDetails {
	switch terms.Type {
	case rule.FixedDiscount:
		return &PromotionFixedDiscount{terms}
	case rule.PercentDiscount:
		return &PromotionPercentDiscount{terms}
	case rule.ItemFixedDiscount:
		return &PromotionItemFixedDiscount{terms}
	case rule.ItemPercentDiscount:
		return &PromotionItemPercentDiscount{terms}
	case rule.XForY:
		return &PromotionXForY{terms}
	case rule.XForAmount:
		return &PromotionXForAmount{terms}
	case rule.BundleFixedDiscount:
		return &PromotionBundleFixedDiscount{terms}
	case rule.BundleGift:
		return &PromotionBundleGift{terms}
	}
	return nil // no promotion is stored with another type
}

// PromotionFilter is the schema's filter of promotions.
type PromotionFilter struct {
	IDs           []string              `json:"ids,omitzero"`
	Name          *TextFilter           `json:"name,omitzero"`
	NameLike      *string               `json:"nameLike,omitzero"`
	PromotionType []rule.PromotionType  `json:"promotionType,omitzero"`
	State         []rule.PromotionState `json:"state,omitzero"`
	Enabled       *bool                 `json:"enabled,omitzero"`
	Automatic     *bool                 `json:"automatic,omitzero"`
	Search        *string               `json:"search,omitzero"`
	Bounds        *ListBounds           `json:"bounds,omitzero"`
}

// PromotionCodeFilter is the schema's filter of codes.
type PromotionCodeFilter struct {
	Code       *TextFilter     `json:"code,omitzero"`
	StartsWith *string         `json:"startsWith,omitzero"`
	State      []code.State    `json:"state,omitzero"`
	CreatedAt  *DateTimeBounds `json:"createdAt,omitzero"`
}

// PromotionCreateInput is the input of promotionCreate.
type PromotionCreateInput struct {
	ID *string `json:"id,omitempty"`
	promotion.Change
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}

// PromotionUpdateInput is the input of promotionUpdate.
type PromotionUpdateInput struct {
	ID     string `json:"id"`
	DryRun bool   `json:"dryRun"`
	promotion.Change
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *PromotionFilter) Filter() (filter promotion.Filter, ranges []store.Range) {
	if f == nil {
		return filter, nil
	}
	filter = promotion.Filter{Types: f.PromotionType, States: f.State, Enabled: f.Enabled, Automatic: f.Automatic, NameLike: f.NameLike}
	if f.Search != nil {
		filter.Search = *f.Search
	}
	filter.IDs = store.LocalIDs(f.IDs)
	filter.Names = f.Name.Values()
	return filter, f.Bounds.Ranges()
}

// Filter converts the filter for the store. Nil matches everything.
func (f *PromotionCodeFilter) Filter() (filter code.Filter) {
	if f == nil {
		return filter
	}
	if f.StartsWith != nil {
		filter.Prefix = *f.StartsWith
	}
	filter.States, filter.CreatedAt = f.State, f.CreatedAt.ranges(store.SortCreatedAt)
	filter.Codes = f.Code.Values()
	return filter
}
