package model

import (
	"portico/store/catalog"
	"portico/store/release"
)

// Seo is what search engines show of a product or node.
type Seo struct {
	Title, Description string
	CanonicalPath      *string
}

// NewSeo returns texts with a path; empty for none.
func NewSeo(texts catalog.SEOText, path string) *Seo {
	seo := &Seo{Title: texts.Title, Description: texts.Description}
	if path != "" {
		seo.CanonicalPath = &path
	}
	return seo
}

// RelatedProducts are the products related to a product.
type RelatedProducts struct{ Nodes []*Product }

// NewRelatedProducts returns the lists of several products, whose rows are one batch.
func NewRelatedProducts(lists [][]*release.Product) []*RelatedProducts {
	related := make([]*RelatedProducts, len(lists))
	for i, rows := range NewBatchOfLists[Product](lists) {
		related[i] = &RelatedProducts{rows}
	}
	return related
}
