package index

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"portico/internal/cachekey"
)

// A run is text in a script without spaces between words. To split it into words would need a
// dictionary, so it is split into written syllables: a Chinese character, a Thai consonant with
// its vowels and tone, a Khmer stack. The split depends only on preceding characters. So the start
// of a text is split like the text, except that its last syllable may be incomplete.

// SyllableEnd terminates a syllable in the index; it never occurs in text.
const SyllableEnd = "\x1f"

// syllables splits a run.
func syllables(run string) (list []string) {
	start, before := 0, rune(0)
	for i, r := range run {
		if i > 0 && !continuesSyllable(before, r) {
			list = append(list, run[start:i])
			start = i
		}
		before = r
	}
	return append(list, run[start:])
}

// continuesSyllable reports whether r belongs to the syllable of before.
func continuesSyllable(before, r rune) bool {
	switch {
	case unicode.IsMark(r):
		return true
	case before >= 'เ' && before <= 'ไ', before >= 'ເ' && before <= 'ໄ': // Thai and Lao vowels written before their consonant
		return true
	case before == 0x17D2, before == 0x1039, before == 0x1A60, before == 0x1B44, before == 0xA9C0: // stacks the next consonant below
		return true
	}
	return strings.ContainsRune("ะาๅະາຽ", r) // vowels written after their consonant
}

// eachToken yields the tokens by which the word is indexed.
func (w textWord) eachToken(yield func(token string) bool) {
	if !w.unspaced {
		yield(truncateToken(w.text))
		return
	}
	unspacedTokens(w.text, yield)
}

// unspacedTokens yields the tokens by which a run is indexed: each pair of neighboring syllables, and the
// last syllable alone, so that every syllable begins a token.
func unspacedTokens(run string, yield func(token string) bool) {
	list := syllables(run)
	for i, text := range list {
		token := text + SyllableEnd
		if i+1 < len(list) {
			token += list[i+1]
		}
		if !yield(truncateToken(token)) {
			return
		}
	}
}

// SearchWord is a word to find: one token, or the syllables of a run. A text matches a run if it
// contains each syllable as part of a piece of the run, at any position. A piece is two or more
// neighboring syllables, or one syllable of three or more characters. Shorter syllables do not match
// alone, except a Chinese character and the end of the input: these may, if the text contains a piece.
type SearchWord struct {
	Whole       SearchToken     // empty for a run of several syllables
	Transcribed string          // the text of Whole with ä written as ae, and so on; empty if it is the same
	Position    int             // of the word among the distinct words of the search, from 0
	Head        bool            // it is a noun that stands before no other
	Pairs       []SearchToken   // neighboring syllables; nil unless Whole is empty
	singles     []syllableToken // one for each syllable; nil if Pairs is
	text        string          // as typed, folded
}

// Unspaced reports whether the word is in a script without spaces between words.
func (w SearchWord) Unspaced() bool {
	if w.Pairs != nil {
		return true
	}
	r, _ := utf8.DecodeRuneInString(w.Whole.Text)
	return isUnspaced(r)
}

// searchWord returns the word to find. last means that it ends the input.
func (w textWord) searchWord(last bool) SearchWord {
	if !w.unspaced {
		text := truncateToken(w.text)
		return SearchWord{Whole: SearchToken{text, last}, text: text}
	}
	wanted := parseUnspaced(w.text, last)
	wanted.text = w.text
	return wanted
}

// syllableToken is the token that matches a syllable alone; empty if it needs a neighbor.
type syllableToken struct {
	SearchToken
	isPiece bool // the syllable is a piece of the run by itself
}

// pieceLength is the number of characters from which one syllable is a piece.
const pieceLength = 3

// parseUnspaced returns the word to find for a run. last means that it ends the input.
func parseUnspaced(run string, last bool) (w SearchWord) {
	list := syllables(run)
	single := func(i int) SearchToken {
		if last && i == len(list)-1 {
			return SearchToken{truncateToken(list[i]), true}
		}
		return SearchToken{truncateToken(list[i] + SyllableEnd), true}
	}
	if len(list) == 1 {
		return SearchWord{Whole: single(0)}
	}
	for i, text := range list {
		token := syllableToken{isPiece: utf8.RuneCountInString(text) >= pieceLength}
		first, _ := utf8.DecodeRuneInString(text)
		if token.isPiece || unicode.Is(unicode.Han, first) || last && i == len(list)-1 {
			token.SearchToken = single(i)
		}
		w.singles = append(w.singles, token)
		if i > 0 {
			w.Pairs = append(w.Pairs, SearchToken{truncateToken(list[i-1] + SyllableEnd + text), last && i == len(list)-1})
		}
	}
	return w
}

// Tokens returns the tokens to look up.
func (w SearchWord) Tokens() []SearchToken {
	if w.Pairs == nil {
		return []SearchToken{w.Whole}
	}
	list := w.Pairs
	for _, single := range w.singles {
		if single.Text != "" {
			list = append(list[:len(list):len(list)], single.SearchToken)
		}
	}
	return list
}

// key names the word. Position and Head follow from the words of the search.
func (w SearchWord) key() cachekey.Key {
	prefix := w.Whole.Prefix
	if w.Pairs != nil {
		prefix = w.Pairs[len(w.Pairs)-1].Prefix
	}
	return cachekey.New(w.text, w.Whole.Text, w.Transcribed, strconv.FormatBool(prefix))
}

// Match returns the matches of the word: the products in which each syllable of a run is covered, by a pair or alone, and
// that have a piece of it. tokens has the matches of each of Tokens.
func (w SearchWord) Match(tokens []OrdinalSet) OrdinalSet {
	if w.Pairs == nil {
		return tokens[0]
	}
	pairs, singles := tokens[:len(w.Pairs)], tokens[len(w.Pairs):]
	pieces := pairs[0].Clone()
	for _, pair := range pairs[1:] {
		pieces.Or(pair)
	}
	var matches OrdinalSet
	for i, syllable := range w.singles {
		covered := pairs[max(0, i-1)].Clone()
		if i < len(pairs) {
			covered.Or(pairs[i])
		}
		if syllable.Text != "" {
			covered.Or(singles[0])
			if syllable.isPiece {
				pieces.Or(singles[0])
			}
			singles = singles[1:]
		}
		if i == 0 {
			matches = covered
		} else {
			matches.And(covered)
		}
	}
	matches.And(pieces)
	return matches
}
