package model

import (
	"portico/store"
	"portico/store/catalog"
)

// Seo is what search engines show of a product or node.
type Seo struct {
	Title                      string
	Description, CanonicalPath *string // nil for none
}

// NewSeo returns texts with a path; empty for none.
func NewSeo(texts catalog.SEOText, path string) *Seo {
	return &Seo{texts.Title, store.NonEmpty(texts.Description), store.NonEmpty(path)}
}
