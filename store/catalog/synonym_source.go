package catalog

import (
	"strconv"

	"portico/store/authoring"
	"portico/store/index"
)

// SynonymSource is a synonym in an import file: a search for one term also finds others.
type SynonymSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Kind   SynonymKind `json:"kind"`
		Locale string      `json:"locale,omitempty"` // of the texts, a BCP 47 tag; empty for all
		Term   string      `json:"term,omitempty"`   // what shoppers type, of a one-way synonym
		Terms  []string    `json:"terms"`
	} `json:"attributes"`
}

// SynonymKind tells which terms of a synonym find which.
type SynonymKind string

// The kinds.
const (
	SynonymEquivalent SynonymKind = "equivalent" // each term finds all
	SynonymOneWay     SynonymKind = "one_way"    // the term also finds the terms
)

// The limits of synonyms.
const (
	MaxSynonyms     = 5000 // of a shop
	maxSynonymTerms = 20   // of a synonym
	maxSynonymTerm  = 100  // bytes
)

func (s *SynonymSource) Key() string { return s.ID }

// Check implements authoring.Source. Terms of a synonym must differ as searches read them.
func (s *SynonymSource) Check(f *authoring.Validator) {
	f.ID("id", &s.ID)
	own := &s.Attributes
	f.OneOf("attributes.kind", string(own.Kind), string(SynonymEquivalent), string(SynonymOneWay))
	if own.Locale != "" {
		own.Locale = CanonicalTag(own.Locale)
		f.Locale("attributes.locale", own.Locale)
	}
	seen, least := map[string]bool{}, 1
	check := func(member, term string) {
		text, words := index.TermWords(term)
		switch {
		case len(term) > maxSynonymTerm:
			f.Rule(member, "must be at most %d bytes, got %d", maxSynonymTerm, len(term))
		case words < 1 || words > index.MaxTermWords:
			f.Rule(member, "must have 1 to %d words, got %d", index.MaxTermWords, words)
		case seen[text]:
			f.Add(member, "is in the synonym twice")
		default:
			f.Text(member, term, maxSynonymTerm)
		}
		seen[text] = true
	}
	switch {
	case own.Kind == SynonymOneWay && own.Term == "":
		f.Add("attributes.term", "is required for a one-way synonym")
	case own.Kind == SynonymOneWay:
		check("attributes.term", own.Term)
	case own.Term != "":
		f.Add("attributes.term", "must be empty unless the synonym is one-way")
	}
	if own.Kind == SynonymEquivalent {
		least = 2
	}
	if n := len(own.Terms); n < least || n > maxSynonymTerms {
		f.Rule("attributes.terms", "must have %d to %d terms, got %d", least, maxSynonymTerms, n)
		return
	}
	for i, term := range own.Terms {
		check("attributes.terms."+strconv.Itoa(i), term)
	}
}

// Synonym returns the synonym as searches use it.
func (s *SynonymSource) Synonym() index.Synonym {
	own := s.Attributes
	if own.Kind == SynonymOneWay {
		return index.Synonym{Locale: own.Locale, From: []string{own.Term}, To: own.Terms}
	}
	return index.Synonym{Locale: own.Locale, From: own.Terms, To: own.Terms}
}
