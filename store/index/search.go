package index

import (
	"slices"
	"strings"
	"unicode/utf8"

	"portico/store"
)

// Search keeps products that have every one of some words in their SKU, or in
// their name or description in the base language or in one of the shopper's.
// Case and accents do not count. The last word also finds words that begin
// with it, so that a list can follow what is being typed.
//
// A script that puts no spaces between words is typed without them too: then
// what was typed may stand in pieces, here and there, each of which holds
// together (searchWord).
//
// The words are cut and indexed by this package alone, so that the same text
// finds the same products on every engine.
type Search struct {
	Words []searchWord
	Typed string // without space around it
}

// SearchToken is a word to look for, or how words begin.
type SearchToken struct {
	Text   string
	Prefix bool
}

// The bounds of a text to search for.
const (
	MaxSearchLength = 200 // characters
	MaxSearchWords  = 20
)

// NewSearch reads what somebody typed, whatever it is: a text without a
// letter or a digit keeps everything. INVALID for a text that is too long, has
// too many words, or is not valid UTF-8 without NUL.
func NewSearch(text string) (Search, error) {
	path := []string{"filter", "search"}
	if !store.IsStorableText(text) {
		return Search{}, store.Invalidf(path, "must be UTF-8 text without NUL")
	}
	if n := utf8.RuneCountInString(text); n > MaxSearchLength {
		return Search{}, store.Invalidf(path, "is %d characters long; at most %d are searched for", n, MaxSearchLength)
	}
	words := slices.Collect(wordsOf(text))
	if len(words) > MaxSearchWords {
		return Search{}, store.Invalidf(path, "has %d words; at most %d are searched for", len(words), MaxSearchWords)
	}
	s := Search{Typed: strings.TrimSpace(text)}
	seen := map[string]bool{}
	for i, w := range words {
		wanted := w.wanted(i == len(words)-1)
		if name := wanted.String(); !seen[name] {
			seen[name], s.Words = true, append(s.Words, wanted)
		}
	}
	return s, nil
}

// Empty tells whether there is nothing to look for.
func (s Search) Empty() bool { return len(s.Words) == 0 }

// String is the same for texts that look for the same.
func (s Search) String() string {
	parts := make([]string, len(s.Words))
	for i, w := range s.Words {
		parts[i] = w.String()
	}
	return "search(" + strings.Join(parts, " ") + ")"
}
