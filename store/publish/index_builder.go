package publish

import (
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"portico/store/index"
	"portico/store/release/segment"
)

// facetBuilder numbers the values of an attribute. Products come in order.
type facetBuilder struct {
	numbers map[string]uint32 // by value
	values  []byte            // by number, each by segment.AppendText
	chunks  [][]byte          // of each product how many values it has, and their numbers
	count   int               // products
}

func (b *facetBuilder) add(values []string) {
	if b.count%segment.ChunkSize == 0 {
		b.chunks = append(b.chunks, nil)
	}
	b.count++
	last := &b.chunks[len(b.chunks)-1]
	*last = binary.AppendUvarint(*last, uint64(len(values)))
	for _, value := range values {
		number, known := b.numbers[value]
		if !known {
			number = uint32(len(b.numbers))
			b.numbers[value] = number
			b.values = segment.AppendText(b.values, value)
		}
		*last = binary.AppendUvarint(*last, uint64(number))
	}
}

// wordIndex collects the words of products, which come in order.
type wordIndex struct {
	words           map[string]map[string]*postings // by language
	size            int                             // bytes of memory, about
	batches, chunks int                             // written so far
}

// postings are the products that have a word.
type postings struct {
	last  uint32 // ordinal
	count uint32 // products
	body  []byte // an index.OccurrenceList
}

// defaultWordBytes is the default of Config.WordBytes.
const defaultWordBytes = 64 << 20

// add adds the words of a product in its languages.
func (x *wordIndex) add(ordinal uint32, list []index.ProductTokens) {
	if x.words == nil {
		x.words = map[string]map[string]*postings{}
	}
	for _, of := range list {
		words := x.words[of.Language]
		if words == nil {
			words = map[string]*postings{}
			x.words[of.Language] = words
		}
		for token, occurrence := range of.Tokens {
			found := words[token]
			if found == nil {
				found = &postings{}
				words[strings.Clone(token)] = found
				x.size += 128 + len(token)
			}
			before := len(found.body)
			found.body = index.AppendOccurrence(found.body, ordinal-found.last, occurrence)
			found.last = ordinal
			found.count++
			x.size += len(found.body) - before
		}
	}
}

// eachEntry calls found with the entries of a language in order: the tokens, and the prefixes that many
// of them have. Tokens that begin with one character and are few, or begin with a long text, are entries only. Of others the
// longest common beginning is an entry too, after the token that equals it. Then they are divided by their next character.
func eachEntry(words map[string]*postings, found func(token string, list []byte)) {
	var union index.OccurrenceUnion
	var add func(tokens []string)
	add = func(tokens []string) {
		prefix := tokens[0][:index.CommonPrefix(tokens[0], tokens[len(tokens)-1])]
		if len(tokens) <= segment.PrefixTokens || len(prefix) > segment.PrefixLength {
			for _, token := range tokens {
				found(token, words[token].body)
			}
			return
		}
		for _, token := range tokens {
			if prefix != "" {
				union.Add(words[token].body)
			}
		}
		if tokens[0] == prefix {
			found(prefix, words[prefix].body)
			tokens = tokens[1:]
		}
		if prefix != "" {
			found(prefix+segment.PrefixEnd, union.Take())
		}
		for len(tokens) > 0 {
			_, n := utf8.DecodeRuneInString(tokens[0][len(prefix):])
			next := tokens[0][:len(prefix)+n]
			end := sort.Search(len(tokens), func(i int) bool { return !strings.HasPrefix(tokens[i], next) })
			add(tokens[:end])
			tokens = tokens[end:]
		}
	}
	if len(words) > 0 {
		add(slices.Sorted(maps.Keys(words)))
	}
}
