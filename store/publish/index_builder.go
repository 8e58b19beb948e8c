package publish

import (
	"encoding/binary"
	"strings"

	"portico/store/index"
	"portico/store/release/segment"
)

// facetBuilder numbers the values of an attribute. Products come in order.
type facetBuilder struct {
	numbers map[string]uint32
	values  []byte // by segment.AppendText
	chunks  [][]byte
	count   int // products
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
	words            map[string]map[string]*postings // by language
	size             int                             // bytes of memory, about
	segments, chunks int                             // written so far
}

type postings struct {
	last uint32
	body []byte
}

// defaultWordBytes is the default of PublishConfig.WordBytes.
const defaultWordBytes = 64 << 20

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
		for named, tokens := range [][]string{of.Others, of.Named} {
			for _, token := range tokens {
				found := words[token]
				if found == nil {
					found = &postings{}
					words[strings.Clone(token)] = found
					x.size += 128 + len(token)
				}
				before := len(found.body)
				found.body = binary.AppendUvarint(found.body, uint64(ordinal-found.last)<<1|uint64(named))
				found.last = ordinal
				x.size += len(found.body) - before
			}
		}
	}
}
