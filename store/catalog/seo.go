package catalog

import (
	"maps"
	"slices"
	"strconv"

	"portico/store/authoring"
)

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

// The bounds of related products.
const (
	MaxRelatedKinds = 10
	MaxRelated      = 50 // of a kind
)

// checkRelated checks the related products of one by kind. They need not exist: those that are not live are left out when
// they are read.
func checkRelated(f *authoring.Validator, member, own string, related map[string][]string) {
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
		checkDistinct(f.Warn, member+"."+kind, "", own, ids)
	}
}
