package model

import (
	"fmt"

	"portico/store"
	"portico/store/catalog"
)

// AuthoredProductFilter selects authored products. All members that are set must match.
type AuthoredProductFilter struct {
	Sku       *TextFilter            `json:"sku,omitzero"`
	ParentID  *string                `json:"parentId,omitzero"`
	Status    *catalog.ProductStatus `json:"status,omitzero"`
	UpdatedAt *DateTimeBounds        `json:"updatedAt,omitzero"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *AuthoredProductFilter) Filter() (filter catalog.ProductFilter, err error) {
	if f == nil {
		return filter, nil
	}
	filter = catalog.ProductFilter{Status: f.Status, UpdatedAt: f.UpdatedAt.ranges(store.SortUpdatedAt)}
	if f.ParentID != nil {
		filter.ParentID = new(store.LocalID(*f.ParentID))
	}
	filter.SKUs, err = f.Sku.atLeastOne("sku")
	if n := len(filter.SKUs); n > store.MaxFilterValues {
		err = &store.Error{Code: store.Invalid, Path: []string{"filter", "sku"}, Detail: fmt.Sprintf("must have at most %d values, got %d", store.MaxFilterValues, n)}
	}
	return filter, err
}
