package shop

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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
	words []searchWord
	typed string // without space around it
}

// searchToken is a word to look for, or how words begin.
type searchToken struct {
	text   string
	prefix bool
}

// The bounds of a text to search for.
const (
	MaxSearchLength = 200 // characters
	MaxSearchWords  = 20
)

// NewSearch reads what somebody typed, whatever it is: a text without a
// letter or a digit keeps everything. INVALID for a text that is too long, has
// too many words, or is not UTF-8 without NUL.
func NewSearch(text string) (Search, error) {
	path := []string{"filter", "search"}
	if !store.CleanText(text) {
		return Search{}, store.Invalidf(path, "must be UTF-8 text without NUL")
	}
	if n := utf8.RuneCountInString(text); n > MaxSearchLength {
		return Search{}, store.Invalidf(path, "is %d characters long; at most %d are searched for", n, MaxSearchLength)
	}
	words := slices.Collect(wordsOf(text))
	if len(words) > MaxSearchWords {
		return Search{}, store.Invalidf(path, "has %d words; at most %d are searched for", len(words), MaxSearchWords)
	}
	s := Search{typed: strings.TrimSpace(text)}
	seen := map[string]bool{}
	for i, w := range words {
		wanted := w.wanted(i == len(words)-1)
		if name := wanted.String(); !seen[name] {
			seen[name], s.words = true, append(s.words, wanted)
		}
	}
	return s, nil
}

// Empty tells whether there is nothing to look for.
func (s Search) Empty() bool { return len(s.words) == 0 }

func (s Search) String() string {
	parts := make([]string, len(s.words))
	for i, w := range s.words {
		parts[i] = w.String()
	}
	return "search(" + strings.Join(parts, " ") + ")"
}

// word is a piece of a text between spaces and punctuation, folded. A run is
// one in a script that puts no spaces between words, such as Thai or Chinese;
// it is indexed by its pairs of syllables (search_run.go).
type word struct {
	text string
	run  bool
}

// indexed are the tokens that a word is found by.
func (w word) indexed(yield func(token string) bool) {
	if !w.run {
		yield(cutWord(w.text))
		return
	}
	indexedRun(w.text, yield)
}

// wanted is what a text must have to hold the word.
func (w word) wanted(last bool) searchWord {
	if !w.run {
		return searchWord{whole: searchToken{cutWord(w.text), last}}
	}
	return wantedRun(w.text, last)
}

// maxToken bounds a word in the index; a longer one is known by its beginning.
const maxToken = 64 // bytes

func cutWord(text string) string {
	if len(text) <= maxToken {
		return text
	}
	end := maxToken
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// wordsOf yields the words of a text, folded, in order.
func wordsOf(text string) func(yield func(word) bool) {
	return func(yield func(word) bool) {
		folded := fold(text)
		start, run := -1, false
		for at, r := range folded {
			part := isWordPart(r)
			if start >= 0 && unicode.IsMark(r) {
				continue // a vowel sign or a tone belongs to the letter before it
			}
			if start >= 0 && (!part || isUnspaced(r) != run) {
				if !yield(word{folded[start:at], run}) {
					return
				}
				start = -1
			}
			if part && start < 0 {
				start, run = at, isUnspaced(r)
			}
		}
		if start >= 0 {
			yield(word{folded[start:], run})
		}
	}
}

func isWordPart(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// isUnspaced tells whether a character's script puts no spaces between words.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Bopomofo, unicode.Yi, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
		unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Javanese, unicode.Balinese))
}

// fold makes texts alike that differ in case, in accents or in how Unicode
// writes the same characters.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case isAccent(r) || unicode.Is(unicode.Cf, r), r == 'ـ': // soft hyphens, joiners and stretched strokes are not seen either
		case unfolded[r] != "":
			b.WriteString(unfolded[r])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return norm.NFC.String(b.String())
}

// isAccent tells marks that a reader may leave out from those that make
// another letter: the vowels of Thai, the voicing of Japanese.
func isAccent(r rune) bool {
	return r >= 0x0300 && unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic) &&
		r != 0x3099 && r != 0x309A
}

// unfolded are letters that Unicode does not take apart, and people do.
var unfolded = map[rune]string{
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

// languageWords are the words of a product in one language, each once.
type languageWords struct {
	language string   // empty for the base text
	named    []string // of the name or the SKU
	others   []string // of the description only
}

// words are what a product can be found by, language by language.
func (p *ProductSource) words() (list []languageWords) {
	a := &p.Attributes
	list = append(list, newLanguageWords("", a.Description, a.Name, a.SKU))
	for _, language := range p.documentLanguages() {
		text := a.Locales[language]
		list = append(list, newLanguageWords(language, text.Description, text.Name))
	}
	return list
}

func newLanguageWords(language, description string, names ...string) languageWords {
	tokens := func(texts ...string) (list []string) {
		for _, text := range texts {
			for w := range wordsOf(text) {
				w.indexed(func(token string) bool {
					list = append(list, token)
					return true
				})
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	w := languageWords{language: language, named: tokens(names...)}
	w.others = slices.DeleteFunc(tokens(description), func(token string) bool {
		_, found := slices.BinarySearch(w.named, token)
		return found
	})
	return w
}
