package stock

import (
	"hash/maphash"
	"math"
	"sync/atomic"
	"time"

	"portico/store"
)

// stockCells holds stock records packed in memory, in the order of product ids: about 90
// bytes each with ids of 36 bytes, without pointers for the garbage collector. The cell of
// a deleted record stays, so that an older version cannot come back; it is in no list.
// stockCells has no lock; stockCache guards it.
type stockCells struct {
	generation   uint64 // unique in the process
	seed         maphash.Seed
	table        []uint32      // hash table of cell numbers plus one; its length is a power of two
	pages        [][]stockCell // by number: cellPage each
	texts        [][]byte      // ids, concatenated
	order        cellOrder
	count        int    // cells
	deletedCount int    // cells of deleted records
	structure    uint64 // changes when a record is added or removed
	flips        uint64 // changes when a product comes into stock or runs out of it
	changes      uint64 // changes when a record does

	created, updated int64 // earliest creation and latest change, in microseconds
	timesStale       bool  // created and updated must be recomputed
}

// stockCell is one record.
type stockCell struct {
	text                 uint32 // index in texts
	start                uint16 // position of the id there
	length               uint8
	deleted              bool
	revision             uint32 // lowest bits; the newer of two versions is less than half a cycle ahead
	available, allocated int32
	created, updated     int64 // unix microseconds
}

const (
	cellPage  = 1024       // cells of a page
	textBlock = 1 << 16    // bytes of a block of texts: stockCell.start has 16 bits
	cellBytes = 40 + 4 + 8 // the cell, its number in the order, and its share of the table
)

// cellGenerations counts the stockCells of the process.
var cellGenerations atomic.Uint64

func newStockCells() *stockCells {
	return &stockCells{generation: cellGenerations.Add(1), seed: maphash.MakeSeed(), table: make([]uint32, 64), created: math.MaxInt64, updated: math.MinInt64}
}

// bytes is about the memory of the cells.
func (c *stockCells) bytes() int { return c.count*cellBytes + len(c.texts)*textBlock }

// cell returns the cell of a number.
func (c *stockCells) cell(place uint32) *stockCell { return &c.pages[place/cellPage][place%cellPage] }

// id returns the id of a cell, in memory that never changes.
func (c *stockCells) id(place uint32) []byte {
	cell := c.cell(place)
	return c.texts[cell.text][cell.start : int(cell.start)+int(cell.length)]
}

// records is the number of records.
func (c *stockCells) records() int { return c.count - c.deletedCount }

// find returns the cell of a product's record, or nil.
func (c *stockCells) find(id string) *stockCell {
	if cell, _ := c.lookup(id); cell != nil && !cell.deleted {
		return cell
	}
	return nil
}

// lookup returns the cell of a product, even of a deleted record, and its number; or nil.
func (c *stockCells) lookup(id string) (*stockCell, uint32) {
	place := c.table[c.slot(id)]
	if place == 0 {
		return nil, 0
	}
	return c.cell(place - 1), place - 1
}

// slot returns the index of an id in the table, or where to insert it.
func (c *stockCells) slot(id string) int {
	mask := len(c.table) - 1
	slot := int(maphash.String(c.seed, id)) & mask
	for c.table[slot] > 0 && string(c.id(c.table[slot]-1)) != id {
		slot = (slot + 1) & mask
	}
	return slot
}

// put adds a version of a record, unless the cell has the same or a newer one.
func (c *stockCells) put(row stockRow) {
	fresh := cellOf(&row.Stock)
	fresh.revision, fresh.deleted = uint32(row.revision), row.deleted
	if cell, place := c.lookup(row.ProductID); cell == nil {
		c.add(row.ProductID, fresh)
		c.flip(stockCell{deleted: true}, fresh) // there was no record
	} else {
		if int32(fresh.revision-cell.revision) <= 0 { // not newer: only the lowest bits are compared
			return
		}
		// The record that had the earliest or the latest time may have it no longer.
		c.timesStale = c.timesStale || cell.created == c.created && (fresh.deleted || fresh.created > cell.created) ||
			cell.updated == c.updated && (fresh.deleted || fresh.updated < cell.updated)
		switch {
		case fresh.deleted && !cell.deleted:
			c.order.remove(c, row.ProductID)
			c.deletedCount++
			c.structure++
		case cell.deleted && !fresh.deleted:
			c.order.add(c, place, row.ProductID)
			c.deletedCount--
			c.structure++
		}
		c.flip(*cell, fresh)
		fresh.text, fresh.start = cell.text, cell.start
		*cell = fresh
	}
	if fresh.deleted {
		return
	}
	c.created, c.updated = min(c.created, fresh.created), max(c.updated, fresh.updated)
}

// flip counts a change of a record, and one by which its product comes into stock or runs out of it.
func (c *stockCells) flip(before, after stockCell) {
	c.changes++
	if before.inStock() != after.inStock() {
		c.flips++
	}
}

// inStock is store.InStock of the record's product. A deleted record is none, which limits nothing.
func (c *stockCell) inStock() bool { return c.deleted || store.InStock(c.available) }

// add appends the cell of an id that has none.
func (c *stockCells) add(id string, cell stockCell) {
	if 4*(c.count+1) > 3*len(c.table) {
		c.grow()
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
	*c.cell(place) = cell
	c.table[c.slot(id)] = place + 1
	if cell.deleted {
		c.deletedCount++
		return
	}
	c.structure++
	c.order.add(c, place, id)
}

// grow doubles the table.
func (c *stockCells) grow() {
	c.table = make([]uint32, 2*len(c.table))
	for place := range uint32(c.count) {
		c.table[c.slot(string(c.id(place)))] = place + 1
	}
}

// refreshTimes recomputes the times if they are unsure.
func (c *stockCells) refreshTimes() {
	if !c.timesStale {
		return
	}
	c.created, c.updated, c.timesStale = math.MaxInt64, math.MinInt64, false
	for place := range uint32(c.count) {
		cell := c.cell(place)
		if cell.deleted {
			continue
		}
		c.created, c.updated = min(c.created, cell.created), max(c.updated, cell.updated)
	}
}

// times returns the earliest creation and the latest change, or zero times.
func (c *stockCells) times() (created, updated time.Time) {
	if c.records() == 0 {
		return time.Time{}, time.Time{}
	}
	return store.FromMicros(c.created), store.FromMicros(c.updated)
}

// cellOf packs a record, without its id.
func cellOf(s *Stock) stockCell {
	return stockCell{length: uint8(len(s.ProductID)), available: int32(s.Available), allocated: int32(s.Allocated), created: store.Micros(s.CreatedAt), updated: store.Micros(s.UpdatedAt)}
}

// stock unpacks a cell.
func (c *stockCell) stock(id string) Stock {
	return Stock{ProductID: id, Available: int(c.available), Allocated: int(c.allocated), CreatedAt: store.FromMicros(c.created), UpdatedAt: store.FromMicros(c.updated)}
}

// column sets the records of ids, in their order, and records what it read in reads, which may be nil.
func (c *stockCells) column(ids []string, column []*Stock, reads *Reads) {
	records := make([]Stock, 0, len(ids))
	for i, id := range ids {
		if cell, place := c.lookup(id); cell != nil && !cell.deleted {
			reads.record(place, cell.revision)
			records = append(records, cell.stock(id))
			column[i] = &records[len(records)-1]
		}
	}
}

// span copies the cells of ranks from to to, at most a page, and their ids into one text, where start of each is then.
func (c *stockCells) span(from, to int, reads *Reads) (cells []stockCell, ids string) {
	if from >= to {
		return nil, ""
	}
	var places [store.MaxPageLength]uint32
	n := c.order.span(places[:to-from], from)
	cells = make([]stockCell, n)
	var room [4096]byte
	text := room[:0]
	for i, place := range places[:n] {
		cells[i] = *c.cell(place)
		reads.record(place, cells[i].revision)
		cells[i].start = uint16(len(text))
		text = append(text, c.id(place)...)
	}
	return cells, string(text)
}
