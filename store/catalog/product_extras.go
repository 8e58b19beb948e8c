package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

// SEOText is what search engines show of a product or node, as the merchant set it. Empty texts have a fall-back.
type SEOText struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

func (s *SEOText) check(f *authoring.Validator, member string) {
	if s != nil {
		f.Text(member+".title", s.Title, authoring.MaxName)
		f.Text(member+".description", s.Description, authoring.MaxDescription)
	}
}

// The bounds of related products.
const (
	MaxRelatedKinds = 10
	MaxRelated      = 50 // of a kind
)

// checkRelated checks related products by kind. They need not exist: those that are not live are left out when
// they are read.
func checkRelated(f *authoring.Validator, member string, related map[string][]string) {
	if len(related) > MaxRelatedKinds {
		f.Rule(member, "must have at most %d kinds, got %d", MaxRelatedKinds, len(related))
	}
	for _, kind := range slices.Sorted(maps.Keys(related)) {
		f.Required(member+"."+kind, kind, 64)
		ids := related[kind]
		if len(ids) > MaxRelated {
			f.Rule(member+"."+kind, "must have at most %d products, got %d", MaxRelated, len(ids))
		}
		for i := range ids {
			f.ID(member+"."+kind+"."+strconv.Itoa(i), &ids[i])
		}
	}
}

// ProductExtras are members of a product in one language that GraphQL shows and documents, which have the shape of
// REST, do not have.
type ProductExtras struct {
	SEO     SEOText             `json:"seo,omitzero"`
	Alts    map[string]string   `json:"alts,omitempty"`    // alternative texts by file
	Related map[string][]string `json:"related,omitempty"` // ids by kind
}

// Extras returns the extras in a language as JSON; nil if there are none. The empty tag means the base text.
func (p *ProductSource) Extras(tag string) []byte {
	var e ProductExtras
	if p.Attributes.SEO != nil {
		e.SEO = *p.Attributes.SEO
	}
	if text := p.Attributes.Locales[tag]; tag != "" {
		if text.Name != "" { // a fall-back in the language is better than a text in another
			e.SEO.Title = ""
		}
		if text.Description != "" {
			e.SEO.Description = ""
		}
		if text.SEO != nil {
			e.SEO.Title, e.SEO.Description = cmp.Or(text.SEO.Title, e.SEO.Title), cmp.Or(text.SEO.Description, e.SEO.Description)
		}
	}
	if files := p.Relationships.Files; files != nil {
		for _, file := range files.Data {
			if file.Alt != "" {
				if e.Alts == nil {
					e.Alts = map[string]string{}
				}
				e.Alts[file.ID] = file.Alt
			}
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
