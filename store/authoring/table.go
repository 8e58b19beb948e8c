package authoring

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"portico/store"
	"portico/store/db"
)

// Table describes how a kind of source is stored. The first column is the key, the last the
// body. A second column called sequence is the order of first import.
type Table struct {
	Name    string
	Columns []string
	Row     func(Source, *db.Tx) []any // values of Columns
}

// RowWhole is the row of a table with a key and a body.
func RowWhole(r Source, _ *db.Tx) []any { return []any{r.Key(), store.Encode(r)} }

// RowInOrder is RowWhole with a sequence in between, which Write sets.
func RowInOrder(r Source, _ *db.Tx) []any { return []any{r.Key(), nil, store.Encode(r)} }

// upsert is a statement that inserts n rows or updates those with another body, and returns
// their keys. It keeps sequence.
func (table Table) upsert(n int) string {
	var b strings.Builder
	b.WriteString(db.InsertSQL(table.Name, table.Columns, n))
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET ", table.Columns[0])
	var sets []string
	for _, column := range table.Columns[1:] {
		if column != "sequence" {
			sets = append(sets, column+" = excluded."+column)
		}
	}
	fmt.Fprintf(&b, "%s WHERE %s.body <> excluded.body RETURNING %s", strings.Join(sets, ", "), table.Name, table.Columns[0])
	return b.String()
}

// Write writes sources and returns the ids of new or changed ones.
func (table Table) Write(ctx context.Context, w *Writer, sources []Source) (changed []string, err error) {
	var sequence int64
	ordered := table.Columns[1] == "sequence"
	if ordered {
		if sequence, err = w.Sequence(ctx, len(sources)); err != nil {
			return nil, err
		}
	}
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.Row(resource, w.Tx)
		if ordered {
			rows[i][1] = sequence + int64(i)
		}
	}
	changed, err = UpsertRows(ctx, w.Tx, table, rows)
	w.Touch(table.Name, changed...)
	return changed, err
}

// UpsertRows writes rows and returns the keys of new or changed ones. It writes in the order
// of keys, so that concurrent imports do not deadlock, and in blocks of a few sizes, so that
// few statements are prepared.
func UpsertRows(ctx context.Context, t *db.Tx, table Table, rows [][]any) (changed []string, err error) {
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	args, statement, size := make([]any, 0, 32*len(table.Columns)), "", 0
	err = store.InBlocks(rows, 32, func(rows [][]any) error {
		if len(rows) != size {
			statement, size = table.upsert(len(rows)), len(rows)
		}
		args = args[:0]
		for _, row := range rows {
			for _, value := range row {
				args = append(args, jsonText(value))
			}
		}
		keys, err := db.Collect(ctx, t.Session, db.Scalar[string], statement, args...)
		changed = append(changed, keys...)
		return err
	})
	return changed, err
}

// jsonText stores JSON as TEXT in both databases. The text shares its bytes, which nobody changes.
func jsonText(value any) any {
	if text, ok := value.([]byte); ok {
		return unsafe.String(unsafe.SliceData(text), len(text))
	}
	return value
}
