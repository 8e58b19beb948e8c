package segment

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/s2"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
)

// Blocks hold all that pages show of a whole release's products, a few products of one node side by
// side: a page of a node reads few rows instead of several for each product. A product's slot is the
// number of its block times BlockProducts, plus its position there. Rows and documents are stored
// beside the blocks, for deltas and for servers of the version before.
//
// A block is texts by AppendText: the compressed common section, then for each language its tag ("" is
// the base language) and its compressed section. A section holds a text for each product, the common
// one two: the row, and its files as texts.

// BlockProducts is the number of products that a block holds at most.
const BlockProducts = 4

// SortSlot is the name of the chunks of ListKeys that hold the slots of products, by ordinal.
const SortSlot store.SortBy = "slot"

// BlockProduct is a product to be stored in a block.
type BlockProduct struct {
	Row       string            // by ProductRowText
	Files     []byte            // the JSON of its files, by AppendText
	Documents map[string][]byte // by language
}

// Size is the number of bytes of the product before compression.
func (p *BlockProduct) Size() int {
	n := len(p.Row) + len(p.Files)
	for _, document := range p.Documents {
		n += len(document)
	}
	return n
}

// PackBlock returns the stored form of a block.
func PackBlock(products []*BlockProduct) []byte {
	size := 0
	for _, p := range products {
		size += p.Size() + 16
	}
	section, packed, body := make([]byte, 0, size), make([]byte, 0, s2.MaxEncodedLen(size)), make([]byte, 0, size/2)
	var languages []string
	for _, p := range products {
		section = appendSection(AppendText(section, p.Row), p.Files)
		for language := range p.Documents {
			if !slices.Contains(languages, language) {
				languages = append(languages, language)
			}
		}
	}
	body = appendSection(body, s2.EncodeBetter(packed[:cap(packed)], section))
	slices.Sort(languages)
	for _, language := range languages {
		section = section[:0]
		for _, p := range products {
			section = appendSection(section, p.Documents[language])
		}
		body = appendSection(AppendText(body, language), s2.EncodeBetter(packed[:cap(packed)], section))
	}
	return body
}

// appendSection is AppendText for bytes.
func appendSection(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// StoredProduct is a product as the release stores it.
type StoredProduct struct {
	ProductRow
	Language string // of the document
	Document string
	Files    string // by AppendText; empty if they are not stored with the product
}

// StoredProducts are products by ordinal. Document and Files of each are valid until Release.
type StoredProducts struct {
	ByPlace map[uint32]*StoredProduct
	buffers []*[]byte
}

// sectionBuffers holds buffers for decompressed sections.
var sectionBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxSectionBuffer is the largest buffer that is used again, in bytes.
const maxSectionBuffer = 256 << 10

// Release lets other reads use the memory of the documents and files.
func (s *StoredProducts) Release() {
	for _, buffer := range s.buffers {
		if cap(*buffer) <= maxSectionBuffer {
			sectionBuffers.Put(buffer)
		}
	}
	s.ByPlace, s.buffers = nil, nil
}

// ProductsStored reads the products at some ordinals, each in the best language that it has, and charges
// the context's Allowance for the documents. It leaves out missing products. Call Release after use.
func (r *Reader) ProductsStored(ctx context.Context, places []uint32) (*StoredProducts, error) {
	found := &StoredProducts{ByPlace: make(map[uint32]*StoredProduct, len(places))}
	holder, end := r.Release.ID, r.Release.Ordinals
	if r.Release.BaseID != 0 {
		holder, end = r.Release.BaseID, r.Release.FirstOrdinal
	}
	var packed, single []uint32
	for _, place := range places {
		if r.Release.Format >= formatOfBlocks && int(place) < end {
			packed = append(packed, place)
		} else {
			single = append(single, place)
		}
	}
	if err := r.readBlocks(ctx, holder, packed, found); err != nil {
		return nil, err
	}
	return found, r.readRows(ctx, single, found)
}

// readRows reads products that are not in blocks: their rows, then their documents.
func (r *Reader) readRows(ctx context.Context, places []uint32, found *StoredProducts) error {
	if len(places) == 0 {
		return nil
	}
	rows, err := r.ProductRows(ctx, places)
	if err != nil {
		return err
	}
	chosen := make(map[uint32]Translation, len(rows))
	documents := make([]int64, 0, len(rows))
	for place, row := range rows {
		if chosen[place], _, err = r.bestTranslation(row); err != nil {
			return err
		}
		documents = append(documents, chosen[place].Document)
	}
	bodies, err := r.Documents(ctx, store.Unique(documents))
	for place, row := range rows {
		choice := chosen[place]
		found.ByPlace[place] = &StoredProduct{row, choice.Language, bodies[choice.Document], ""}
	}
	return err
}

// readBlocks reads products from the blocks of a whole release.
func (r *Reader) readBlocks(ctx context.Context, holder int64, places []uint32, found *StoredProducts) error {
	if len(places) == 0 {
		return nil
	}
	slots, err := r.slots(ctx, holder, places)
	if err != nil {
		return err
	}
	members := make(map[int64][]int, len(places)) // indexes of places, by block
	for i, slot := range slots {
		id := RowID(holder, int(slot/BlockProducts))
		members[id] = append(members[id], i)
	}
	ids := make([]int64, 0, len(members))
	for id := range members {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	list, args := db.InList(nil, ids)
	_, err = db.Collect(ctx, r.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
		var id int64
		var body sql.RawBytes
		if err := rows.Scan(&id, &body); err != nil {
			return none, err
		}
		block := productBlock{body: body, to: found}
		for _, i := range members[id] {
			product, err := r.unpack(ctx, holder, &block, int(slots[i]%BlockProducts))
			if err != nil {
				return none, fmt.Errorf("block %d: %w", id, err)
			}
			found.ByPlace[places[i]] = product
		}
		return none, nil
	}, `SELECT id, body FROM release_block WHERE id IN (`+list+`)`, args...)
	return err
}

// slots returns the slots of products of a whole release.
func (r *Reader) slots(ctx context.Context, holder int64, places []uint32) ([]uint32, error) {
	first, last := int(slices.Min(places))/ChunkSize, int(slices.Max(places))/ChunkSize
	chunks, err := readChunks(ctx, r, KeptList{holder, ListKeys}, SortSlot, first, last, index.UnpackOrdinals)
	if err != nil {
		return nil, err
	}
	slots := make([]uint32, len(places))
	for i, place := range places {
		chunk := chunks[int(place)/ChunkSize-first]
		if int(place%ChunkSize) >= len(chunk) {
			return nil, ErrGone
		}
		slots[i] = chunk[place%ChunkSize]
	}
	return slots, nil
}

// unpack returns the product at a position of a block.
func (r *Reader) unpack(ctx context.Context, holder int64, block *productBlock, position int) (*StoredProduct, error) {
	row, files, err := block.common(position)
	if err != nil {
		return nil, err
	}
	p := &StoredProduct{Files: files}
	if p.ProductRow, err = parseProductRow(strings.Clone(row)); err != nil {
		return nil, err
	}
	if p.PublishedAt == 0 {
		p.PublishedAt = r.Release.identityOf(holder).Published
	}
	choice, translated, err := r.bestTranslation(p.ProductRow)
	if err != nil {
		return nil, err
	}
	p.Language = choice.Language
	section := ""
	if translated {
		section = choice.Language
	}
	if p.Document, err = block.document(section, position); err != nil {
		return nil, err
	}
	return p, store.Charge(ctx, len(p.Document)*5/4) // as Documents
}

// productBlock is a block whose sections are decompressed on first use.
type productBlock struct {
	body     []byte
	to       *StoredProducts // owns the decompressed sections
	shared   []string        // the texts of the common section
	sections map[string][]string
}

func (b *productBlock) common(position int) (row, files string, err error) {
	if b.shared == nil {
		section, _, ok := cutSection(b.body)
		if !ok {
			return "", "", errDamagedBlock
		}
		if b.shared, err = b.to.unpackSection(section); err != nil {
			return "", "", err
		}
	}
	if 2*position+1 >= len(b.shared) {
		return "", "", errDamagedBlock
	}
	return b.shared[2*position], b.shared[2*position+1], nil
}

// document returns the document of the product at a position in a language.
func (b *productBlock) document(language string, position int) (string, error) {
	texts, known := b.sections[language]
	if !known {
		_, rest, ok := cutSection(b.body)
		for ok && len(rest) > 0 {
			var tag, section []byte
			if tag, rest, ok = cutSection(rest); !ok {
				break
			}
			if section, rest, ok = cutSection(rest); !ok || string(tag) != language {
				continue
			}
			var err error
			if texts, err = b.to.unpackSection(section); err != nil {
				return "", err
			}
			break
		}
		if b.sections == nil {
			b.sections = map[string][]string{}
		}
		b.sections[language] = texts
	}
	if position >= len(texts) || texts[position] == "" {
		return "", errDamagedBlock
	}
	return texts[position], nil
}

var errDamagedBlock = errors.New("the block of products is damaged")

// unpackSection decompresses a section and returns its texts.
func (s *StoredProducts) unpackSection(section []byte) (texts []string, err error) {
	buffer := sectionBuffers.Get().(*[]byte)
	s.buffers = append(s.buffers, buffer)
	body, err := s2.Decode((*buffer)[:cap(*buffer)], section)
	if err != nil {
		return nil, err
	}
	*buffer = body
	whole := unsafe.String(unsafe.SliceData(body), len(body)) // not written before Release
	texts = make([]string, 0, 2*BlockProducts)
	for at := 0; at < len(whole); {
		n, width := binary.Uvarint(body[at:])
		if width <= 0 || n > uint64(len(whole)-at-width) {
			return nil, errDamagedBlock
		}
		at += width
		texts = append(texts, whole[at:at+int(n)])
		at += int(n)
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

// ParseFiles returns the files of a StoredProduct.
func ParseFiles(texts string) (files []*catalog.File, err error) {
	for rest := []byte(texts); len(rest) > 0; {
		text, after, ok := cutSection(rest)
		if !ok {
			return nil, errDamagedBlock
		}
		f, err := catalog.ReadFile(text)
		if err != nil {
			return nil, err
		}
		files, rest = append(files, f), after
	}
	return files, nil
}
