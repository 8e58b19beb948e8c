package index

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of the ways to split a word.
const (
	maxSplits = 4 // ways
	maxParts  = 4 // words
	// maxPartForms bounds the words that stand for a part by its stem, and those that end with it.
	maxPartForms = 8
	// shortestPart is the length of the shortest part of a compound, in letters.
	shortestPart = 3
	// shortestEnd is the length of the shortest part that is only known as the end of words, in letters.
	shortestEnd = 5
	// lessByPart is by how much a compound of one more part weighs less.
	lessByPart = 20
)

// linkingLetters stand between the parts of a compound: Geburtstag(s)kuchen, Hund(e)leine. The empty one is tried
// first.
var linkingLetters = []string{"", "s", "n", "e", "es", "en", "er"}

// splits returns the ways in which a product has the parts of a word: icecream as ice cream, and in languages that
// join words Geräuschunterdrückungskopfhörer as Geräuschunterdrückung and Kopfhörer. Splits into the fewest parts are
// returned, at most maxSplits.
func (e *Expander) splits(text string) (ways []Expansion) {
	for cut := range text {
		left, right := text[:cut], text[cut:]
		if len(left) >= 2 && len(right) >= 2 && len(text) >= 6 && e.has(left) && e.has(right) && len(ways) < maxSplits {
			ways = append(ways, Expansion{All: [][]SearchToken{{{Text: left}}, {{Text: right}}}, Weight: WeightSplit})
		}
	}
	if !IsVocabularyWord(text) || !slices.ContainsFunc(e.sources, func(s WordSource) bool { return joinsWords(s.Language) }) {
		return ways
	}
	parts := map[string][]SearchToken{} // of the texts that part was called with
	for n := 2; n <= maxParts && (n == 2 || len(ways) == 0); n++ {
		e.compoundOf(text, n, parts, nil, func(groups [][]SearchToken) bool {
			known := slices.ContainsFunc(ways, func(way Expansion) bool {
				return slices.EqualFunc(way.All, groups, slices.Equal) // with other linking letters
			})
			if !known {
				ways = append(ways, Expansion{All: groups, Weight: uint32(WeightSplit - lessByPart*(n-1))})
			}
			return len(ways) < maxSplits
		})
	}
	return ways
}

// compoundOf yields the ways to split a text into n parts, each as the tokens of which a product must have one, after
// those of the parts before. It returns false once yield does.
func (e *Expander) compoundOf(text string, n int, parts map[string][]SearchToken, before [][]SearchToken, yield func([][]SearchToken) bool) bool {
	if n == 1 {
		tokens := e.part(text, parts)
		return len(tokens) == 0 || yield(append(slices.Clone(before), tokens))
	}
	for cut := range text {
		if utf8.RuneCountInString(text[:cut]) < shortestPart {
			continue
		}
		tokens := e.part(text[:cut], parts)
		if len(tokens) == 0 {
			continue
		}
		for _, letters := range linkingLetters {
			rest, linked := strings.CutPrefix(text[cut:], letters)
			if linked && !e.compoundOf(rest, n-1, parts, append(before[:len(before):len(before)], tokens), yield) {
				return false
			}
		}
	}
	return true
}

// part returns the tokens by which a product has a part of a compound: the word, words of the same stem, and words that
// end with it; nil if there are none. known holds what was returned before, by text.
func (e *Expander) part(text string, known map[string][]SearchToken) []SearchToken {
	if utf8.RuneCountInString(text) < shortestPart {
		return nil
	}
	if tokens, tried := known[text]; tried {
		return tokens
	}
	var words []string
	for _, source := range e.sources {
		if !joinsWords(source.Language) {
			continue
		}
		if source.Has(text) {
			words = append(words, text)
		}
		words = append(words, source.Stemmed(Stem(source.Language, text), maxPartForms)...)
		if len(words) > 0 || utf8.RuneCountInString(text) >= shortestEnd {
			words = append(words, source.Suffixed(text, shortestPart, maxPartForms)...)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	var tokens []SearchToken
	for _, word := range words {
		tokens = append(tokens, SearchToken{Text: word})
	}
	known[text] = tokens
	return tokens
}

// has reports whether a word is in a vocabulary.
func (e *Expander) has(word string) bool {
	return slices.ContainsFunc(e.sources, func(s WordSource) bool { return s.Has(word) })
}
