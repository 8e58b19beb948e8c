package publish

import (
	"context"
	"maps"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/publish/compare"
	"portico/store/release"
	"portico/store/release/segment"
)

const (
	sortedBatch = 5000    // rows of one transaction, when they come in the order of their key
	listBytes   = 2 << 20 // of rows in one transaction, about; a row of a list has up to 32 kB
	listRun     = "run"   // the list that holds runs until they are merged
)

// releaseWriter writes one release, in transactions of its own.
type releaseWriter struct {
	service    *Service
	actor      store.Actor
	plan       *publicationPlan
	release    *segment.Release
	served     *release.View                     // the release to compare with; nil for the first of a catalog
	index      map[string]*runs                  // by attribute
	versions   []int64                           // of the products, by ordinal from plan.first
	published  []int64                           // since when these versions are published; 0 is with the release
	names      []string                          // of the products of the last chunk
	rows       map[string][][]any                // to write, by table
	waiting    int                               // number of rows
	size       int64                             // bytes of rows
	before     []compare.ProductVersion          // in the served release, of the products that the release holds itself, by handle
	others     map[string]compare.ProductVersion // likewise of others that may differ, by id
	compared   *compare.Comparison               // with the served release
	paths      pathChanges                       // from the served release to this one
	ownFiles   map[string]string                 // the texts of the files of a delta, by id
	found      map[string]compare.FoundBy        // by id: what the products of a delta are found by
	dryRun     bool                              // writes nothing: only compares
	everything bool                              // so much differs that it is not listed
	keys       map[store.SortBy]segment.Keys     // of the parent, as far as read
	changes    dependency.Changes                // of the release, compared with the served one
	words      wordIndex
	facet      map[string]*facetBuilder // by attribute
	prices     sparseKeys               // base prices by currency
	currencies map[string]bool          // in which the products that the release holds itself have a price or a sale
	orders     sparseKeys               // by attribute
	blocks     blockBuilder
	children   ordinalLists    // segment.ListChildren
	required   ordinalLists    // segment.ListRequired
	naming     index.NameOrder // until nameKeys are known
	nameKeys   []int64         // sort keys by handle, once all names are known
	idKeys     []int64         // sort keys by handle
}

// columns are the columns of the tables that hold parts of releases.
var columns = map[string][]string{
	"release_block": {"id", "body"},
	"release_place": {"release_id", "product_id", "ordinal"},
	"release_sale":  {"release_id", "currency", "ordinal", "pricebook_id", "sales"},
	"release_node": {"release_id", "ordinal", "id", "kind", "name", "slug",
		"description", "hierarchy_id", "parent_id", "created_at", "updated_at", "published_at", "seo_title", "seo_description", "texts", "position", "main_image_id", "attributes"},
	"release_file":   {"release_id", "file_id", "body"},
	"release_list":   {"release_id", "list", "total", "curated", "parts", "since"},
	"release_chunk":  {"release_id", "list", "sort", "chunk", "body"},
	"release_index":  {"release_id", "attribute", "chunk", "body"},
	"release_word":   {"release_id", "chunk", "body"},
	"release_facet":  {"release_id", "attribute", "chunk", "body"},
	"release_change": {"release_id", "against_id", "body"},
	"path_change":    {"catalog_id", "slug", "turn", "above_id", "kind", "target_id", "came"},
}

// put adds rows to write, and writes all that wait once there are enough for a transaction. So a delta of a few products
// takes one transaction, with few statements for each table. A dry run writes nothing.
func (w *releaseWriter) put(ctx context.Context, table string, rows ...[]any) error {
	if w.dryRun {
		return nil
	}
	for len(rows) > 0 {
		if w.rows == nil {
			w.rows = map[string][][]any{}
		}
		n := 0
		for n < len(rows) && w.size < listBytes && w.waiting < sortedBatch {
			w.size, w.waiting, n = w.size+sizeOf(rows[n]), w.waiting+1, n+1
		}
		w.rows[table], rows = append(w.rows[table], rows[:n]...), rows[n:]
		if w.size >= listBytes || w.waiting >= sortedBatch {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizeOf returns the bytes of a row, about.
func sizeOf(row []any) (n int64) {
	for _, value := range row {
		switch v := value.(type) {
		case []byte:
			n += int64(len(v))
		case string:
			n += int64(len(v))
		default:
			n += 8
		}
	}
	return n
}

// flushWhole writes the rows that wait if the release is whole, because findChanges reads them from the database. What a delta
// holds itself is in memory.
func (w *releaseWriter) flushWhole(ctx context.Context) error {
	if w.plan.delta != nil {
		return nil
	}
	return w.flush(ctx)
}

// flush writes the rows that wait, in one transaction, and adds their bytes to the release.
func (w *releaseWriter) flush(ctx context.Context) error {
	if w.waiting == 0 {
		return nil
	}
	if err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
		for _, table := range slices.Sorted(maps.Keys(w.rows)) {
			if err := t.InsertRows(ctx, table, columns[table], w.rows[table]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	w.release.Bytes += w.size
	w.rows, w.size, w.waiting = nil, 0, 0
	return nil
}

// batch calls write in one transaction, and marks the build as alive. errSwept if a sweep deleted the release.
func (w *releaseWriter) batch(ctx context.Context, write func(context.Context, *db.Tx) error) error {
	err := w.service.db.Update(ctx, w.actor, func(ctx context.Context, t *db.Tx) error {
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
		db.Throttle(ctx)
	}
	return err
}

// ordinalLists collects lists of numbers of some products, as segment.ListChildren has them. Products come in order.
type ordinalLists [][]uint32 // by chunk

// add adds the list of a product: its ordinal, the length of the list, and the list. A list is never divided between chunks.
func (l *ordinalLists) add(ordinal int, list []uint32) {
	if n := len(*l); n == 0 || len((*l)[n-1]) >= segment.ChunkSize {
		*l = append(*l, nil)
	}
	last := &(*l)[len(*l)-1]
	*last = append(append(*last, uint32(ordinal), uint32(len(list))), list...)
}

// rows returns the rows of a list, one at least: an empty one tells readers that the layer is not being deleted.
func (l ordinalLists) rows(releaseID int64, list string) [][]any {
	rows := [][]any{{releaseID, list, "", 0, []byte{}}}
	for _, packed := range l {
		rows = append(rows, []any{releaseID, list, "", len(rows), index.PackOrdinals(packed)})
	}
	return rows
}
