package index

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"portico/internal/cachekey"
	"portico/store"
)

// Search matches products that have all of its words in their SKU, or in their name or description in
// the base language or one of the shopper's languages. Case and accents are ignored. How words match is
// described with Expand. In scripts without spaces, the text may match in several pieces (SearchWord).
//
// This package splits texts into words itself, so that results are the same on every database.
type Search struct {
	Words []SearchWord // each once
	Typed string       // trimmed

	letters string // of NameKeys if the search repeats a word, as a name may; else empty
}

// SearchToken is a word to find, or a prefix of words.
type SearchToken struct {
	Text   string
	Prefix bool
}

// The limits of a search text.
const (
	MaxSearchLength = 200 // characters
	MaxSearchWords  = 20
)

// SearchWords returns the folded words of a search text, for searches for parts of words in authored texts. They need no
// word index. A blank text has none. The errors are those of NewSearch.
func SearchWords(text string) ([]string, error) {
	search, err := NewSearch(text)
	if err != nil || search.Empty() {
		return nil, err
	}
	return strings.Fields(Fold(text)), nil
}

// NewSearch parses a search text. A text without letters and digits finds nothing. It
// returns INVALID for a text that is too long, has too many words, or contains NUL or invalid
// UTF-8.
func NewSearch(text string) (Search, error) {
	path := []string{"filter", "search"}
	if !store.IsStorableText(text) {
		return Search{}, store.Invalidf(path, "must be UTF-8 text without NUL")
	}
	if n := utf8.RuneCountInString(text); n > MaxSearchLength {
		return Search{}, store.Invalidf(path, "is %d characters long; the limit is %d", n, MaxSearchLength)
	}
	words := slices.Collect(splitWords(text))
	if len(words) > MaxSearchWords {
		return Search{}, store.Invalidf(path, "has %d words; the limit is %d", len(words), MaxSearchWords)
	}
	s := Search{Typed: strings.TrimSpace(text)}
	seen := map[cachekey.Key]bool{}
	transcribed := slices.Collect(splitWords(transcribe(text)))
	for i, w := range words {
		wanted := w.searchWord(i == len(words)-1)
		wanted.Position = len(s.Words)
		if !w.unspaced && len(transcribed) == len(words) && transcribed[i].text != w.text {
			wanted.Transcribed = truncateToken(transcribed[i].text)
		}
		if name := wanted.key(); !seen[name] {
			seen[name], s.Words = true, append(s.Words, wanted)
		}
	}
	if len(s.Words) < len(words) {
		s.letters, _ = NameKeys("", "", text)
	}
	plain := make([]textWord, len(s.Words))
	for i, word := range s.Words {
		plain[i].text = word.text
	}
	for i, role := range nameRoles("", "", plain) { // as if the search were a name: its head ranks products that are one first
		s.Words[i].Head = role == RoleHead
	}
	return s, nil
}

// Empty reports whether no text was typed. Such a search is no condition.
func (s Search) Empty() bool { return s.Typed == "" }

// Key is the same for searches that find the same, in which Typed may differ.
func (s Search) Key() cachekey.Key {
	key := cachekey.Each(s.Words, SearchWord.key)
	if s.letters != "" {
		key = cachekey.Join(key, cachekey.New(s.letters))
	}
	return key
}

// transcriptions are letters that are also written as two.
var transcriptions = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ø", "oe", "å", "aa", "Ä", "ae", "Ö", "oe", "Ü", "ue", "Ø", "oe", "Å", "aa")

// transcribe writes the letters of transcriptions as two.
func transcribe(text string) string {
	if isASCII(text) {
		return text
	}
	return transcriptions.Replace(norm.NFC.String(text))
}

// collapses are pairs of letters that are also written as one.
var collapses = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// collapsed writes such pairs as one letter: Gluhbirne for Gluehbirne.
func collapsed(word string) string { return collapses.Replace(word) }
