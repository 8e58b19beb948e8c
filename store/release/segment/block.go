package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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

// The first bytes of the lines of PublishedAt, Components and Attributes.
const (
	publishedLine  = "@"
	componentsLine = "+"
	attributesLine = "~"
)

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

// sectionBuffers holds the buffers of released sections, for the next ones.
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

// ReadProducts reads the products at some ordinals, each in the best language that it has, and charges
// the context's Allowance for the documents. Call Release after use.
func (r *Reader) ReadProducts(ctx context.Context, ordinals []uint32) (*StoredProducts, error) {
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
	id, rest, whole := strings.Cut(texts[0], "\n")
	if !whole {
		return errDamagedBlock
	}
	p.ID, p.Crumbs, p.Files = id, texts[1], texts[2]
	if line, found := strings.CutPrefix(rest, publishedLine); found {
		line, rest, _ = strings.Cut(line, "\n")
		if p.PublishedAt, err = strconv.ParseInt(line, 10, 64); err != nil {
			return err
		}
	} else {
		p.PublishedAt = r.Release.HolderIdentity(int(ordinal)).Published
	}
	if line, found := strings.CutPrefix(rest, componentsLine); found {
		line, rest, _ = strings.Cut(line, "\n")
		p.Components = make([]uint32, 0, strings.Count(line, " ")+1)
		for number := range strings.SplitSeq(line, " ") {
			ordinal, err := strconv.ParseUint(number, 10, 32)
			if err != nil {
				return err
			}
			p.Components = append(p.Components, uint32(ordinal))
		}
	}
	if line, found := strings.CutPrefix(rest, attributesLine); found {
		p.Attributes, rest, _ = strings.Cut(line, "\n")
	}
	p.Offers = rest
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

// OffersAt reads what the products at some ordinals cost in a currency, in their order.
func (r *Reader) OffersAt(ctx context.Context, ordinals []uint32, currency string) ([]*price.Offer, error) {
	offers, found := make([]*price.Offer, len(ordinals)), &StoredProducts{}
	defer found.Release()
	return offers, r.readBlocks(ctx, ordinals, found, func(n int, block *productBlock, position int) error {
		var p StoredProduct
		err := r.readCommon(&p, ordinals[n], block, position)
		if err == nil {
			offers[n], err = price.OfferIn(p.Offers, currency)
		}
		return cmp.Or(err, store.Charge(ctx, offerWork))
	})
}

// offerWork is the cost of reading what one product costs, in bytes of an Allowance.
const offerWork = 1 << 10

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

// readBlocks calls read for each product of some ordinals that has a block, block by block. n is its index in ordinals,
// position its place in the block. The block's texts belong to found. A statement that fails may run again, so read
// may be called twice for a product.
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
	if ids[len(ids)-1]-ids[0] > int64(len(ids)*5/4) { // else a range is cheaper than a list: it has few other blocks
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

// blockSection is the common section, or that of a language.
type blockSection struct {
	language []byte   // empty for the common section and the base language
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
			if section.language, rest, ok = cutBytes(rest); !ok {
				return errDamagedBlock
			}
		}
		if section.packed, rest, ok = cutBytes(rest); !ok {
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

// extras returns the extras of the product at a position in a section that was read; empty if it has none. The extras of all
// products of the block are behind their documents, so there are as many documents as products.
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

// texts returns the texts of a section, which it decompresses on first use.
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

// splitTexts appends the texts that AppendText wrote, in the memory of whole.
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

// cutBytes is the reverse of appendBytes; ok is false if the bytes are damaged.
func cutBytes(body []byte) (text, rest []byte, ok bool) {
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
