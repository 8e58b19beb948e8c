package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Expansion is a way in which a word of a search matches: by a token, or by several.
type Expansion struct {
	One    SearchToken
	All    [][]SearchToken // groups, of each of which a product must have one token; nil for One
	Weight uint32
}

// Tokens returns the tokens to look up.
func (x Expansion) Tokens() []SearchToken {
	if x.All == nil {
		return []SearchToken{x.One}
	}
	return slices.Concat(x.All...)
}

// The most expansions of a word by each rule.
const (
	maxStemmed   = 16
	maxCompounds = 48
	maxSimilar   = 24
	// MaxCorrections is how many words stand in for a mistyped one.
	MaxCorrections = 8
)

// lessByStem is by how much the beginning of a word without its ending weighs less.
const lessByStem = 5

// shortSearch is the number of words up to which every word is also a prefix.
const shortSearch = 4

// WordSource is a vocabulary and its language.
type WordSource struct {
	*Vocabulary
	Language string
}

// Expander finds the tokens by which the words of a search match:
//   - the word itself, and as ä is written as ae,
//   - words of the same stem in the languages of the sources,
//   - words that begin with it: for the last word, and for every word of a search of up to four words,
//   - in languages that join words, words that end with it: Futter finds Hundefutter,
//   - the word joined with its neighbor: tooth paste finds toothpaste,
//   - synonyms of the word, or of a term that it is part of.
//
// For a word that matches nothing so far, Fallbacks and Corrections have further ways.
type Expander struct {
	sources []WordSource
	all     []SearchWord // of the search
	words   []SearchWord // without function words; all if there are no others

	synonyms [][]Expansion // by index in words
}

// NewExpander prepares a search for sources. locales are the languages of the texts. Function words of
// these, such as "the", are left out unless there is no other word. synonyms may be nil.
func NewExpander(search Search, sources []WordSource, locales []string, synonyms *Synonyms) *Expander {
	e := &Expander{sources: sources, all: search.Words}
	for _, word := range search.Words {
		stop := false
		for _, locale := range locales {
			stop = stop || isStopWord(locale, word.Whole.Text)
		}
		if !stop {
			e.words = append(e.words, word)
		}
	}
	if len(e.words) == 0 {
		e.words = search.Words
	}
	e.findSynonyms(synonyms, locales)
	return e
}

// Words are the words to match.
func (e *Expander) Words() []SearchWord { return e.words }

// Synonyms returns the ways in which a word matches by its synonyms.
func (e *Expander) Synonyms(i int) []Expansion { return e.synonyms[i] }

// expansions collects ways to match a word, the best weight for each token.
type expansions struct {
	list []Expansion
	at   map[SearchToken]int // in list
}

func (x *expansions) add(text string, prefix bool, weight uint32) {
	token := SearchToken{text, prefix}
	if i, known := x.at[token]; known {
		x.list[i].Weight = max(x.list[i].Weight, weight)
		return
	}
	if x.at == nil {
		x.at = map[SearchToken]int{}
	}
	x.at[token] = len(x.list)
	x.list = append(x.list, Expansion{One: token, Weight: weight})
}

// sorted returns the ways in an order that does not depend on that of the vocabularies, the best first.
func (x *expansions) sorted() []Expansion {
	slices.SortFunc(x.list, func(a, b Expansion) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.One.Text, b.One.Text))
	})
	return x.list
}

// Expand returns the ways in which word i, a spaced one, matches before anything was looked up: by itself and its forms, as
// it is transcribed, and joined with one or two of its neighbors.
func (e *Expander) Expand(i int) []Expansion {
	var x expansions
	word := e.words[i]
	text := word.Whole.Text
	e.forms(&x, text, e.isPrefix(i), 0)
	if word.Transcribed != "" {
		e.forms(&x, word.Transcribed, e.isPrefix(i), WeightExact-WeightTranscribed)
	}
	for n := 2; n <= 3; n++ {
		for first := i - n + 1; first <= i; first++ {
			if run := e.run(first, n); run != "" {
				x.add(run, false, WeightJoined)
				for _, source := range e.sources {
					for _, other := range source.Stemmed(Stem(source.Language, run), maxStemmed) {
						x.add(other, false, WeightStem)
					}
				}
				if e.isPrefix(first + n - 1) {
					x.add(run, true, WeightPrefix)
				}
			}
		}
	}
	return x.sorted()
}

// isPrefix reports whether words that begin with word i match too: for a prefix, and in a short search for any word of two
// letters or more.
func (e *Expander) isPrefix(i int) bool {
	word := e.words[i].Whole
	return word.Prefix || len(e.words) <= shortSearch && utf8.RuneCountInString(word.Text) >= 2
}

// Wholes returns the search without spaces and punctuation, to be found as a SKU, with and without function
// words.
func (e *Expander) Wholes() (tokens []SearchToken) {
	for _, words := range [][]SearchWord{e.all, e.words} {
		if text := runOf(words); text != "" && (len(tokens) == 0 || text != tokens[0].Text) {
			tokens = append(tokens, SearchToken{Text: text})
		}
	}
	return tokens
}

// run returns n words joined, from the first on; empty if there are not so many, or not all are spaced.
func (e *Expander) run(first, n int) string {
	if first < 0 || first+n > len(e.words) {
		return ""
	}
	return runOf(e.words[first : first+n])
}

// runOf returns words joined; empty if one is not spaced.
func runOf(words []SearchWord) string {
	var b strings.Builder
	for _, word := range words {
		if word.Unspaced() {
			return ""
		}
		b.WriteString(word.Whole.Text)
	}
	return truncateToken(b.String())
}

// forms adds a word, words of its stem, compounds, and if prefix is set words that begin with it or with its stem. less is
// subtracted from all weights but those of the beginnings.
func (e *Expander) forms(x *expansions, text string, prefix bool, less uint32) {
	x.add(text, false, WeightExact-less)
	compounds := []string{text}
	for _, source := range e.sources {
		stem := Stem(source.Language, text)
		for _, word := range source.Stemmed(stem, maxStemmed) {
			x.add(word, false, WeightStem-less)
			compounds = append(compounds, word)
		}
		if prefix && stem != text && len(stem) >= 4 { // a shorter stem begins too many words
			x.add(stem, true, WeightPrefix-lessByStem)
		}
	}
	if prefix {
		x.add(text, true, WeightPrefix)
	}
	e.compounds(x, compounds, less)
}

// compounds adds compounds that end with one of some words of three letters or more, in languages that have them.
func (e *Expander) compounds(x *expansions, ends []string, less uint32) {
	for _, source := range e.sources {
		if !joinsWords(source.Language) {
			continue
		}
		for _, end := range ends {
			if utf8.RuneCountInString(end) < 3 {
				continue
			}
			for _, word := range source.Suffixed(end, 3, maxCompounds) {
				x.add(word, false, WeightCompound-less)
			}
		}
	}
}

// CorrectionSteps returns at most how many steps Corrections takes for word i without its comparisons, to be charged before it runs.
func (e *Expander) CorrectionSteps(i, products int) (steps int) {
	text := e.words[i].Whole.Text
	if MaxDistance(text) == 0 || !IsVocabularyWord(text) {
		return 0
	}
	for _, source := range e.sources {
		steps += source.SimilarSteps(text, e.leastProducts(products))
	}
	if e.words[i].Whole.Prefix && products == 0 {
		steps *= 2 // longer words are compared too
	}
	return steps
}

// leastProducts is how many products at least one of the sources must have with a word that so many have in all: a word
// below that in each source cannot have enough in all.
func (e *Expander) leastProducts(products int) int {
	return (products + len(e.sources) - 1) / max(1, len(e.sources))
}

// Fallbacks returns further ways in which a word matches: with ae for ä, as several words, and in languages
// that join words as the end of a compound even if it is short.
func (e *Expander) Fallbacks(i int) []Expansion {
	var x expansions
	text := e.words[i].Whole.Text
	if other := collapsed(text); other != text {
		e.forms(&x, other, e.isPrefix(i), WeightExact-WeightTranscribed)
	}
	if utf8.RuneCountInString(text) == 2 {
		for _, source := range e.sources {
			if joinsWords(source.Language) {
				for _, word := range source.Suffixed(text, 4, maxCompounds) {
					x.add(word, false, WeightCompound)
				}
			}
		}
	}
	return append(x.sorted(), e.splits(text)...)
}

// Corrections returns words of about so many products at least that word i may have meant, the nearest first, and at most
// maxSimilar. The caller checks whether live products have them (Meant). If the word may continue, products is 0 and nothing
// else is found, it returns words whose beginning is similar. compared is the number of words that it compared, for the caller to charge.
func (e *Expander) Corrections(i, products int) (found []SimilarWord, compared int) {
	text := e.words[i].Whole.Text
	most := MaxDistance(text)
	if most == 0 || !IsVocabularyWord(text) {
		return nil, 0
	}
	for _, prefix := range []bool{false, true} {
		if prefix && (len(found) > 0 || products > 0 || !e.words[i].Whole.Prefix) {
			break
		}
		for _, source := range e.sources {
			similar, n := source.Similar(text, most, prefix, e.leastProducts(products))
			found, compared = append(found, similar...), compared+n
		}
	}
	SortSimilar(found)
	found = slices.DeleteFunc(slices.Compact(found), func(word SimilarWord) bool { return word.Text == text })
	return found[:min(len(found), maxSimilar)], compared
}

// Correction returns the ways in which a correction matches: itself, and words of the same stem. best is whether no other is
// likelier.
func (e *Expander) Correction(word SimilarWord, best bool) []Expansion {
	var x expansions
	weight := uint32(WeightTypo)
	if !best {
		weight -= lessLikely
	}
	x.add(word.Text, false, weight)
	for _, source := range e.sources {
		for _, other := range source.Stemmed(Stem(source.Language, word.Text), maxStemmed) {
			x.add(other, false, weight*WeightStem/WeightExact)
		}
	}
	return x.sorted()
}
