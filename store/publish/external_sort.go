package publish

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"database/sql"
	"slices"
	"sort"

	"portico/store/db"
	"portico/store/index"
)

// runs sorts records of one length that do not fit in memory at once. It writes
// sorted runs to the release's own rows, and merges them in the end.
type runs struct {
	name    string // of the release's runs
	width   int    // of a record, in bytes
	pending []byte // records in memory
	blocks  []int  // number of blocks of each run that was written
}

// runBlock is the size of a block, in bytes; runStep is the distance between the
// numbers of the first blocks of two runs, which is more than a run has.
const (
	runBlock = 64 << 10
	runStep  = 1 << 24
)

func (r *runs) add(record []byte) { r.pending = append(r.pending, record...) }

// sort.Interface sorts the records in memory in place.

func (r *runs) Len() int { return len(r.pending) / r.width }

func (r *runs) at(i int) []byte { return r.pending[i*r.width : (i+1)*r.width] }

func (r *runs) Less(i, j int) bool { return bytes.Compare(r.at(i), r.at(j)) < 0 }

func (r *runs) Swap(i, j int) {
	var held [index.EntrySize]byte // the longest record
	a, b := r.at(i), r.at(j)
	copy(held[:], a)
	copy(a, b)
	copy(b, held[:])
}

// spill writes the records in memory as a run.
func (r *runs) spill(ctx context.Context, w *releaseWriter) error {
	sort.Sort(r)
	var rows [][]any
	for block := range slices.Chunk(r.pending, runBlock/r.width*r.width) {
		rows = append(rows, []any{w.release.ID, listRun, r.name, len(r.blocks)*runStep + len(rows), block})
	}
	if err := w.put(ctx, "release_chunk", rows...); err != nil {
		return err
	}
	r.blocks, r.pending = append(r.blocks, len(rows)), nil
	return nil
}

// each calls do with every record, in order, and deletes the runs in the end. A record is valid until do returns.
func (r *runs) each(ctx context.Context, w *releaseWriter, do func(record []byte) error) error {
	sort.Sort(r)
	if len(r.blocks) > 0 {
		if err := w.flush(ctx); err != nil { // the runs that wait
			return err
		}
	}
	merge := &runMerger{}
	for run, blocks := range r.blocks {
		merge.heads = append(merge.heads, &runHead{runs: r, next: run * runStep, end: run*runStep + blocks})
	}
	merge.heads = append(merge.heads, &runHead{runs: r, block: r.pending})
	r.pending = nil
	for _, head := range merge.heads {
		if err := head.fill(ctx, w); err != nil {
			return err
		}
	}
	merge.heads = slices.DeleteFunc(merge.heads, func(h *runHead) bool { return len(h.block) == 0 })
	heap.Init(merge)
	for len(merge.heads) > 0 {
		head := merge.heads[0]
		if err := do(head.block[:r.width]); err != nil {
			return err
		}
		head.block = head.block[r.width:]
		if err := head.fill(ctx, w); err != nil {
			return err
		}
		if len(head.block) == 0 {
			heap.Pop(merge)
		} else {
			heap.Fix(merge, 0)
		}
	}
	return r.drop(ctx, w)
}

// drop deletes the runs.
func (r *runs) drop(ctx context.Context, w *releaseWriter) error {
	for run, blocks := range r.blocks {
		if err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			_, err := t.Exec(ctx, `DELETE FROM release_chunk WHERE release_id = $1 AND list = $2 AND sort = $3 AND chunk BETWEEN $4 AND $5`,
				w.release.ID, listRun, r.name, run*runStep, run*runStep+blocks-1)
			return err
		}); err != nil {
			return err
		}
	}
	r.blocks = nil
	return nil
}

// runHead is the position of the merge in one run.
type runHead struct {
	runs      *runs
	block     []byte // the rest of the block that was read
	next, end int    // the numbers of the other blocks
}

// fill reads the next block once the last one is used up; block stays empty after the last. Blocks are not in the
// snapshot that the publication reads. errSwept if one is missing.
func (h *runHead) fill(ctx context.Context, w *releaseWriter) error {
	if len(h.block) > 0 || h.next == h.end {
		return nil
	}
	block, found, err := db.One(ctx, w.service.db.Reader, func(rows *sql.Rows) (block []byte, err error) {
		return block, rows.Scan(&block)
	}, `SELECT body FROM release_chunk WHERE release_id = $1 AND list = $2 AND sort = $3 AND chunk = $4`, w.release.ID, listRun, h.runs.name, h.next)
	if err != nil || !found {
		return cmp.Or[error](err, errSwept)
	}
	h.block, h.next = block, h.next+1
	return nil
}

// runMerger is a heap of runs by their next record.
type runMerger struct{ heads []*runHead }

func (m *runMerger) Len() int { return len(m.heads) }

func (m *runMerger) Less(i, j int) bool {
	width := m.heads[i].runs.width
	return bytes.Compare(m.heads[i].block[:width], m.heads[j].block[:width]) < 0
}

func (m *runMerger) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

func (m *runMerger) Push(head any) { m.heads = append(m.heads, head.(*runHead)) }

func (m *runMerger) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
