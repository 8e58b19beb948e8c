package model

import (
	"portico/store"
	"portico/store/release"
)

// ProductIdentifierInput names a product: exactly one member.
type ProductIdentifierInput struct {
	ID   *string `json:"id,omitzero"`
	Sku  *string `json:"sku,omitzero"`
	Slug *string `json:"slug,omitzero"`
	Path *string `json:"path,omitzero"`
}

// Key returns what finds the product. old are the deprecated arguments beside the input. INVALID unless exactly one member of
// both is set.
func (by *ProductIdentifierInput) Key(old ProductIdentifierInput) (release.ProductKey, error) {
	given, err := oneIdentifier(by, old, "product", "id, sku, slug and path", func(p *ProductIdentifierInput) []*string {
		return []*string{p.ID, p.Sku, p.Slug, p.Path}
	})
	if err != nil {
		return release.ProductKey{}, err
	}
	return release.ProductKey{ID: store.LocalID(orEmpty(given.ID)), SKU: orEmpty(given.Sku), Slug: orEmpty(given.Slug), Path: orEmpty(given.Path)}, nil
}

// CatalogNodeIdentifierInput names a node of the catalog: exactly one member.
type CatalogNodeIdentifierInput struct {
	ID   *string `json:"id,omitzero"`
	Slug *string `json:"slug,omitzero"`
	Path *string `json:"path,omitzero"`
}

// Checked returns the input with exactly one member, or the deprecated arguments beside it; else INVALID.
func (by *CatalogNodeIdentifierInput) Checked(old CatalogNodeIdentifierInput) (*CatalogNodeIdentifierInput, error) {
	return oneIdentifier(by, old, "catalogNode", "id, slug and path", func(n *CatalogNodeIdentifierInput) []*string {
		return []*string{n.ID, n.Slug, n.Path}
	})
}

// oneIdentifier returns by, or old if by is nil, with exactly one member.
func oneIdentifier[T any](by *T, old T, field, names string, members func(*T) []*string) (*T, error) {
	switch before := setMembers(members(&old)); {
	case by != nil && before > 0:
		return nil, &store.Error{Code: store.Invalid, Path: []string{"by"}, Detail: "is given beside a deprecated argument; give one of them"}
	case by == nil && before != 1:
		return nil, &store.Error{Code: store.Invalid, Detail: field + " needs by, with exactly one of " + names + "."}
	case by == nil:
		by = &old
	}
	return by, nil
}

func setMembers(members []*string) (set int) {
	for _, member := range members {
		if member != nil {
			set++
		}
	}
	return set
}
