package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// textWord is a folded part of a text between spaces and punctuation. A word is what a text is split
// into, a token is what is stored for it: an unspaced word, in a script without spaces such as Thai or
// Chinese, has a token for each pair of syllables.
type textWord struct {
	text      string
	unspaced  bool
	connected bool // to the word before, by one character such as a hyphen or an apostrophe
	breaks    bool // from the word before, by punctuation such as a comma
}

// maxTokenBytes is the length to which indexed words are cut.
const maxTokenBytes = 64

// truncateToken cuts a token to maxTokenBytes, between characters.
func truncateToken(text string) string {
	if len(text) <= maxTokenBytes {
		return text
	}
	end := maxTokenBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// splitWords yields the folded words of a text in order.
func splitWords(text string) func(yield func(textWord) bool) {
	return func(yield func(textWord) bool) {
		folded := Fold(text)
		if isASCII(folded) {
			splitASCII(folded, yield)
			return
		}
		start, unspaced, end := -1, false, -1 // start is of the word that is read, end of the one before; -1 for none
		word := func(until int) textWord {
			w := newTextWord(folded, end, start, until)
			w.unspaced, end = unspaced, until
			return w
		}
		for i, r := range folded {
			part := isWordPart(r)
			if start >= 0 && unicode.IsMark(r) {
				continue // a vowel sign or tone belongs to the previous letter
			}
			if start >= 0 && (!part || isUnspaced(r) != unspaced) {
				if !yield(word(i)) {
					return
				}
				start = -1
			}
			if part && start < 0 {
				start, unspaced = i, isUnspaced(r)
			}
		}
		if start >= 0 {
			yield(word(len(folded)))
		}
	}
}

// splitASCII is splitWords for a folded text of ASCII.
func splitASCII(folded string, yield func(textWord) bool) {
	for start, before := 0, -1; start < len(folded); start++ {
		end := start
		for end < len(folded) && isWordPart(rune(folded[end])) {
			end++
		}
		if end > start {
			if !yield(newTextWord(folded, before, start, end)) {
				return
			}
			before = end
		}
		start = end
	}
}

// newTextWord returns the word from start until just before end; before is the end of the word before, or -1.
func newTextWord(folded string, before, start, end int) textWord {
	w := textWord{text: folded[start:end]}
	if between := folded[max(0, before):start]; before >= 0 && between != " " {
		w.connected, w.breaks = isConnector(between), isBreak(between)
	}
	return w
}

// isBreak reports whether a text between two words separates parts of a name.
func isBreak(between string) bool {
	return strings.ContainsAny(between, ",;:|()[]{}•") || strings.Contains(between, " - ") || strings.Contains(between, " – ") || strings.Contains(between, " — ")
}

// isConnector reports whether a text between two words is one character that may be left out.
func isConnector(between string) bool {
	switch between {
	case "-", "'", "’", "‐", "‑", "–", "/", ".", "_", "&", "+":
		return true
	}
	return false
}

// isWordPart reports whether a character of a folded text is part of a word. Of ASCII it knows no capitals.
func isWordPart(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// isUnspaced reports whether a character's script has no spaces between words.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Bopomofo, unicode.Yi, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
		unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Javanese, unicode.Balinese))
}

// joined returns words without what is between them; empty if one is not spaced.
func joined(words []textWord) string {
	var b strings.Builder
	for _, word := range words {
		if word.unspaced {
			return ""
		}
		b.WriteString(word.text)
	}
	return truncateToken(b.String())
}

// isTextPart is isWordPart for a text that is not folded.
func isTextPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// HasDigit reports whether a token has a digit. Such words name a size, a model or a SKU.
func HasDigit(token string) bool { return strings.ContainsFunc(token, unicode.IsNumber) }
