package catalog

import "portico/store/authoring"

// SEOText is what search engines show of a product or node, as the merchant set it. Empty texts have a fall-back.
type SEOText struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// checkSEO checks texts for search engines, and removes them if all are empty.
func checkSEO(f *authoring.Validator, member string, s **SEOText) {
	if *s == nil {
		return
	}
	f.Text(member+".title", (*s).Title, authoring.MaxName)
	f.Text(member+".description", (*s).Description, authoring.MaxDescription)
	if **s == (SEOText{}) {
		*s = nil
	}
}

// orEmpty returns the texts, empty ones for nil.
func (s *SEOText) orEmpty() SEOText {
	if s == nil {
		return SEOText{}
	}
	return *s
}
