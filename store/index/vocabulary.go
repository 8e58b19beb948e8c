package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Vocabulary is the words of a part of a release in one language, with the number of products that have
// each. Words with digits and words of scripts without spaces are not in it. It is immutable and safe
// for concurrent use.
type Vocabulary struct {
	text      string
	ends      []uint32 // in text, of each word; words are sorted
	counts    []uint32
	keeps     []uint8             // how many bytes of the word its stem begins with
	stemRests map[uint32]string   // the rest of the stem, if there is one
	byStem    []uint32            // words by stem
	bySuffix  []uint32            // words by their text read backwards
	bigrams   func() *bigramIndex // made on the first call
}

// IsVocabularyWord reports whether a token is kept in vocabularies.
func IsVocabularyWord(token string) bool {
	n := 0
	for _, r := range token {
		if n++; !unicode.IsLetter(r) && !unicode.IsMark(r) || isUnspaced(r) {
			return false
		}
	}
	return n >= 2 && n <= maxVocabularyLength
}

// maxVocabularyLength is the length of the longest word in a vocabulary, in characters.
const maxVocabularyLength = 40

// PackVocabulary encodes sorted words with their counts: of each the text after what it shares with the word before, the
// count and the stem. Two orders of the words follow, by stem and by the text read backwards. Stems are of the language.
func PackVocabulary(language string, words []string, counts []uint32) []byte {
	body := binary.AppendUvarint(nil, uint64(len(words)))
	before := ""
	stems := make([]string, len(words))
	for i, word := range words {
		stems[i] = Stem(language, word)
		shared := CommonPrefix(before, word)
		body = appendText(binary.AppendUvarint(body, uint64(shared)), word[shared:])
		body = binary.AppendUvarint(body, uint64(counts[i]))
		keep := CommonPrefix(word, stems[i])
		body = appendText(append(body, byte(keep)), stems[i][keep:])
		before = word
	}
	order := func(less func(a, b uint32) int) {
		list := make([]uint32, len(words))
		for i := range list {
			list[i] = uint32(i)
		}
		slices.SortStableFunc(list, less)
		body = append(body, PackOrdinals(list)...)
	}
	order(func(a, b uint32) int { return strings.Compare(stems[a], stems[b]) })
	order(func(a, b uint32) int { return compareBackwards(words[a], words[b]) })
	return body
}

// UnpackVocabulary decodes what PackVocabulary encoded.
func UnpackVocabulary(body []byte) *Vocabulary {
	n, body := cutNumber(body)
	v := &Vocabulary{ends: make([]uint32, n), counts: make([]uint32, n), keeps: make([]uint8, n), stemRests: map[uint32]string{}}
	var text bytes.Buffer
	start := 0
	for i := range n {
		shared, rest := cutNumber(body)
		suffix, rest := cutText(rest)
		next := text.Len()
		text.Write(text.Bytes()[start : start+shared])
		text.Write(suffix)
		start = next
		v.ends[i] = uint32(text.Len())
		count, rest := cutNumber(rest)
		v.counts[i], v.keeps[i] = uint32(count), rest[0]
		stemRest, rest := cutText(rest[1:])
		if len(stemRest) > 0 {
			v.stemRests[uint32(i)] = string(stemRest)
		}
		body = rest
	}
	v.text = text.String()
	v.byStem, v.bySuffix = UnpackOrdinals(body[:4*n]), UnpackOrdinals(body[4*n:])
	v.bigrams = sync.OnceValue(func() *bigramIndex { return newBigramIndex(v) })
	return v
}

// Size is about the memory in bytes, with the index of bigrams.
func (v *Vocabulary) Size() int { return 256 + 5*len(v.text) + 18*len(v.ends) + 64*len(v.stemRests) }

// Len is the number of words.
func (v *Vocabulary) Len() int { return len(v.ends) }

// Word returns word i in order.
func (v *Vocabulary) Word(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = v.ends[i-1]
	}
	return v.text[start:v.ends[i]]
}

// Count is how many products have word i.
func (v *Vocabulary) Count(i uint32) int { return int(v.counts[i]) }

// stem returns the stem of word i.
func (v *Vocabulary) stem(i uint32) string {
	return v.Word(i)[:v.keeps[i]] + v.stemRests[i]
}

// Has reports whether a word is in the vocabulary.
func (v *Vocabulary) Has(word string) bool {
	i := v.from(word)
	return i < v.Len() && v.Word(uint32(i)) == word
}

// from returns the index of the first word that is not below a text; Len if all are.
func (v *Vocabulary) from(text string) int {
	return sort.Search(v.Len(), func(i int) bool { return v.Word(uint32(i)) >= text })
}

// Prefixed returns the indexes of the words that begin with a text, from first until just before end.
func (v *Vocabulary) Prefixed(prefix string) (first, end int) {
	first = v.from(prefix)
	return first, first + sort.Search(v.Len()-first, func(i int) bool { return !strings.HasPrefix(v.Word(uint32(first+i)), prefix) })
}

// Stemmed returns at most limit words with a stem, in the order of the vocabulary.
func (v *Vocabulary) Stemmed(stem string, limit int) (words []string) {
	first := sort.Search(len(v.byStem), func(i int) bool { return v.stem(v.byStem[i]) >= stem })
	for _, i := range v.byStem[first:] {
		if v.stem(i) != stem || len(words) == limit {
			break
		}
		words = append(words, v.Word(i))
	}
	return words
}

// Suffixed returns at most limit longer words that end with a text. At least shortest bytes are before it.
func (v *Vocabulary) Suffixed(suffix string, shortest, limit int) (words []string) {
	first := sort.Search(len(v.bySuffix), func(i int) bool { return compareBackwards(v.Word(v.bySuffix[i]), suffix) >= 0 })
	for _, i := range v.bySuffix[first:] {
		word := v.Word(i)
		if !strings.HasSuffix(word, suffix) || len(words) == limit {
			break
		}
		if len(word) >= len(suffix)+shortest {
			words = append(words, word)
		}
	}
	return words
}

// compareBackwards compares texts by their bytes from the end.
func compareBackwards(a, b string) int {
	for i := 1; i <= len(a) && i <= len(b); i++ {
		if x, y := a[len(a)-i], b[len(b)-i]; x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

// CommonPrefix returns the length of the common prefix in bytes. It ends between characters.
func CommonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// appendText appends a text after its length; cutText and cutNumber are the reverse.
func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func cutNumber(body []byte) (int, []byte) {
	number, n := binary.Uvarint(body)
	return int(number), body[n:]
}

func cutText(body []byte) (text, rest []byte) {
	n, body := cutNumber(body)
	return body[:n], body[n:]
}
