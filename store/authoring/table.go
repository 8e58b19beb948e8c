package authoring

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Table says how a type of source is kept: its columns, the first of
// which is the key and the last the body. Where the second is sequence, it is
// the order of first import.
type Table struct {
	Name    string
	Columns []string
	keeps   string // a column, beside sequence, that a change leaves as it is
	Row     func(Source, *db.Tx) []any
}

// RowWhole is the row of a table with a key and a body, RowInOrder of one that
// remembers the order of first import between them.
func RowWhole(r Source, _ *db.Tx) []any { return []any{r.Key(), store.Encode(r)} }

func RowInOrder(r Source, _ *db.Tx) []any { return []any{r.Key(), nil, store.Encode(r)} }

// upsert is the statement that writes n rows: new ones, and those whose body
// is different, whose keys it returns. The order of first import and times of
// creation stay.
func (table Table) upsert(n int) string {
	var b strings.Builder
	b.WriteString(db.InsertSQL(table.Name, table.Columns, n))
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET ", table.Columns[0])
	var sets []string
	for _, column := range table.Columns[1:] {
		if column != "sequence" && column != table.keeps {
			sets = append(sets, column+" = excluded."+column)
		}
	}
	fmt.Fprintf(&b, "%s WHERE %s.body <> excluded.body RETURNING %s", strings.Join(sets, ", "), table.Name, table.Columns[0])
	return b.String()
}

// Write writes sources, many rows a statement, and tells how many were new or
// different.
func (table Table) Write(ctx context.Context, w *Writer, sources []Source) (changed int, err error) {
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.Row(resource, w.Tx)
	}
	ids, err := UpsertRows(ctx, w.Tx, table, rows)
	w.Touch(table.Name, ids...)
	return len(ids), err
}

// WriteInOrder writes sources that remember the order of their first import.
func (table Table) WriteInOrder(ctx context.Context, w *Writer, sources []Source) (int, error) {
	sequence, err := w.Sequence(ctx, len(sources))
	if err != nil {
		return 0, err
	}
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.Row(resource, w.Tx)
		rows[i][1] = sequence + int64(i)
	}
	ids, err := UpsertRows(ctx, w.Tx, table, rows)
	w.Touch(table.Name, ids...)
	return len(ids), err
}

// UpsertRows writes in blocks of a few sizes, so that few texts are prepared.
// It returns the keys of the rows that were new or different.
//
// They go in the order of their keys: neighbours are on one page, and two
// imports at once do not wait for each other in a ring.
func UpsertRows(ctx context.Context, t *db.Tx, table Table, rows [][]any) (changed []string, err error) {
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	for _, size := range []int{32, 4, 1} {
		for len(rows) >= size {
			var args []any
			for _, row := range rows[:size] {
				for _, value := range row {
					args = append(args, textual(value))
				}
			}
			keys, err := db.Collect(ctx, t.Session, db.Scalar[string], table.upsert(size), args...)
			if err != nil {
				return changed, err
			}
			changed = append(changed, keys...)
			rows = rows[size:]
		}
	}
	return changed, nil
}

// textual keeps JSON as TEXT on both engines.
func textual(value any) any {
	if text, ok := value.([]byte); ok {
		return string(text)
	}
	return value
}

// CreatedAt is the time a source gives, else now.
func CreatedAt(text string, t *db.Tx) int64 {
	if text == "" {
		return store.Micros(t.Now)
	}
	return store.Micros(store.StoredTime(text))
}

// Dated writes sources in order, of which one that does not say when it was
// made keeps the time of its first import.
func (w *Writer) Dated(ctx context.Context, table Table, sources []Source, created func(Source) string) (changed int, err error) {
	for _, resource := range sources {
		table.keeps = ""
		if created(resource) == "" {
			table.keeps = "created_at"
		}
		n, err := table.WriteInOrder(ctx, w, []Source{resource})
		if err != nil {
			return 0, err
		}
		changed += n
	}
	return changed, nil
}
