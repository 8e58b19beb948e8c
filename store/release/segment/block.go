package segment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/s2"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/price"
)

// Blocks hold all that pages show of a release's products, a few products of one node side by side:
// a page of a node reads few rows instead of several for each product. A product's slot is the number
// of its block times BlockProducts, plus its position there. A delta has blocks of its own products.
//
// A block is texts by AppendText: the compressed common section, then for each language its tag ("" is
// the base language) and its compressed section. The common section holds three texts for each product:
// its row, its breadcrumbs, and its files as texts. A section of a language holds the documents, "" for
// a product that is not translated, and behind them, if a product of the block has some, the extras of each
// (catalog.ProductExtras). The row is the id, "@" and PublishedAt if it is not the release's,
// "+" and the ordinals of the components if there are some, as in "+7 12", "~" and the
// JSON of its own attributes by key if it has some, and what the product costs (price.OfferLines), each on lines of its own.

// BlockProducts is the number of products that a block holds at most.
const BlockProducts = 4

// The names of the chunks of ListKeys that hold, by ordinal, the slots of products, the hashes of what
// the release shows of them, and the times at which these versions were first published, in
// microseconds; 0 is with the release.
const (
	SortSlot      store.SortBy = "slot"
	SortVersion   store.SortBy = "version"
	SortPublished store.SortBy = "published"
)

// BlockIDBits is the number of bits that number the rows of one release in tables whose keys begin with
// the release's number.
const BlockIDBits = 32

// RowID returns the key of a row of a release in such a table.
func RowID(release int64, number int) int64 { return release<<BlockIDBits | int64(number) }

// BlockProduct is a product to be stored in a block.
type BlockProduct struct {
	ID          string
	PublishedAt int64    // 0 is with the release
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

// Version returns a hash of what the release shows of the product, never 0.
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

// The first bytes of the lines of PublishedAt, Components and Attributes.
const (
	publishedLine  = "@"
	componentsLine = "+"
	attributesLine = "~"
)

// appendRow appends what is kept of the product beside its texts, in lines.
func (p *BlockProduct) appendRow(dst []byte) []byte {
	dst = append(append(dst, p.ID...), '\n')
	if p.PublishedAt != 0 {
		dst = append(strconv.AppendInt(append(dst, publishedLine...), p.PublishedAt, 10), '\n')
	}
	for i, ordinal := range p.Components {
		dst = strconv.AppendUint(append(dst, (componentsLine + " ")[min(i, 1)]), uint64(ordinal), 10)
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
		b.section = appendSection(appendSection(appendSection(b.section, b.row), p.Crumbs), p.Files)
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
			b.section = appendSection(b.section, p.Documents[language])
		}
		if slices.ContainsFunc(products, func(p *BlockProduct) bool { return p.Extras[language] != nil }) {
			for _, p := range products {
				b.section = appendSection(b.section, p.Extras[language])
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
	return appendSection(slices.Grow(body, len(packed)+binary.MaxVarintLen64), packed)
}

// appendSection is AppendText for bytes.
func appendSection(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// StoredProduct is a product as the release stores it.
type StoredProduct struct {
	ID          string   // empty if the release does not have the product
	PublishedAt int64    // of this version of the product, in microseconds
	Components  []uint32 // the ordinals that its components had when it was written; nil if they are not known
	Attributes  string   // JSON of its own attributes by key; empty for none
	Offers      string   // for price.OfferIn
	Crumbs      string   // breadcrumbs, as members of meta
	Language    string   // of the document
	Document    string
	Extras      string // JSON of catalog.ProductExtras; empty if there are none
	Files       string // by AppendText; empty if they are not stored with the product
}

// StoredProducts are products in the order in which they were requested. All but Language is valid until
// Release.
type StoredProducts struct {
	Products []StoredProduct
	buffers  []*sectionBuffer
}

// sectionBuffer is a decompressed section.
type sectionBuffer struct {
	body  []byte
	texts []string // parts of body
}

// sectionBuffers holds buffers for other sections.
var sectionBuffers = sync.Pool{New: func() any { return new(sectionBuffer) }}

// maxSectionBuffer is the largest buffer that is used again, in bytes.
const maxSectionBuffer = 256 << 10

// Release lets other reads use the memory of the texts.
func (s *StoredProducts) Release() {
	for _, buffer := range s.buffers {
		if cap(buffer.body) <= maxSectionBuffer {
			sectionBuffers.Put(buffer)
		}
	}
	s.Products, s.buffers = nil, nil
}

// ProductsStored reads the products at some ordinals, each in the best language that it has, and charges
// the context's Allowance for the documents. Call Release after use.
func (r *Reader) ProductsStored(ctx context.Context, ordinals []uint32) (*StoredProducts, error) {
	found := &StoredProducts{Products: make([]StoredProduct, len(ordinals))}
	return found, r.readBlocks(ctx, ordinals, found, func(n int, block *productBlock, position int) error {
		p := &found.Products[n]
		if err := r.readCommon(p, ordinals[n], block, position); err != nil {
			return err
		}
		var err error
		if p.Language, p.Document, p.Extras, err = block.best(r.languages, position); err != nil {
			return err
		}
		if p.Language == "" {
			p.Language = r.Release.Locale
		}
		return store.Charge(ctx, documentWork(p.Document))
	})
}

// documentWork is the cost of reading a document, which is copied and decoded, in bytes of an Allowance.
func documentWork(document string) int { return len(document) * 5 / 4 }

// readCommon reads what does not depend on the language.
func (r *Reader) readCommon(p *StoredProduct, ordinal uint32, block *productBlock, position int) (err error) {
	texts, err := block.texts(0)
	if err != nil {
		return err
	}
	if commonTexts*position+commonTexts > len(texts) {
		return errDamagedBlock
	}
	texts = texts[commonTexts*position:]
	id, offers, whole := strings.Cut(texts[0], "\n")
	if !whole {
		return errDamagedBlock
	}
	p.ID, p.Crumbs, p.Files = id, texts[1], texts[2]
	if line, found := strings.CutPrefix(offers, publishedLine); found {
		line, offers, _ = strings.Cut(line, "\n")
		if p.PublishedAt, err = strconv.ParseInt(line, 10, 64); err != nil {
			return err
		}
	} else {
		p.PublishedAt = r.Release.HolderIdentity(int(ordinal)).Published
	}
	if line, found := strings.CutPrefix(offers, componentsLine); found {
		line, offers, _ = strings.Cut(line, "\n")
		p.Components = make([]uint32, 0, strings.Count(line, " ")+1)
		for number := range strings.SplitSeq(line, " ") {
			ordinal, err := strconv.ParseUint(number, 10, 32)
			if err != nil {
				return err
			}
			p.Components = append(p.Components, uint32(ordinal))
		}
	}
	if line, found := strings.CutPrefix(offers, attributesLine); found {
		p.Attributes, offers, _ = strings.Cut(line, "\n")
	}
	p.Offers = offers
	return nil
}

// ProductIDs returns the ids of the products at some ordinals.
func (r *Reader) ProductIDs(ctx context.Context, ordinals []uint32) ([]string, error) {
	ids, found := make([]string, len(ordinals)), &StoredProducts{}
	defer found.Release()
	return ids, r.readBlocks(ctx, ordinals, found, func(n int, block *productBlock, position int) error {
		var p StoredProduct
		err := r.readCommon(&p, ordinals[n], block, position)
		ids[n] = strings.Clone(p.ID)
		return err
	})
}

// Translation is the document of a product in one language.
type Translation struct {
	Language string
	Document string
}

// Translations reads the documents of the products at some ordinals in all their languages, the base
// one first, then by tag, and charges the context's Allowance for them.
func (r *Reader) Translations(ctx context.Context, ordinals []uint32) ([][]Translation, error) {
	found, texts := make([][]Translation, len(ordinals)), &StoredProducts{}
	defer texts.Release()
	return found, r.readBlocks(ctx, ordinals, texts, func(n int, block *productBlock, position int) error {
		found[n] = nil // the statement may run again
		for at, section := range block.sections[1:] {
			document, err := block.document(1+at, position)
			if err != nil {
				return err
			}
			if document == "" {
				continue
			}
			language := string(section.language)
			if language == "" {
				language = r.Release.Locale
			}
			found[n] = append(found[n], Translation{language, strings.Clone(document)})
			if err := store.Charge(ctx, documentWork(document)); err != nil {
				return err
			}
		}
		return nil
	})
}

// readBlocks calls read for each product of some ordinals that has a block, with its index in ordinals and
// its position in the block, block by block. The block's texts belong to found.
func (r *Reader) readBlocks(ctx context.Context, ordinals []uint32, found *StoredProducts, read func(n int, block *productBlock, position int) error) error {
	if len(ordinals) == 0 {
		return nil
	}
	slots, err := valuesAt(ctx, r, SortSlot, ordinals, index.UnpackOrdinals)
	if err != nil {
		return err
	}
	type member struct {
		block int64
		n     int // in ordinals
	}
	members, ids := make([]member, len(ordinals)), make([]int64, 0, len(ordinals))
	for n, slot := range slots {
		members[n] = member{RowID(r.Release.holder(int(ordinals[n])), int(slot/BlockProducts)), n}
		ids = append(ids, members[n].block)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	condition, args := "BETWEEN $1 AND $2", []any{ids[0], ids[len(ids)-1]}
	if ids[len(ids)-1]-ids[0] > int64(len(ids)*5/4) { // else the range has few others
		var list string
		list, args = db.InList(nil, ids)
		condition = "IN (" + list + ")"
	}
	block := productBlock{to: found}
	return db.Visit(ctx, r.session(), func(id int64, body []byte) error {
		if err := block.open(body); err != nil {
			return fmt.Errorf("block %d: %w", id, err)
		}
		for _, m := range members {
			if m.block != id {
				continue
			}
			if err := read(m.n, &block, int(slots[m.n]%BlockProducts)); err != nil {
				return fmt.Errorf("block %d: %w", id, err)
			}
		}
		return nil
	}, `SELECT id AS key, body FROM release_block WHERE id `+condition, args...)
}

// commonTexts is the number of texts of each product in the common section.
const commonTexts = 3

// productBlock is a block whose sections are decompressed on first use.
type productBlock struct {
	sections []blockSection  // the common one first
	to       *StoredProducts // owns the decompressed sections
}

type blockSection struct {
	language []byte
	packed   []byte   // until it is decompressed
	texts    []string // afterwards
}

// open makes b another block; its body must stay as it is while the block is read.
func (b *productBlock) open(body []byte) error {
	b.sections = b.sections[:0]
	for rest := body; len(rest) > 0; {
		var section blockSection
		ok := true
		if len(b.sections) > 0 {
			if section.language, rest, ok = cutSection(rest); !ok {
				return errDamagedBlock
			}
		}
		if section.packed, rest, ok = cutSection(rest); !ok {
			return errDamagedBlock
		}
		b.sections = append(b.sections, section)
	}
	if len(b.sections) < 2 || len(b.sections[1].language) > 0 {
		return errDamagedBlock
	}
	return nil
}

// best returns the document of the product at a position in the first of some languages that it has, or
// in the base language, "".
func (b *productBlock) best(languages []string, position int) (language, document, extras string, err error) {
	for _, language := range languages {
		for at := 2; at < len(b.sections); at++ {
			if string(b.sections[at].language) != language {
				continue
			}
			if document, err := b.document(at, position); err != nil || document != "" {
				return language, document, b.extras(at, position), err
			}
		}
	}
	if document, err = b.document(1, position); err == nil && document == "" {
		err = errDamagedBlock
	}
	return "", document, b.extras(1, position), err
}

// extras returns the extras of the product at a position in a section that was read; empty if it has none.
func (b *productBlock) extras(section, position int) string {
	texts := b.sections[section].texts
	if at := len(b.sections[0].texts)/commonTexts + position; at < len(texts) {
		return texts[at]
	}
	return ""
}

// document returns the document of the product at a position in the language of a section; empty if it
// is not translated.
func (b *productBlock) document(section, position int) (string, error) {
	texts, err := b.texts(section)
	if err != nil {
		return "", err
	}
	if position >= len(texts) {
		return "", errDamagedBlock
	}
	return texts[position], nil
}

// texts returns the texts of a section.
func (b *productBlock) texts(number int) (texts []string, err error) {
	section := &b.sections[number]
	if section.packed != nil {
		if section.texts, err = b.to.unpackSection(section.packed); err != nil {
			return nil, err
		}
		section.packed = nil
	}
	return section.texts, nil
}

var errDamagedBlock = errors.New("the block of products is damaged")

// unpackSection decompresses a section and returns its texts.
func (s *StoredProducts) unpackSection(section []byte) (texts []string, err error) {
	buffer := sectionBuffers.Get().(*sectionBuffer)
	s.buffers = append(s.buffers, buffer)
	if buffer.body, err = s2.Decode(buffer.body[:cap(buffer.body)], section); err != nil {
		return nil, err
	}
	whole := unsafe.String(unsafe.SliceData(buffer.body), len(buffer.body)) // not written before Release
	buffer.texts, err = splitTexts(whole, buffer.texts[:0])
	return buffer.texts, err
}

// splitTexts appends the texts that AppendText wrote.
func splitTexts(whole string, texts []string) ([]string, error) {
	for len(whole) > 0 {
		n, width := binary.Uvarint([]byte(whole[:min(len(whole), binary.MaxVarintLen64)]))
		if width <= 0 || n > uint64(len(whole)-width) {
			return nil, errDamagedBlock
		}
		whole = whole[width:]
		texts, whole = append(texts, whole[:n]), whole[n:]
	}
	return texts, nil
}

// cutSection is cutText for a text that may be damaged.
func cutSection(body []byte) (text, rest []byte, ok bool) {
	n, at := binary.Uvarint(body)
	if at <= 0 || n > uint64(len(body)-at) {
		return nil, nil, false
	}
	return body[at : at+int(n)], body[at+int(n):], true
}

// ParseFiles returns the files of a StoredProduct. They keep the memory of texts.
func ParseFiles(texts string) ([]*catalog.File, error) {
	var buffer [8]string
	list, err := splitTexts(texts, buffer[:0])
	if err != nil {
		return nil, err
	}
	return catalog.ReadFiles(list)
}
