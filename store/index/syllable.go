package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text in scripts without spaces (a run) is split into written syllables, because splitting
// into words needs a dictionary: a Chinese character, a Thai consonant with its vowels and
// tone, a Khmer stack. The split depends only on preceding characters. So a part of a text is
// split like the text, except that the last syllable of an unfinished input may be a prefix.

// SyllableEnd terminates a syllable in the index; it never occurs in text.
const SyllableEnd = "\x1f"

// syllables splits a run.
func syllables(run string) (list []string) {
	start, before := 0, rune(0)
	for at, r := range run {
		if at > 0 && !goesOn(before, r) {
			list = append(list, run[start:at])
			start = at
		}
		before = r
	}
	return append(list, run[start:])
}

// goesOn reports whether r belongs to the syllable of before.
func goesOn(before, r rune) bool {
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

// indexedRun yields the tokens of a run: each pair of neighbouring syllables, and the last
// one alone, so that every syllable begins a token.
func indexedRun(run string, yield func(token string) bool) {
	list := syllables(run)
	for i, one := range list {
		token := one + SyllableEnd
		if i+1 < len(list) {
			token += list[i+1]
		}
		if !yield(cutWord(token)) {
			return
		}
	}
}

// searchWord is a word to find: one token, or the syllables of a run. A text matches a run if
// it contains each syllable within pieces of the run, in any place. A piece is two or more
// neighbouring syllables, or one of three or more characters. Shorter syllables need a
// neighbour; only a Chinese character, and the end of the input, may match alone if the text
// contains some piece.
type searchWord struct {
	Whole SearchToken   // empty for a run of several syllables
	Pairs []SearchToken // neighbouring syllables
	alone []syllable    // one for each syllable
}

// syllable is the token that matches a syllable alone; empty if it needs a neighbour.
type syllable struct {
	SearchToken
	piece bool // it is a piece by itself
}

// pieceLength is the number of characters that make a syllable a piece.
const pieceLength = 3

// wantedRun returns what a text must contain to match a run.
func wantedRun(run string, last bool) (w searchWord) {
	list := syllables(run)
	single := func(i int) SearchToken {
		if last && i == len(list)-1 {
			return SearchToken{cutWord(list[i]), true}
		}
		return SearchToken{cutWord(list[i] + SyllableEnd), true}
	}
	if len(list) == 1 {
		return searchWord{Whole: single(0)}
	}
	for i, text := range list {
		found := syllable{piece: utf8.RuneCountInString(text) >= pieceLength}
		first, _ := utf8.DecodeRuneInString(text)
		if found.piece || unicode.Is(unicode.Han, first) || last && i == len(list)-1 {
			found.SearchToken = single(i)
		}
		w.alone = append(w.alone, found)
		if i > 0 {
			w.Pairs = append(w.Pairs, SearchToken{cutWord(list[i-1] + SyllableEnd + text), last && i == len(list)-1})
		}
	}
	return w
}

// Tokens returns the tokens to look up.
func (w searchWord) Tokens() []SearchToken {
	if w.Pairs == nil {
		return []SearchToken{w.Whole}
	}
	list := w.Pairs
	for _, one := range w.alone {
		if one.Text != "" {
			list = append(list[:len(list):len(list)], one.SearchToken)
		}
	}
	return list
}

func (w searchWord) String() string {
	parts := []string{w.Whole.Text}
	prefix := w.Whole.Prefix && !strings.HasSuffix(w.Whole.Text, SyllableEnd)
	if w.Pairs != nil {
		parts[0], _, _ = strings.Cut(w.Pairs[0].Text, SyllableEnd)
		for _, pair := range w.Pairs {
			_, next, _ := strings.Cut(pair.Text, SyllableEnd)
			parts, prefix = append(parts, next), pair.Prefix
		}
	}
	text := strings.ReplaceAll(strings.Join(parts, "·"), SyllableEnd, "")
	if prefix {
		text += "*"
	}
	return text
}

// Holding returns the matches of the word. at has the matches of Tokens, in their order.
func (w searchWord) Holding(at []OrdinalSet) OrdinalSet {
	if w.Pairs == nil {
		return at[0]
	}
	pairs, singles := at[:len(w.Pairs)], at[len(w.Pairs):]
	pieces := pairs[0].clone()
	for _, pair := range pairs[1:] {
		pieces.addAll(pair)
	}
	var held OrdinalSet
	for i, one := range w.alone {
		covered := pairs[max(0, i-1)].clone()
		if i < len(pairs) {
			covered.addAll(pairs[i])
		}
		if one.Text != "" {
			covered.addAll(singles[0])
			if one.piece {
				pieces.addAll(singles[0])
			}
			singles = singles[1:]
		}
		if i == 0 {
			held = covered
		} else {
			held.Keep(covered)
		}
	}
	held.Keep(pieces)
	return held
}
