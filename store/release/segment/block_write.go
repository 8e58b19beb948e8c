package segment

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/s2"

	"portico/store/release/price"
)

// BlockProduct is a product to be stored in a block.
type BlockProduct struct {
	ID          string
	PublishedAt int64    // when this version was first published, in microseconds; 0 is with the release
	Components  []uint32 // ordinals, in the order of the documents; nil if one is not known
	Attributes  []byte   // values of its own attributes by key, as JSON without line breaks; nil for none
	Offers      string   // by SetOffers
	Crumbs      []byte
	Files       []byte            // the JSON of its files, by AppendText
	Documents   map[string][]byte // by language
	Extras      map[string][]byte // by language; none for most products
}

// SetOffers sets what the product costs, by currency.
func (p *BlockProduct) SetOffers(offers map[string]*price.Offer) {
	p.Offers = price.OfferLines(offers)
}

// Version returns a hash of what the release shows of the product, above 0. It leaves out the id, which does not change; the
// files, which are compared by themselves; and the components, which are in the documents.
func (p *BlockProduct) Version() int64 {
	hash := sha256.New()
	var length []byte
	add := func(text []byte) {
		length = binary.AppendUvarint(length[:0], uint64(len(text)))
		hash.Write(length)
		hash.Write(text)
	}
	add(p.Attributes)
	add([]byte(p.Offers))
	add(p.Crumbs)
	for _, language := range slices.Sorted(maps.Keys(p.Documents)) {
		add([]byte(language))
		add(p.Documents[language])
		if extras := p.Extras[language]; extras != nil {
			add(extras)
		}
	}
	return max(1, int64(binary.LittleEndian.Uint64(hash.Sum(nil))>>1))
}

// appendRow appends the row of the product: what it has besides its texts, in lines.
func (p *BlockProduct) appendRow(dst []byte) []byte {
	dst = append(append(dst, p.ID...), '\n')
	if p.PublishedAt != 0 {
		dst = append(strconv.AppendInt(append(dst, publishedLine...), p.PublishedAt, 10), '\n')
	}
	for i, ordinal := range p.Components {
		before := componentsLine
		if i > 0 {
			before = " "
		}
		dst = strconv.AppendUint(append(dst, before...), uint64(ordinal), 10)
		if i == len(p.Components)-1 {
			dst = append(dst, '\n')
		}
	}
	if len(p.Attributes) > 0 {
		dst = append(append(append(dst, attributesLine...), p.Attributes...), '\n')
	}
	return append(dst, p.Offers...)
}

// Size is the approximate number of bytes of the product before compression.
func (p *BlockProduct) Size() int {
	n := len(p.ID) + len(p.Attributes) + len(p.Offers) + len(p.Crumbs) + len(p.Files)
	for _, texts := range []map[string][]byte{p.Documents, p.Extras} {
		for _, text := range texts {
			n += len(text)
		}
	}
	return n
}

// blockBuffers are the buffers for one block: a product's row, a section, and the section compressed.
type blockBuffers struct{ row, section, packed []byte }

// packBuffers holds buffers of blocks that were packed. A release has thousands of blocks of about the same size.
var packBuffers = sync.Pool{New: func() any { return new(blockBuffers) }}

// maxPackBuffer is the largest section whose buffers are used again, in bytes.
const maxPackBuffer = 256 << 10

// PackBlock returns the stored form of a block.
func PackBlock(products []*BlockProduct) []byte {
	b := packBuffers.Get().(*blockBuffers)
	var languages []string
	b.section = b.section[:0]
	for _, p := range products {
		b.row = p.appendRow(b.row[:0])
		b.section = appendBytes(appendBytes(appendBytes(b.section, b.row), p.Crumbs), p.Files)
		for language := range p.Documents {
			if !slices.Contains(languages, language) {
				languages = append(languages, language)
			}
		}
	}
	body := b.appendPacked(nil)
	slices.Sort(languages)
	for _, language := range languages {
		b.section = b.section[:0]
		for _, p := range products {
			b.section = appendBytes(b.section, p.Documents[language])
		}
		if slices.ContainsFunc(products, func(p *BlockProduct) bool { return p.Extras[language] != nil }) {
			for _, p := range products {
				b.section = appendBytes(b.section, p.Extras[language])
			}
		}
		body = b.appendPacked(AppendText(body, language))
	}
	if cap(b.section) <= maxPackBuffer {
		packBuffers.Put(b)
	}
	return body
}

// appendPacked appends the section, compressed.
func (b *blockBuffers) appendPacked(body []byte) []byte {
	b.packed = slices.Grow(b.packed[:0], max(0, s2.MaxEncodedLen(len(b.section))))
	packed := s2.Encode(b.packed[:cap(b.packed)], b.section)
	return appendBytes(slices.Grow(body, len(packed)+binary.MaxVarintLen64), packed)
}

// appendBytes appends a text with its length as a uvarint before it, as AppendText does.
func appendBytes(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}
