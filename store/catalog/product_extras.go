package catalog

import (
	"portico/store"
)

// ProductExtras are members of a product in one language that GraphQL shows and documents, which have the shape of
// REST, do not have.
type ProductExtras struct {
	SEO     SEOText             `json:"seo,omitzero"`
	Alts    map[string]string   `json:"alts,omitempty"`    // alternative texts by file
	Related map[string][]string `json:"related,omitempty"` // ids by kind
}

// Extras returns the extras in a language as JSON; nil if there are none. The empty tag means the base text.
func (p *ProductSource) Extras(tag string) []byte {
	e := ProductExtras{SEO: p.Attributes.SEO.orEmpty()}
	if tag != "" {
		e.SEO = p.Attributes.Locales[tag].seo(e.SEO)
	}
	for _, file := range p.Relationships.FileLinks() {
		if file.Alt != "" {
			if e.Alts == nil {
				e.Alts = map[string]string{}
			}
			e.Alts[file.ID] = file.Alt
		}
	}
	for kind, ids := range p.Relationships.Related {
		if len(ids) > 0 {
			if e.Related == nil {
				e.Related = map[string][]string{}
			}
			e.Related[kind] = store.Unique(ids)
		}
	}
	if e.SEO == (SEOText{}) && e.Alts == nil && e.Related == nil {
		return nil
	}
	return store.Encode(e)
}
