package model

import (
	"portico/store/catalog"
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
