package publish

import (
	"context"
	"database/sql"
	"encoding/binary"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// storeDocuments stores the documents that are new, and returns the ids of all.
// Equal documents are stored once, by hash, and releases share them.
func (w *releaseWriter) storeDocuments(ctx context.Context, t *db.Tx, bodies [][]byte) ([]int64, error) {
	hashes := make([][16]byte, len(bodies))
	for i, body := range bodies {
		hashes[i] = catalog.DocumentHash(body)
	}
	known, err := w.findDocuments(ctx, t, hashes)
	if err != nil {
		return nil, err
	}
	var fresh [][]any
	for i, hash := range hashes {
		if _, ok := known[hash]; !ok {
			w.documents++
			known[hash] = w.release.ID<<segment.DocumentBits | w.documents
			w.fresh = append(w.fresh, addedDocument{hash, known[hash]})
			fresh = append(fresh, []any{known[hash], slices.Clone(hash[:]), string(bodies[i])})
		}
	}
	if err := t.InsertRows(ctx, "document", []string{"id", "hash", "body"}, fresh); err != nil {
		return nil, err
	}
	ids := make([]int64, len(hashes))
	for i, hash := range hashes {
		ids[i] = known[hash]
	}
	return ids, nil
}

// readStored notes whether there are no documents yet, so that none is looked up. Those of another
// publication that runs meanwhile are not shared.
func (w *releaseWriter) readStored(ctx context.Context) error {
	_, found, err := db.One(ctx, w.service.db.Reader, db.Scalar[int], `SELECT 1 FROM document_hash LIMIT 1`)
	w.first = !found
	return err
}

func (w *releaseWriter) findDocuments(ctx context.Context, t *db.Tx, hashes [][16]byte) (map[[16]byte]int64, error) {
	type document struct {
		id   int64
		hash []byte
	}
	known := make(map[[16]byte]int64, len(hashes))
	var others [][16]byte
	for _, hash := range store.Unique(hashes) {
		if id, ok := w.shared[hash]; ok {
			known[hash] = id
		} else {
			others = append(others, hash)
		}
	}
	if w.first {
		return known, nil
	}
	err := store.Chunked(others, 512, func(hashes [][16]byte) error {
		values := make([]any, len(hashes))
		for i := range hashes {
			values[i] = hashes[i][:]
		}
		list, args := db.InList(nil, values)
		found, err := db.Collect(ctx, t.Session, func(rows *sql.Rows) (d document, err error) {
			return d, rows.Scan(&d.id, &d.hash)
		}, `SELECT document_id, hash FROM document_hash WHERE hash IN (`+list+`)`, args...)
		for _, d := range found {
			known[[16]byte(d.hash)] = d.id
		}
		return err
	})
	return known, err
}

// writeDocumentHashes lets later releases find the documents that are new with
// this one. It writes in the order of the hashes, which is that of their table.
// If another publication has stored the same text meanwhile, that one is shared.
func (w *releaseWriter) writeDocumentHashes(ctx context.Context) error {
	var rows [][]any
	flush := func() error {
		err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			return t.InsertRowsOnConflict(ctx, "document_hash", []string{"hash", "document_id"}, ` ON CONFLICT (hash) DO NOTHING`, rows)
		})
		rows = rows[:0]
		return err
	}
	if err := w.added.each(ctx, w, func(record []byte) error {
		rows = append(rows, []any{slices.Clone(record[:16]), int64(binary.BigEndian.Uint64(record[16:]))})
		if len(rows) < sortedBatch {
			return nil
		}
		return flush()
	}); err != nil {
		return err
	}
	return flush()
}
