package catalog

import (
	"context"
	"maps"
	"slices"
	"time"

	"portico/store"
	"portico/store/authoring"
)

// ProductContent is all that is stored of a product, in the form of the GraphQL schema.
type ProductContent struct {
	ProductAttributes
	relationships ProductRelationships
}

// ContentsOf returns the contents of authored products, in order. It accounts for decoding them.
func ContentsOf(ctx context.Context, products []*AuthoredProduct) ([]*ProductContent, error) {
	size := 0
	for _, p := range products {
		size += len(p.line)
	}
	if err := store.Charge(ctx, decodedSize*size); err != nil {
		return nil, err
	}
	contents := make([]*ProductContent, len(products))
	for i, p := range products {
		source := &ProductSource{}
		if err := store.Decode(p.line, source); err != nil {
			return nil, err
		}
		contents[i] = &ProductContent{source.Attributes, source.Relationships}
	}
	return contents, nil
}

// AuthoredProductFile is a file of a product, as authored.
type AuthoredProductFile struct {
	ID         string
	Alt        string     // empty if not set
	AttachedAt *time.Time // nil if unknown
}

// AuthoredProductComponent is a part of a bundle, as authored.
type AuthoredProductComponent struct {
	Key string
	Component
}

// AuthoredRelatedProducts is the related products of a kind, as authored.
type AuthoredRelatedProducts struct {
	Kind       string
	ProductIDs []string
}

// SEO returns the texts for search engines.
func (c *ProductContent) SEO() SEOText { return c.ProductAttributes.SEO.orEmpty() }

// Translations returns the texts in other languages, by language.
func (c *ProductContent) Translations() []*AuthoredTranslation {
	return authoredTranslations(c.Locales)
}

// ParentID returns the parent of a variant; nil for other products.
func (c *ProductContent) ParentID() *string { return linkedID(c.relationships.Parent) }

// MainImageID returns the main image; nil for none.
func (c *ProductContent) MainImageID() *string { return linkedID(c.relationships.MainImage) }

// linkedID returns the id of a link; nil for none.
func linkedID(link *authoring.LinkSource) *string { return store.NonEmpty(link.ID()) }

// Variations returns the properties in which the children differ, in the order in which they were written.
func (c *ProductContent) Variations() []Variation {
	list := make([]Variation, len(c.ProductAttributes.Variations))
	for i, v := range c.ProductAttributes.Variations {
		list[i] = Variation{ID: v.ID, Name: v.Name, SortOrder: v.SortOrder, Options: v.Options}
	}
	return list
}

// Files returns the files, in order.
func (c *ProductContent) Files() (files []AuthoredProductFile) {
	for _, file := range c.relationships.FileLinks() {
		files = append(files, AuthoredProductFile{file.ID, file.Alt, timeOrNil(file.CreatedAt)})
	}
	return files
}

// ComponentProductIDs returns the products of a bundle, in order.
func (c *ProductContent) ComponentProductIDs() []string {
	if c.relationships.ComponentProducts == nil {
		return nil
	}
	return RefIDs(*c.relationships.ComponentProducts)
}

// Components returns the parts of a bundle, by sort order, then key.
func (c *ProductContent) Components() (components []AuthoredProductComponent) {
	for _, key := range c.ComponentKeys() {
		components = append(components, AuthoredProductComponent{key, c.ProductAttributes.Components[key]})
	}
	return components
}

// Related returns the related products, by kind.
func (c *ProductContent) Related() (related []AuthoredRelatedProducts) {
	for _, kind := range slices.Sorted(maps.Keys(c.relationships.Related)) {
		related = append(related, AuthoredRelatedProducts{kind, c.relationships.Related[kind]})
	}
	return related
}

// Attributes returns the values of declared attributes, by key.
func (c *ProductContent) Attributes() []AuthoredAttributeValue { return c.CustomAttributes.Authored() }
