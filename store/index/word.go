package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// textWord is a folded part of a text between spaces and punctuation. run tells that its script has no
// spaces, as Thai and Chinese; such text is indexed by pairs of syllables.
type textWord struct {
	text string
	run  bool
}

// eachToken yields the tokens by which the word is indexed.
func (w textWord) eachToken(yield func(token string) bool) {
	if !w.run {
		yield(truncateToken(w.text))
		return
	}
	runTokens(w.text, yield)
}

// searchWord returns the word to find. last means that it ends the input.
func (w textWord) searchWord(last bool) searchWord {
	if !w.run {
		return searchWord{Whole: SearchToken{truncateToken(w.text), last}}
	}
	return parseRun(w.text, last)
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
		start, run := -1, false
		for i, r := range folded {
			part := isWordPart(r)
			if start >= 0 && unicode.IsMark(r) {
				continue // a vowel sign or tone belongs to the previous letter
			}
			if start >= 0 && (!part || isUnspaced(r) != run) {
				if !yield(textWord{folded[start:i], run}) {
					return
				}
				start = -1
			}
			if part && start < 0 {
				start, run = i, isUnspaced(r)
			}
		}
		if start >= 0 {
			yield(textWord{folded[start:], run})
		}
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

// Fold normalizes case, accents and Unicode forms, so that equivalent texts compare equal.
func Fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case isAccent(r) || unicode.Is(unicode.Cf, r), r == 'ـ': // invisible: soft hyphens, joiners, stretched strokes
		case extraFolds[r] != "":
			b.WriteString(extraFolds[r])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return norm.NFC.String(b.String())
}

// isAccent reports whether a mark is ignored in searches. Thai vowels and Japanese voicing marks are
// not.
func isAccent(r rune) bool {
	return r >= 0x0300 && unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic) &&
		r != 0x3099 && r != 0x309A
}

// extraFolds are letters that Unicode does not decompose.
var extraFolds = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'ς': "σ", 'ı': "i",
	'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d", 'ł': "l", 'Ł': "l",
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// LanguageWords are the distinct tokens of a product in one language.
type LanguageWords struct {
	Language string   // empty for the base text
	Named    []string // in the name or SKU
	Others   []string // only in the description
}

// NewLanguageWords returns the tokens of a product's texts in one language.
func NewLanguageWords(language, description string, names ...string) LanguageWords {
	tokens := func(texts ...string) (list []string) {
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
	w := LanguageWords{Language: language, Named: tokens(names...)}
	w.Others = slices.DeleteFunc(tokens(description), func(token string) bool {
		_, found := slices.BinarySearch(w.Named, token)
		return found
	})
	return w
}
