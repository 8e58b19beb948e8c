package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A run is cut into syllables as they are written, not into words, for which
// it would take a dictionary of each language: a Chinese character is one, a
// Thai consonant with its vowels and tone, a Khmer stack. Where it is cut
// depends on the characters before alone. So a piece of a text is cut as the
// text is, and one that is being typed differs in its last syllable at most,
// which begins the text's.

// SyllableEnd ends a syllable in the index; no text has it.
const SyllableEnd = "\x1f"

// syllables cuts a run.
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

// goesOn tells whether a character belongs to the syllable of the one before.
func goesOn(before, r rune) bool {
	switch {
	case unicode.IsMark(r):
		return true
	case before >= 'เ' && before <= 'ไ', before >= 'ເ' && before <= 'ໄ': // vowels of Thai and Lao that are written ahead of their consonant
		return true
	case before == 0x17D2, before == 0x1039, before == 0x1A60, before == 0x1B44, before == 0xA9C0: // what stacks the next consonant under this one
		return true
	}
	return strings.ContainsRune("ะาๅະາຽ", r) // vowels that are written behind it
}

// indexedRun yields the tokens of a run: each two neighbours, and the last
// syllable alone, so that every single one begins a token.
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

// searchWord is a word to look for: one token, or the syllables of a run. A
// text holds a run when each of its syllables stands there, as the run was
// typed or in pieces, wherever they are. A piece is two syllables and more, or
// one of three characters and more, which says as much as a word does. A
// shorter syllable needs a neighbour it was typed beside; only a Chinese
// character, which often is a word, and the end of what is being typed may
// stand alone where the text holds some piece.
type searchWord struct {
	Whole SearchToken   // empty for a run of several
	Pairs []SearchToken // of neighbours
	alone []syllable    // each
}

// syllable is what finds one without its neighbours; empty where it needs one.
type syllable struct {
	SearchToken
	piece bool // by itself
}

// pieceLength is how many characters make a syllable a piece by itself.
const pieceLength = 3

// wantedRun is what a text must have to hold a run.
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

// Tokens are what is looked up for the word.
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

// Holding is where the word is held, from where its tokens are, in their
// order.
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
