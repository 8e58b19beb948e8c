package catalog

import "portico/store"

// Synonym is a synonym of searches as authored. Shoppers' searches use it once it is published.
type Synonym struct {
	ID           string
	Kind         SynonymKind
	Locale, Term *string // nil for none
	Terms        []string
	sourceSize
}

// GlobalID returns the synonym's global id.
func (s *Synonym) GlobalID() string { return store.GlobalID(store.TypeSynonym, s.ID) }

func synonymOf(s *SynonymSource, size sourceSize) *Synonym {
	own := &s.Attributes
	return &Synonym{s.ID, own.Kind, store.NonEmpty(own.Locale), store.NonEmpty(own.Term), own.Terms, size}
}
