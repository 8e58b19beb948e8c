package model

import (
	"fmt"

	"portico/store"
	"portico/store/catalog"
)

// AuthoredProductFilter selects authored products. All members that are set must match.
type AuthoredProductFilter struct {
	Ids       []string               `json:"ids,omitzero"`
	Sku       *TextFilter            `json:"sku,omitzero"`
	ParentID  *string                `json:"parentId,omitzero"`
	Status    *catalog.ProductStatus `json:"status,omitzero"`
	Search    *string                `json:"search,omitzero"`
	UpdatedAt *DateTimeBounds        `json:"updatedAt,omitzero"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *AuthoredProductFilter) Filter() (filter catalog.ProductFilter, err error) {
	if f == nil {
		return filter, nil
	}
	if err := checkNumber("ids", len(f.Ids)); err != nil {
		return filter, err
	}
	filter = catalog.ProductFilter{IDs: store.LocalIDs(f.Ids), Status: f.Status, UpdatedAt: f.UpdatedAt.ranges(store.SortUpdatedAt)}
	if f.ParentID != nil {
		filter.ParentID = new(store.LocalID(*f.ParentID))
	}
	if f.Search != nil {
		filter.Search = *f.Search
	}
	filter.SKUs, err = f.Sku.bounded("sku")
	return filter, err
}

// AuthoredCatalogNodeFilter selects authored nodes. All members that are set must match.
type AuthoredCatalogNodeFilter struct {
	HierarchyID *string         `json:"hierarchyId,omitzero"`
	ParentID    *string         `json:"parentId,omitzero"`
	Slug        *TextFilter     `json:"slug,omitzero"`
	Search      *string         `json:"search,omitzero"`
	UpdatedAt   *DateTimeBounds `json:"updatedAt,omitzero"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *AuthoredCatalogNodeFilter) Filter() (filter catalog.NodeFilter, err error) {
	if f == nil {
		return filter, nil
	}
	filter.UpdatedAt = f.UpdatedAt.ranges(store.SortUpdatedAt)
	if f.HierarchyID != nil {
		filter.HierarchyID = new(store.LocalID(*f.HierarchyID))
	}
	if f.ParentID != nil {
		filter.ParentID = new(store.LocalID(*f.ParentID))
	}
	if f.Search != nil {
		filter.Search = *f.Search
	}
	filter.Slugs, err = f.Slug.bounded("slug")
	return filter, err
}

// AuthoredRedirectFilter selects authored redirects. All members that are set must match.
type AuthoredRedirectFilter struct {
	From *TextFilter `json:"from,omitzero"`
	To   *TextFilter `json:"to,omitzero"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *AuthoredRedirectFilter) Filter() (filter catalog.RedirectFilter, err error) {
	if f == nil {
		return filter, nil
	}
	if filter.From, err = f.From.bounded("from"); err == nil {
		filter.To, err = f.To.bounded("to")
	}
	return filter, err
}

// bounded is Values, INVALID for more than store.MaxFilterValues.
func (f *TextFilter) bounded(member string) (values []string, err error) {
	values = f.Values()
	return values, checkNumber(member, len(values))
}

// checkNumber returns INVALID for more than store.MaxFilterValues values of a member.
func checkNumber(member string, n int) error {
	if n > store.MaxFilterValues {
		return &store.Error{Code: store.Invalid, Path: []string{"filter", member}, Detail: fmt.Sprintf("must have at most %d values, got %d", store.MaxFilterValues, n)}
	}
	return nil
}
