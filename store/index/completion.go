package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Completions returns a text with its last word completed by longer words of some names that begin with
// it, in lower case, those of most names first, then as the names come. Mistyped words are replaced, and a
// mistyped last word is completed by words that begin with what it may have meant, these included. At most
// limit are returned. A text that ends with a space, or in a script without spaces, is not completed.
func Completions(text string, corrections Corrections, names []string, limit int) []string {
	start := strings.LastIndexFunc(text, func(r rune) bool { return !isTextPart(r) })
	if start >= 0 {
		_, n := utf8.DecodeRuneInString(text[start:])
		start += n
	}
	start = max(0, start)
	typed := Fold(text[start:])
	if r, _ := utf8.DecodeRuneInString(typed); typed == "" || isUnspaced(r) {
		return []string{}
	}
	completes := func(folded string) bool { return len(folded) > len(typed) && strings.HasPrefix(folded, typed) }
	if meant := corrections.of(typed); len(meant) > 0 {
		completes = func(folded string) bool {
			return slices.ContainsFunc(meant, func(word string) bool { return strings.HasPrefix(folded, word) })
		}
	}
	counts := map[string]int{}
	var words []string // in the order of the names
	for _, name := range names {
		seen := map[string]bool{}
		for _, word := range nameWords(name) {
			if completes(Fold(word)) && !seen[word] {
				seen[word] = true
				if counts[word] == 0 {
					words = append(words, word)
				}
				counts[word]++
			}
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	before := corrections.replaceIn(text[:start])
	completions := []string{}
	for _, word := range words[:min(limit, len(words))] {
		completions = append(completions, before+word)
	}
	return completions
}

// Spelled returns a folded text with the accents that its words have in some names.
func Spelled(folded string, names []string) string {
	spelled := map[string]string{}
	for _, name := range names {
		for _, word := range nameWords(name) {
			if key := Fold(word); spelled[key] == "" {
				spelled[key] = word
			}
		}
	}
	words := strings.Split(folded, " ")
	for i, word := range words {
		words[i] = cmp.Or(spelled[word], word)
	}
	return strings.Join(words, " ")
}

// nameWords returns the words of a name as it is written, in lower case.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !isTextPart(r) })
}

// Names reports whether a name has all words of the search, or words that begin with them. A text in a script without
// spaces must be in one of the name's words.
func (s Search) Names(name string) bool {
	var have []string
	for w := range splitWords(name) {
		have = append(have, w.text)
	}
	for _, word := range s.Words {
		if !slices.ContainsFunc(have, func(w string) bool {
			return strings.HasPrefix(w, word.text) || word.Unspaced() && strings.Contains(w, word.text)
		}) {
			return false
		}
	}
	return true
}

// SimilarlyNames reports whether a name has all words of the search, words that begin with them, or words that correct them. A
// text in a script without spaces is not found.
func (s Search) SimilarlyNames(name string) bool {
	var have []string
	for w := range splitWords(name) {
		have = append(have, w.text)
	}
	var table distanceTable
	for _, word := range s.Words {
		text := word.Whole.Text
		most := MaxDistance(text)
		letters := []rune(text)
		if word.Unspaced() || !slices.ContainsFunc(have, func(other string) bool {
			return strings.HasPrefix(other, text) || most > 0 && table.correction(letters, other, most, word.Whole.Prefix) <= most
		}) {
			return false
		}
	}
	return true
}
