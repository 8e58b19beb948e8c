package publish

import (
	"context"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

const (
	sortedBatch = 5000    // rows of one transaction, when they come in the order of their key
	listBytes   = 2 << 20 // of lists in one transaction, about; a row has up to 32 kB
	listRun     = "run"   // the list that holds runs until they are merged
)

// releaseWriter writes one release, in transactions of its own.
type releaseWriter struct {
	service   *PublishService
	actor     store.Actor
	plan      *publicationPlan
	release   *segment.Release
	served    *release.View      // the release to compare with; nil for the first of a catalog
	index     map[string]*runs   // by attribute
	versions  []int64            // of the products, by ordinal from plan.first
	published []int64            // since when these versions are published; 0 is with the release
	sales     [][]any            // rows to write
	before    []servedVersion    // of the products, by handle
	places    []uint32           // in the served release, by handle; for a whole release
	differing []string           // ids of products that differ from the served release
	changed   []uint32           // handles of those that are in both, for a whole release
	changedID []string           // their ids, for a delta
	inserted  int64              // bytes of the transaction that batch runs
	dryRun    bool               // writes nothing: only compares
	changes   dependency.Changes // of the release, compared with the served one
	words     wordIndex
	facet     map[string]*facetBuilder // by attribute
	prices    sparseKeys               // base prices by currency
	orders    sparseKeys               // by attribute
	blocks    blockBuilder
	children  ordinalLists // segment.ListChildren
	required  ordinalLists // segment.ListRequired
	naming    index.NameOrder
	nameKeys  []int64 // sort keys by handle, once all names are known
	idKeys    []int64 // likewise
}

// batch writes in one transaction, and marks the build as alive.
func (w *releaseWriter) batch(ctx context.Context, write func(context.Context, *db.Tx) error) error {
	err := w.service.db.Update(ctx, w.actor, func(ctx context.Context, t *db.Tx) error {
		w.inserted = 0 // it may run again
		if err := t.PrepareBulk(ctx); err != nil {
			return err
		}
		n, err := t.Exec(ctx, `UPDATE release SET touched_at = `+w.service.db.ClockSQL()+` WHERE id = $1 AND state = $2`, w.release.ID, catalog.ReleaseBuilding)
		if err != nil {
			return err
		}
		if n == 0 {
			return errSwept
		}
		return write(ctx, t)
	})
	if err == nil {
		w.release.Bytes += w.inserted
		db.Throttle(ctx)
	}
	return err
}

// insert inserts rows in a transaction of batch, and counts their bytes.
func (w *releaseWriter) insert(ctx context.Context, t *db.Tx, table string, columns []string, rows [][]any) error {
	for _, row := range rows {
		for _, value := range row {
			switch v := value.(type) {
			case []byte:
				w.inserted += int64(len(v))
			case string:
				w.inserted += int64(len(v))
			default:
				w.inserted += 8
			}
		}
	}
	return t.InsertRows(ctx, table, columns, rows)
}

// chunkRowSize returns the approximate size of a row of release_chunk, in bytes.
func chunkRowSize(row []any) int { return 128 + len(row[4].([]byte)) }

// writeChunks writes rows of lists, about listBytes in one transaction.
func (w *releaseWriter) writeChunks(ctx context.Context, rows [][]any) error {
	for len(rows) > 0 {
		n, size := 1, chunkRowSize(rows[0])
		for n < len(rows) && size < listBytes {
			size += chunkRowSize(rows[n])
			n++
		}
		if err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			return w.insert(ctx, t, "release_chunk", []string{"release_id", "list", "sort", "chunk", "body"}, rows[:n])
		}); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
