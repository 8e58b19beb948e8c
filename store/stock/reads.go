package stock

import (
	"context"
	"sync"
)

// Reads records what an operation read of the stock, so that a response that shows it can be
// sent again while Unchanged. It is safe for concurrent use.
type Reads struct {
	mu        sync.Mutex
	cells     uint64 // generation of the cells; 0 before the first read
	structure uint64 // of the cells: which records there are
	times     bool   // the times of all stock were read
	created   int64  // the earliest creation, if times, in microseconds
	updated   int64  // the latest change, if times, in microseconds
	records   []readRecord
	unknown   bool // something was read from the database, or too much
}

// readRecord is a record as it was read.
type readRecord struct{ place, revision uint32 }

// maxReads is the number of records that Reads records: of a response that shows more it is
// not known whether it changed.
const maxReads = 1000

// readRecordBytes is the memory of a readRecord.
const readRecordBytes = 8

type readsKey struct{}

// RecordReads returns a context in which reads of stock are recorded.
func RecordReads(ctx context.Context) (context.Context, *Reads) {
	reads := &Reads{}
	return context.WithValue(ctx, readsKey{}, reads), reads
}

// readsOf returns the record of a context; nil for none, whose methods do nothing.
func readsOf(ctx context.Context) *Reads {
	reads, _ := ctx.Value(readsKey{}).(*Reads)
	return reads
}

// Bytes returns the memory of what is recorded.
func (r *Reads) Bytes() int { return 96 + readRecordBytes*cap(r.records) }

// begin is called before reads from cells of a generation and structure, and returns r. If earlier reads were of others, it
// is not known whether all would be the same again. The caller holds the lock.
func (r *Reads) begin(generation, structure uint64) *Reads {
	if r.cells == 0 {
		r.cells, r.structure = generation, structure
	}
	r.unknown = r.unknown || r.cells != generation || r.structure != structure
	return r
}

// record records a record of the cells by its number.
func (r *Reads) record(place, revision uint32) {
	if r == nil || r.unknown {
		return
	}
	if r.unknown = len(r.records) == maxReads; !r.unknown {
		r.records = append(r.records, readRecord{place, revision})
	}
}

// recordTimes records that the times of all stock were read.
func (r *Reads) recordTimes(created, updated int64) {
	if r == nil {
		return
	}
	r.unknown = r.unknown || r.times && (r.created != created || r.updated != updated)
	r.times, r.created, r.updated = true, created, updated
}

// lose records that something was read from the database.
func (r *Reads) lose() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unknown = true
	}
}
