package stock

import (
	"hash/maphash"
	"math"
	"time"

	"portico/store"
)

// stockCells are stock records packed into memory, in the order of their
// products' ids: some 90 bytes each where ids have 36, and no pointer among
// them for the collector to follow. The cell of a record that was deleted stays,
// so that no earlier state of it comes back, and is in no list.
//
// They have no lock of their own; liveStock guards them.
type stockCells struct {
	seed  maphash.Seed
	table []uint32 // by the hash of its id, a cell's place plus one; the length is a power of two
	pages [][]stockCell
	texts [][]byte // ids, end to end
	order cellOrder
	count int // cells
	gone  int // of them, those of records that were deleted

	created, updated int64 // the earliest creation and the latest change, in microseconds
	unsure           bool  // of these, since a record that made one of them has changed
}

// stockCell is one record.
type stockCell struct {
	text                 uint32 // which of the texts has its id
	start                uint16 // where in there
	length               uint8
	deleted              bool
	revision             uint32 // its lowest bits; of two states the newer is less than half a round ahead
	available, allocated int32
	created, updated     int64 // unix microseconds
}

const (
	cellPage  = 1024
	textBlock = 1 << 16
	cellBytes = 40 + 4 + 8 // the cell, its place in the order, and its share of the table
)

func newStockCells() *stockCells {
	return &stockCells{seed: maphash.MakeSeed(), table: make([]uint32, 64), created: math.MaxInt64, updated: math.MinInt64}
}

// bytes is how much memory the cells take, about.
func (c *stockCells) bytes() int { return c.count*cellBytes + len(c.texts)*textBlock }

func (c *stockCells) at(place uint32) *stockCell { return &c.pages[place/cellPage][place%cellPage] }

// id is a cell's, in memory that never changes.
func (c *stockCells) id(place uint32) []byte {
	cell := c.at(place)
	return c.texts[cell.text][cell.start : int(cell.start)+int(cell.length)]
}

// records is how many records there are.
func (c *stockCells) records() int { return c.count - c.gone }

// find returns the cell of a product's record, or nil.
func (c *stockCells) find(id string) *stockCell {
	if cell, _ := c.lookup(id); cell != nil && !cell.deleted {
		return cell
	}
	return nil
}

// lookup returns the cell of a product, of a deleted record too, and its place;
// or nil.
func (c *stockCells) lookup(id string) (*stockCell, uint32) {
	place := c.table[c.slot(id)]
	if place == 0 {
		return nil, 0
	}
	return c.at(place - 1), place - 1
}

// slot is where the table has an id, or would have it.
func (c *stockCells) slot(id string) int {
	mask := len(c.table) - 1
	slot := int(maphash.String(c.seed, id)) & mask
	for c.table[slot] > 0 && string(c.id(c.table[slot]-1)) != id {
		slot = (slot + 1) & mask
	}
	return slot
}

// put takes a record in, unless the same or a newer state of it is there.
func (c *stockCells) put(row stockRow) {
	fresh := cellOf(&row.Stock)
	fresh.revision, fresh.deleted = uint32(row.revision), row.deleted
	if cell, place := c.lookup(row.ProductID); cell == nil {
		c.add(row.ProductID, fresh)
	} else {
		if int32(fresh.revision-cell.revision) <= 0 {
			return
		}
		c.unsure = c.unsure || cell.created == c.created && (fresh.deleted || fresh.created > cell.created) ||
			cell.updated == c.updated && (fresh.deleted || fresh.updated < cell.updated)
		switch {
		case fresh.deleted && !cell.deleted:
			c.order.remove(c, row.ProductID)
			c.gone++
		case cell.deleted && !fresh.deleted:
			c.order.add(c, place, row.ProductID)
			c.gone--
		}
		fresh.text, fresh.start = cell.text, cell.start
		*cell = fresh
	}
	if fresh.deleted {
		return
	}
	c.created, c.updated = min(c.created, fresh.created), max(c.updated, fresh.updated)
}

func (c *stockCells) add(id string, cell stockCell) {
	if 4*(c.count+1) > 3*len(c.table) {
		c.widen()
	}
	last := len(c.texts) - 1
	if last < 0 || len(c.texts[last])+len(id) > textBlock {
		c.texts = append(c.texts, make([]byte, 0, textBlock))
		last++
	}
	cell.text, cell.start = uint32(last), uint16(len(c.texts[last]))
	c.texts[last] = append(c.texts[last], id...)
	if c.count%cellPage == 0 {
		c.pages = append(c.pages, make([]stockCell, cellPage))
	}
	place := uint32(c.count)
	c.count++
	*c.at(place) = cell
	c.table[c.slot(id)] = place + 1
	if cell.deleted {
		c.gone++
		return
	}
	c.order.add(c, place, id)
}

// widen doubles the table.
func (c *stockCells) widen() {
	c.table = make([]uint32, 2*len(c.table))
	for place := range uint32(c.count) {
		c.table[c.slot(string(c.id(place)))] = place + 1
	}
}

// settle finds the times of the list anew where they are unsure.
func (c *stockCells) settle() {
	if !c.unsure {
		return
	}
	c.created, c.updated, c.unsure = math.MaxInt64, math.MinInt64, false
	for place := range uint32(c.count) {
		cell := c.at(place)
		if cell.deleted {
			continue
		}
		c.created, c.updated = min(c.created, cell.created), max(c.updated, cell.updated)
	}
}

// times are the earliest creation and the latest change; the zero time of
// none.
func (c *stockCells) times() (created, updated time.Time) {
	if c.records() == 0 {
		return time.Time{}, time.Time{}
	}
	return store.FromMicros(c.created), store.FromMicros(c.updated)
}

// cellOf is a record as a cell, but for where its id is.
func cellOf(s *Stock) stockCell {
	return stockCell{length: uint8(len(s.ProductID)), available: int32(s.Available), allocated: int32(s.Allocated), created: store.Micros(s.CreatedAt), updated: store.Micros(s.UpdatedAt)}
}

// stock is the record of a cell, under the id it was asked by.
func (c *stockCell) stock(id string) Stock {
	return Stock{ProductID: id, Available: int(c.available), Allocated: int(c.allocated), CreatedAt: store.FromMicros(c.created), UpdatedAt: store.FromMicros(c.updated)}
}

// column fills in the records of products, in the order of their ids.
func (c *stockCells) column(ids []string, column []*Stock) {
	records := make([]Stock, 0, len(ids))
	for i, id := range ids {
		if cell := c.find(id); cell != nil {
			records = append(records, cell.stock(id))
			column[i] = &records[len(records)-1]
		}
	}
}

// span returns copies of the cells of some ranks, at most a page, in order of
// their ids, and a text of their own that has those.
func (c *stockCells) span(from, to int) (cells []stockCell, ids string) {
	if from >= to {
		return nil, ""
	}
	var places [store.MaxPageLength]uint32
	n := c.order.span(places[:to-from], from)
	cells = make([]stockCell, n)
	var room [4096]byte
	text := room[:0]
	for i, place := range places[:n] {
		cells[i] = *c.at(place)
		cells[i].start = uint16(len(text))
		text = append(text, c.id(place)...)
	}
	return cells, string(text)
}
