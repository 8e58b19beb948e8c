package index

import (
	"slices"
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
}

// eachToken yields the tokens by which the word is indexed.
func (w textWord) eachToken(yield func(token string) bool) {
	if !w.unspaced {
		yield(truncateToken(w.text))
		return
	}
	unspacedTokens(w.text, yield)
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
		start, unspaced, end := -1, false, -1
		word := func(until int) textWord {
			w := textWord{folded[start:until], unspaced, end >= 0 && isConnector(folded[end:start])}
			end = until
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
			if !yield(textWord{text: folded[start:end], connected: before >= 0 && isConnector(folded[before:start])}) {
				return
			}
			before = end
		}
		start = end
	}
}

// isConnector reports whether a text between two words is one character that may be left out.
func isConnector(between string) bool {
	switch between {
	case "-", "'", "’", "‐", "‑", "–", "/", ".", "_", "&", "+":
		return true
	}
	return false
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
	Language string // empty for the base text
	Tokens   map[string]Occurrence
}

// wordBytes is the length of a word with its space by which its number in a text is guessed.
const wordBytes = 5

// NewProductTokens returns the tokens of a product's texts in one language. sku is empty except for the
// base text.
func NewProductTokens(language, name, description, sku string) ProductTokens {
	w := ProductTokens{language, make(map[string]Occurrence, 32)}
	words := slices.AppendSeq(make([]textWord, 0, (len(name)+len(sku)+len(description))/wordBytes), splitWords(name))
	named := Occurrence{Named: true, NameWords: uint8(max(1, min(len(words), maxNameWords)))}
	w.add(words, named)
	words = slices.AppendSeq(words[:0], splitWords(sku))
	w.add(words, Occurrence{Named: true, InSKU: true, NameWords: named.NameWords})
	if whole := joined(words); whole != "" {
		w.put(whole, Occurrence{Named: true, InSKU: true, WholeSKU: true, NameWords: named.NameWords})
	}
	w.add(slices.AppendSeq(words[:0], splitWords(description)), Occurrence{})
	return w
}

// add adds the tokens of words. Words connected by a hyphen or the like are also added as one: T-Shirt
// as tshirt, Reese's as reeses, at the place of the last one.
func (w ProductTokens) add(words []textWord, o Occurrence) {
	for i, word := range words {
		if o.Position = 0; o.Named && !o.InSKU && i < maxNameWords {
			o.Position = uint8(i + 1)
		}
		word.eachToken(func(token string) bool {
			w.put(token, o)
			return true
		})
		if !word.connected || word.unspaced || words[i-1].unspaced {
			continue
		}
		w.put(joined(words[i-1:i+1]), o)
		first := i - 1
		for first > 0 && words[first].connected && !words[first-1].unspaced {
			first--
		}
		if isLast := i+1 == len(words) || !words[i+1].connected; isLast && first < i-1 && i-first < 8 {
			w.put(joined(words[first:i+1]), o)
		}
	}
}

// put adds an occurrence of a token. What was added before counts, so that Position is the first one.
func (w ProductTokens) put(token string, o Occurrence) {
	was, found := w.Tokens[token]
	if !found {
		was = o
	}
	was.WholeSKU = was.WholeSKU || o.WholeSKU
	w.Tokens[token] = was
}

// joined returns words without what is between them; empty if they are not spaced words.
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
