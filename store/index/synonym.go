package index

import (
	"slices"
	"strings"
)

// Synonym makes searches for some terms find products that have others. A term is one word or several.
type Synonym struct {
	Locale string   // of the texts that it is for, a BCP 47 tag; empty for all
	From   []string // terms that shoppers type
	To     []string // terms that products have
}

// The limits of synonyms.
const (
	MaxTermWords = 5
	synonymRoom  = 48 // ways in which a word matches by synonyms; further ones are left out
)

// TermWords returns the words of a term, folded and joined by spaces, and their number.
func TermWords(term string) (text string, words int) {
	list := termWords(term)
	return keyOfWords(list, ""), len(list)
}

func termWords(term string) (list []SearchWord) {
	for w := range splitWords(term) {
		list = append(list, w.searchWord(false))
	}
	return list
}

// keyOfWords joins the texts of words, or their stems in a language unless that is empty.
func keyOfWords(words []SearchWord, language string) string {
	parts := make([]string, len(words))
	for i, word := range words {
		if parts[i] = word.text; language != "" && !word.Unspaced() {
			parts[i] = Stem(language, word.text)
		}
	}
	return strings.Join(parts, " ")
}

// Synonyms are synonyms by the terms that shoppers type, in any form of the languages. They are immutable
// and safe for concurrent use.
type Synonyms struct {
	list      []synonym
	byTerm    map[string][]uint32 // in list, by keyOfWords
	languages []string
	longest   int // words of the longest term
	size      int // bytes, about
}

// synonym is a prepared Synonym, without From.
type synonym struct {
	locale string
	to     [][]SearchWord // the words of each term
}

// NewSynonyms prepares synonyms for texts in some languages.
func NewSynonyms(list []Synonym, languages []string) *Synonyms {
	s := &Synonyms{byTerm: map[string][]uint32{}, languages: languages, size: 128}
	for i, rule := range list {
		own := synonym{locale: rule.Locale}
		for _, term := range rule.To {
			own.to = append(own.to, termWords(term))
			s.size += 256 + len(term)
		}
		s.list = append(s.list, own)
		for _, term := range rule.From {
			words := termWords(term)
			s.longest = max(s.longest, len(words))
			for _, key := range s.keys(words) {
				if numbers := s.byTerm[key]; !slices.Contains(numbers, uint32(i)) {
					s.byTerm[key] = append(numbers, uint32(i))
					s.size += 64 + len(key)
				}
			}
		}
	}
	return s
}

// Size is about the memory in bytes.
func (s *Synonyms) Size() int { return s.size }

// keys returns how words are looked up: as they are, and by their stems.
func (s *Synonyms) keys(words []SearchWord) []string {
	keys := []string{keyOfWords(words, "")}
	for _, language := range s.languages {
		if key := keyOfWords(words, language); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// of returns the terms that synonyms have for words that a shopper typed, of each synonym once, and at most synonymRoom.
// It leaves out those that are the typed words themselves.
func (s *Synonyms) of(words []SearchWord, locales []string) (terms [][]SearchWord) {
	own := s.keys(words)
	var seen []uint32
	for _, key := range own {
		for _, number := range s.byTerm[key] {
			if slices.Contains(seen, number) || !isFor(s.list[number].locale, locales) {
				continue
			}
			seen = append(seen, number)
			for _, term := range s.list[number].to {
				if len(terms) < synonymRoom && keyOfWords(term, "") != own[0] {
					terms = append(terms, term)
				}
			}
		}
	}
	return terms
}

// isFor reports whether a locale is empty, or that of some texts: de is also for de-AT.
func isFor(locale string, locales []string) bool {
	return locale == "" || slices.ContainsFunc(locales, func(other string) bool {
		return len(other) >= len(locale) && strings.EqualFold(other[:len(locale)], locale) && (len(other) == len(locale) || other[len(locale)] == '-')
	})
}

// findSynonyms finds the synonyms in the search: for each word to match, those of all terms that it is part of.
func (e *Expander) findSynonyms(known *Synonyms, locales []string) {
	e.synonyms = make([][]Expansion, len(e.words))
	if known == nil || len(known.byTerm) == 0 {
		return
	}
	at := make([]int, len(e.all)) // in e.words, or -1
	for i, word := range e.all {
		at[i] = slices.IndexFunc(e.words, func(other SearchWord) bool { return other.text == word.text })
	}
	for first := range e.all {
		for n := 1; n <= known.longest && first+n <= len(e.all); n++ {
			for _, term := range known.of(e.all[first:first+n], locales) {
				ways := e.ofTerm(term, locales)
				for _, i := range at[first : first+n] {
					if i >= 0 && len(e.synonyms[i])+len(ways) <= synonymRoom {
						e.synonyms[i] = append(e.synonyms[i], ways...)
					}
				}
			}
		}
	}
}

// ofTerm returns how the term of a synonym matches: by all its words but function words, each in any form. A term of one
// word matches by each of its forms, of which others than the word itself weigh less; nil for function words alone.
func (e *Expander) ofTerm(term []SearchWord, locales []string) (ways []Expansion) {
	var groups [][]SearchToken
	for _, word := range term {
		if len(term) > 1 && slices.ContainsFunc(locales, func(locale string) bool { return isStopWord(locale, word.text) }) {
			continue
		}
		if word.Unspaced() {
			for _, token := range append([]SearchToken{word.Whole}, word.Pairs...) {
				if token.Text != "" {
					groups = append(groups, []SearchToken{token})
				}
			}
			continue
		}
		tokens := []SearchToken{{Text: word.text}}
		for _, source := range e.sources {
			for _, form := range source.Stemmed(Stem(source.Language, word.text), maxStemmed) {
				if token := (SearchToken{Text: form}); !slices.Contains(tokens, token) {
					tokens = append(tokens, token)
				}
			}
		}
		groups = append(groups, tokens)
	}
	if len(groups) == 1 {
		for i, token := range groups[0] {
			ways = append(ways, Expansion{One: token, Weight: WeightSynonym - uint32(min(i, 1))*(WeightExact-WeightStem)})
		}
		return ways
	}
	if len(groups) == 0 {
		return nil
	}
	return []Expansion{{All: groups, Weight: WeightSynonym}}
}
