package model

import (
	"encoding/json"

	"portico/store"
	"portico/store/promotion"
)

// PromotionFilter is the schema's filter of promotions.
type PromotionFilter struct {
	ID            *IDFilter                  `json:"id,omitzero"`
	Name          *TextFilter                `json:"name,omitzero"`
	NameLike      *string                    `json:"nameLike,omitzero"`
	PromotionType []promotion.PromotionType  `json:"promotionType,omitzero"`
	State         []promotion.PromotionState `json:"state,omitzero"`
	Enabled       *bool                      `json:"enabled,omitzero"`
	Automatic     *bool                      `json:"automatic,omitzero"`
	Search        *string                    `json:"search,omitzero"`
	Bounds        *ListBounds                `json:"bounds,omitzero"`
}

// PromotionCodeFilter is the schema's filter of codes.
type PromotionCodeFilter struct {
	Code *TextFilter `json:"code,omitzero"`
}

// PromotionCreateInput is the schema's new promotion. The description is nil
// where REST left it out, which the store then asks for; GraphQL has a default.
type PromotionCreateInput struct {
	ID                     *string                 `json:"id,omitempty"`
	Name                   string                  `json:"name"`
	Description            *string                 `json:"description,omitempty"`
	PromotionType          promotion.PromotionType `json:"promotionType"`
	Enabled                bool                    `json:"enabled"`
	Automatic              bool                    `json:"automatic"`
	Start                  string                  `json:"start"`
	End                    string                  `json:"end"`
	MinCartValue           []*MoneyInput           `json:"minCartValue,omitempty"`
	MaxDiscountValue       []*MoneyInput           `json:"maxDiscountValue,omitempty"`
	MaxApplicationsPerCart *int                    `json:"maxApplicationsPerCart,omitempty"`
	Schema                 json.RawMessage         `json:"schema"`
	Currencies             json.RawMessage         `json:"currencies,omitempty"`
	TargetCatalogs         []string                `json:"targetCatalogs,omitempty"`
	Conditions             json.RawMessage         `json:"conditions,omitempty"`
	IdempotencyKey         *string                 `json:"idempotencyKey,omitempty"`
}

// MoneyInput is the schema's amount of a currency.
type MoneyInput struct {
	Amount   string `json:"amount"` // minor units, in digits
	Currency string `json:"currency"`
}

// Value is the amount in the store's words; INVALID or UNPROCESSABLE, at amount,
// when it is none.
func (m *MoneyInput) Value() (store.CurrencyAmount, *store.Error) {
	minor, err := promotion.ParseMinor(m.Amount)
	if err != nil {
		return store.CurrencyAmount{Currency: m.Currency}, err.At("amount")
	}
	return store.CurrencyAmount{Currency: m.Currency, Minor: minor}, nil
}

// PromotionCodeInput is the schema's code to make.
type PromotionCodeInput struct {
	Code        *string                `json:"code,omitempty"`
	Uses        *int                   `json:"uses,omitempty"`
	ConsumeUnit *promotion.ConsumeUnit `json:"consumeUnit,omitempty"`
	User        []string               `json:"user,omitzero"`

	// OneUser is set by REST where the user was a text; GraphQL has lists only.
	OneUser bool `json:"-"`
}

// NewCode is the code in the store's words.
func (c *PromotionCodeInput) NewCode() promotion.NewCode {
	made := promotion.NewCode{MaxUses: c.Uses, User: promotion.CodeUsers(c.User)}
	if c.OneUser {
		made.User = promotion.OneCodeUser(c.User[0])
	}
	if c.Code != nil {
		made.Code = *c.Code
	}
	if c.ConsumeUnit != nil {
		made.ConsumeUnit = *c.ConsumeUnit
	}
	return made
}

// Filter is the filter in the store's words, with its bounds; nil keeps
// everything. INVALID for a condition that is none.
func (f *PromotionFilter) Filter() (filter promotion.PromotionFilter, ranges []store.Range, err error) {
	if f == nil {
		return filter, nil, nil
	}
	filter = promotion.PromotionFilter{Types: f.PromotionType, States: f.State, Enabled: f.Enabled, Automatic: f.Automatic, NameLike: f.NameLike}
	if f.Search != nil {
		filter.Search = *f.Search
	}
	if f.ID != nil && f.ID.In != nil { // null is as absent
		if len(f.ID.In) == 0 {
			return filter, nil, noValues("id")
		}
		for _, id := range f.ID.In {
			filter.IDs = append(filter.IDs, store.LocalID(id))
		}
	}
	filter.Names, err = f.Name.oneOf("name")
	return filter, f.Bounds.Ranges(), err
}

// Codes are the codes that the filter keeps to; nil for all.
func (f *PromotionCodeFilter) Codes() ([]string, error) {
	if f == nil {
		return nil, nil
	}
	return f.Code.oneOf("code")
}

// oneOf are the values of a condition; nil for no condition.
func (f *TextFilter) oneOf(member string) ([]string, error) {
	switch {
	case f == nil:
		return nil, nil
	case (f.Eq == nil) == (f.In == nil):
		return nil, &store.Error{Code: store.Invalid, Path: []string{"filter", member}, Detail: "must have exactly one of eq and in"}
	case f.Eq == nil && len(f.In) == 0:
		return nil, noValues(member)
	}
	return f.values(), nil
}

func noValues(member string) error {
	return &store.Error{Code: store.Invalid, Path: []string{"filter", member}, Detail: "must name at least one value"}
}
