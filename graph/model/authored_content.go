package model

import (
	"context"
	"encoding/json"

	"portico/store/catalog"
)

// contentMember returns a member of the content of a product. The contents of all rows are decoded when the first one is
// needed.
func contentMember[V any](ctx context.Context, p *AuthoredProduct, member func(*catalog.ProductContent) V) (value V, err error) {
	content, err := Load(ctx, p.BatchRow, "content", struct{}{}, productContents)
	if err != nil {
		return value, err
	}
	return member(content), nil
}

// productContents decodes the contents of products, for contentMember.
func productContents(_ struct{}, ctx context.Context, all []*AuthoredProduct) ([]*catalog.ProductContent, error) {
	products := make([]*catalog.AuthoredProduct, len(all))
	for i, p := range all {
		products[i] = p.AuthoredProduct
	}
	return catalog.ContentsOf(ctx, products)
}

// Description returns the description.
func (p *AuthoredProduct) Description(ctx context.Context) (string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) string { return c.Description })
}

// CommodityType returns the kind of goods.
func (p *AuthoredProduct) CommodityType(ctx context.Context) (string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) string { return c.CommodityType })
}

// ManufacturerPartNum returns the manufacturer's part number.
func (p *AuthoredProduct) ManufacturerPartNum(ctx context.Context) (string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) string { return c.ManufacturerPartNum })
}

// UPCEAN returns the UPC or EAN code.
func (p *AuthoredProduct) UPCEAN(ctx context.Context) (string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) string { return c.UPCEAN })
}

// ExternalRef returns the reference in another system.
func (p *AuthoredProduct) ExternalRef(ctx context.Context) (string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) string { return c.ExternalRef })
}

// Tags returns the tags.
func (p *AuthoredProduct) Tags(ctx context.Context) ([]string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) []string { return c.Tags })
}

// ProductTypes returns the types.
func (p *AuthoredProduct) ProductTypes(ctx context.Context) ([]string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) []string { return c.ProductTypes })
}

// BaseProduct returns whether it is a parent.
func (p *AuthoredProduct) BaseProduct(ctx context.Context) (bool, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) bool { return c.BaseProduct })
}

// OptionIDs returns the options of a variant.
func (p *AuthoredProduct) OptionIDs(ctx context.Context) ([]string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) []string { return c.Options })
}

// PriceModifiers returns the price modifiers of a variant.
func (p *AuthoredProduct) PriceModifiers(ctx context.Context) ([]string, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) []string { return c.PriceModifiers })
}

// CustomInputs returns the inputs that shoppers fill in; nil for none.
func (p *AuthoredProduct) CustomInputs(ctx context.Context) (json.RawMessage, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) json.RawMessage { return c.CustomInputs })
}

// Extensions returns the open data; nil for none.
func (p *AuthoredProduct) Extensions(ctx context.Context) (json.RawMessage, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) json.RawMessage { return c.Extensions })
}

// ShopperAttributes returns the data for shoppers; nil for none.
func (p *AuthoredProduct) ShopperAttributes(ctx context.Context) (json.RawMessage, error) {
	return contentMember(ctx, p, func(c *catalog.ProductContent) json.RawMessage { return c.ShopperAttributes })
}

// ParentID returns the parent of a variant; nil for other products.
func (p *AuthoredProduct) ParentID(ctx context.Context) (*string, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).ParentID)
}

// MainImageID returns the main image; nil for none.
func (p *AuthoredProduct) MainImageID(ctx context.Context) (*string, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).MainImageID)
}

// Variations returns the variations of a parent.
func (p *AuthoredProduct) Variations(ctx context.Context) ([]catalog.Variation, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).Variations)
}

// Files returns the files.
func (p *AuthoredProduct) Files(ctx context.Context) ([]catalog.AuthoredProductFile, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).Files)
}

// ComponentProductIDs returns the products of a bundle.
func (p *AuthoredProduct) ComponentProductIDs(ctx context.Context) ([]string, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).ComponentProductIDs)
}

// Components returns the parts of a bundle.
func (p *AuthoredProduct) Components(ctx context.Context) ([]catalog.AuthoredProductComponent, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).Components)
}

// Related returns the related products.
func (p *AuthoredProduct) Related(ctx context.Context) ([]catalog.AuthoredRelatedProducts, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).Related)
}

// SEO returns the texts for search engines.
func (p *AuthoredProduct) SEO(ctx context.Context) (catalog.SEOText, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).SEO)
}

// Translations returns the texts in other languages.
func (p *AuthoredProduct) Translations(ctx context.Context) ([]*catalog.AuthoredTranslation, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).Translations)
}

// Attributes returns the values of declared attributes.
func (p *AuthoredProduct) Attributes(ctx context.Context) ([]catalog.AuthoredAttributeValue, error) {
	return contentMember(ctx, p, (*catalog.ProductContent).Attributes)
}
