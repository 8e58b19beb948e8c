package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Corrections are the words that mistyped words of a search may have meant, the likeliest first, by the folded mistyped
// word.
type Corrections map[string][]string

// of returns what a folded word may have meant; nil if it was not mistyped.
func (c Corrections) of(folded string) []string { return c[truncateToken(folded)] }

// Size is about the memory in bytes.
func (c Corrections) Size() (n int) {
	for word, meant := range c {
		n += 64 + len(word)
		for _, other := range meant {
			n += 16 + len(other)
		}
	}
	return n
}

// frequentFactor is how many times as many products as a typed word must have a similar word to be found beside it.
const frequentFactor = 20

// OftenMeant returns how many products a similar word must have to be found beside a typed word of so many products. It is 0 for a
// typed word that no product has: any similar word is found then.
func OftenMeant(products int) int { return frequentFactor * products }

// FoundCorrection is a correction of a word with the number of products that have it.
type FoundCorrection struct {
	SimilarWord
	Products int
}

// Meant returns which of found a typed word of so many products may have meant, at most MaxCorrections, the most frequent first.
// found is sorted by distance, and each has products. If no product has the typed word, the nearest of found are returned. Others
// are returned if they are much more frequent than the typed word and the nearest.
func Meant(products int, found []FoundCorrection) (meant []FoundCorrection) {
	frequentFirst := func(a, b FoundCorrection) int { return cmp.Compare(b.Products, a.Products) }
	if products == 0 {
		for _, c := range found {
			if c.Distance == found[0].Distance {
				meant = append(meant, c)
			}
		}
		slices.SortStableFunc(meant, frequentFirst)
		meant = meant[:min(len(meant), MaxCorrections)]
	}
	most := products
	for _, c := range meant {
		most = max(most, c.Products)
	}
	for _, c := range found {
		if c.Products >= OftenMeant(most) && len(meant) < MaxCorrections && !slices.Contains(meant, c) {
			meant = append(meant, c)
		}
	}
	slices.SortStableFunc(meant, frequentFirst)
	return meant
}

// Corrected returns the text, folded, with mistyped words replaced; empty without corrections.
func (s Search) Corrected(corrections Corrections) string {
	if len(corrections) == 0 {
		return ""
	}
	var parts []string
	for w := range splitWords(s.Typed) {
		part := w.text
		if meant := corrections.of(part); len(meant) > 0 {
			part = meant[0]
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// replaceIn replaces mistyped words in a text by the likeliest ones, and keeps what is between and around them.
func (c Corrections) replaceIn(text string) string {
	if len(c) == 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !isTextPart(r) })
		if end < 0 {
			end = len(text)
		}
		if meant := c.of(Fold(text[:end])); len(meant) > 0 {
			b.WriteString(meant[0])
		} else {
			b.WriteString(text[:end])
		}
		next := end
		if end < len(text) {
			_, n := utf8.DecodeRuneInString(text[end:])
			next += n
		}
		b.WriteString(text[end:next])
		text = text[next:]
	}
	return b.String()
}
