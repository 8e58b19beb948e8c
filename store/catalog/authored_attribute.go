package catalog

import (
	"maps"
	"slices"

	"portico/store"
)

// AuthoredAttribute is a declared attribute as authored. Its key is its own id.
type AuthoredAttribute struct {
	Key, Label                       string
	Labels                           []AttributeLabel // in other languages, by locale
	Type                             AttributeType
	Unit                             *string // nil for none
	Filterable, Searchable, Sortable bool
	sourceSize
}

// AttributeLabel is the label of an attribute in a language.
type AttributeLabel struct{ Locale, Label string }

// GlobalID returns the global id of the authored attribute.
func (a *AuthoredAttribute) GlobalID() string {
	return store.GlobalID(store.TypeAuthoredAttribute, a.Key)
}

func authoredAttributeOf(s *AttributeSource, size sourceSize) *AuthoredAttribute {
	own := &s.Attributes
	a := &AuthoredAttribute{Key: s.ID, Label: own.Label, Type: own.AttributeType, Unit: store.NonEmpty(own.Unit),
		Filterable: own.Filterable, Searchable: own.Searchable, Sortable: own.Sortable, sourceSize: size}
	for _, tag := range slices.Sorted(maps.Keys(own.Labels)) {
		a.Labels = append(a.Labels, AttributeLabel{tag, own.Labels[tag]})
	}
	return a
}
