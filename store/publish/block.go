package publish

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// The bounds of blocks, in bytes before compression.
const (
	blockBytes     = 32 << 10 // of a block, unless one product is larger
	blockFileBytes = 16 << 10 // of the files of a product; larger ones are read by id
)

// blockBuilder packs the products of a release into blocks. Products come in the order of their
// ordinals, and wait until their node has enough for a block.
type blockBuilder struct {
	release int64
	open    map[int32]*openBlock // by node
	size    int                  // bytes of the open blocks
	slots   []uint32             // of the products, in the order in which they came; 0 until their block is packed
	count   int                  // blocks so far
	ready   [][]any              // rows to write
}

// openBlock is a block that is not full.
type openBlock struct {
	products []*segment.BlockProduct
	members  []int // indexes of slots
	size     int   // bytes
}

// add adds a product of a node; -1 is none.
func (b *blockBuilder) add(node int32, product *segment.BlockProduct) {
	if b.open == nil {
		b.open = map[int32]*openBlock{}
	}
	b.slots = append(b.slots, 0)
	block, size := b.open[node], product.Size()
	if block != nil && block.size+size > blockBytes {
		b.pack(node)
		block = nil
	}
	if block == nil {
		block = &openBlock{}
		b.open[node] = block
	}
	block.products, block.members = append(block.products, product), append(block.members, len(b.slots)-1)
	block.size += size
	b.size += size
	if len(block.products) == segment.BlockProducts {
		b.pack(node)
	}
}

// pack packs the open block of a node into a row, and sets the slots of its products.
func (b *blockBuilder) pack(node int32) {
	block := b.open[node]
	delete(b.open, node)
	b.size -= block.size
	for position, member := range block.members {
		b.slots[member] = uint32(b.count*segment.BlockProducts + position)
	}
	body := segment.PackBlock(block.products)
	b.ready = append(b.ready, []any{segment.RowID(b.release, b.count), body})
	b.count++
}

// packAll packs all open blocks.
func (b *blockBuilder) packAll() {
	nodes := make([]int32, 0, len(b.open))
	for node := range b.open {
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	for _, node := range nodes {
		b.pack(node)
	}
}

// blockNode returns the place of the node in whose blocks a product of several nodes is: the one with
// the fewest products that fill a block, because there the next products of a page are nearest. It
// returns -1 for a product without a node.
func (p *publicationPlan) blockNode(nodes []*segment.CatalogNode) int32 {
	place, least := int32(-1), 0
	for _, node := range nodes {
		n := len(p.attached[node.ID])
		if n < segment.BlockProducts { // after all that fill a block, the largest first
			n = math.MaxInt32 - n
		}
		if place < 0 || n < least {
			place, least = int32(node.Place), n
		}
	}
	return place
}

// readFileTexts reads the files that products show, by id.
func (p *publicationPlan) readFileTexts(ctx context.Context, handles []uint32, sources map[uint32]*catalog.ProductSource) (map[string][]byte, error) {
	var ids []string
	for _, handle := range handles {
		if source := sources[handle]; source != nil {
			ids = append(ids, source.FileIDs()...)
		}
	}
	slices.Sort(ids)
	texts := make(map[string][]byte, len(ids))
	return texts, store.Chunked(slices.Compact(ids), 512, func(ids []string) error {
		list, args := db.InList(nil, ids)
		files, err := db.Collect(ctx, p.in, scanReleasedFile, `SELECT id, body FROM file WHERE id IN (`+list+`)`, args...)
		for _, f := range files {
			texts[f.id] = f.body
		}
		return err
	})
}

// packFiles returns the files of a product for its block; none if they are too large.
func packFiles(ids []string, texts map[string][]byte) (packed []byte) {
	for _, id := range ids {
		if text, exists := texts[id]; exists {
			packed = segment.AppendText(packed, string(text))
		}
	}
	if len(packed) > blockFileBytes {
		return nil
	}
	return packed
}

// releasedFile is an authored file to be stored in a release.
type releasedFile struct {
	id   string
	body []byte
}

func scanReleasedFile(rows *sql.Rows) (f releasedFile, err error) {
	return f, rows.Scan(&f.id, &f.body)
}
