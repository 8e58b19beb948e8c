package model

import "portico/store/release"

// SearchSuggestions are suggestions while a shopper types a search.
type SearchSuggestions struct {
	Completions  []string
	Products     []*Product
	CatalogNodes []*CatalogNode
	DidYouMean   *string // the corrected search; nil if it was not corrected
}

// NewSearchSuggestions returns the suggestions of the store.
func NewSearchSuggestions(s *release.Suggestions) *SearchSuggestions {
	suggestions := &SearchSuggestions{append([]string{}, s.Completions...), NewBatch[Product](s.Products), NewBatch[CatalogNode](s.Nodes), nil}
	if s.CorrectedTo != "" {
		suggestions.DidYouMean = &s.CorrectedTo
	}
	return suggestions
}
