package index

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// textWord is a folded part of a text between spaces and punctuation. A word is what a text is split
// into, a token is what is stored for it: an unspaced word, in a script without spaces such as Thai or
// Chinese, has a token for each pair of syllables.
type textWord struct {
	text     string
	unspaced bool
}

// eachToken yields the tokens by which the word is indexed.
func (w textWord) eachToken(yield func(token string) bool) {
	if !w.unspaced {
		yield(truncateToken(w.text))
		return
	}
	unspacedTokens(w.text, yield)
}

// searchWord returns the word to find. last means that it ends the input.
func (w textWord) searchWord(last bool) searchWord {
	if !w.unspaced {
		return searchWord{Whole: SearchToken{truncateToken(w.text), last}}
	}
	return parseUnspaced(w.text, last)
}

// maxTokenBytes is the length to which indexed words are cut.
const maxTokenBytes = 64

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
		start, unspaced := -1, false
		for i, r := range folded {
			part := isWordPart(r)
			if start >= 0 && unicode.IsMark(r) {
				continue // a vowel sign or tone belongs to the previous letter
			}
			if start >= 0 && (!part || isUnspaced(r) != unspaced) {
				if !yield(textWord{folded[start:i], unspaced}) {
					return
				}
				start = -1
			}
			if part && start < 0 {
				start, unspaced = i, isUnspaced(r)
			}
		}
		if start >= 0 {
			yield(textWord{folded[start:], unspaced})
		}
	}
}

// splitASCII is splitWords for a folded text of ASCII.
func splitASCII(folded string, yield func(textWord) bool) {
	for start := 0; start < len(folded); start++ {
		end := start
		for end < len(folded) && isWordPart(rune(folded[end])) {
			end++
		}
		if end > start && !yield(textWord{text: folded[start:end]}) {
			return
		}
		start = end
	}
}

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

// ProductTokens are the distinct tokens of a product in one language.
type ProductTokens struct {
	Language string   // empty for the base text
	Named    []string // in the name or SKU
	Others   []string // only in the description
}

// NewProductTokens returns the tokens of a product's texts in one language.
func NewProductTokens(language, description string, names ...string) ProductTokens {
	tokens := func(texts ...string) (list []string) {
		list = make([]string, 0, 32)
		for _, text := range texts {
			for w := range splitWords(text) {
				w.eachToken(func(token string) bool {
					list = append(list, token)
					return true
				})
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	w := ProductTokens{Language: language, Named: tokens(names...)}
	w.Others = slices.DeleteFunc(tokens(description), func(token string) bool {
		_, found := slices.BinarySearch(w.Named, token)
		return found
	})
	return w
}
