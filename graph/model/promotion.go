package model

import "portico/store"

// PromotionFilter is the schema's filter of promotions.
type PromotionFilter struct {
	ID            *IDFilter              `json:"id,omitzero"`
	Name          *TextFilter            `json:"name,omitzero"`
	PromotionType []store.PromotionType  `json:"promotionType,omitzero"`
	State         []store.PromotionState `json:"state,omitzero"`
	Enabled       *bool                  `json:"enabled,omitzero"`
	Automatic     *bool                  `json:"automatic,omitzero"`
	Search        *string                `json:"search,omitzero"`
	Bounds        *ListBounds            `json:"bounds,omitzero"`
}

// PromotionCodeFilter is the schema's filter of codes.
type PromotionCodeFilter struct {
	Code *TextFilter `json:"code,omitzero"`
}

// Filter is the filter in the store's words, with its bounds; nil keeps
// everything. INVALID for a condition that is none.
func (f *PromotionFilter) Filter() (filter store.PromotionFilter, ranges []store.Range, err error) {
	if f == nil {
		return filter, nil, nil
	}
	filter = store.PromotionFilter{Types: f.PromotionType, States: f.State, Enabled: f.Enabled, Automatic: f.Automatic}
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
