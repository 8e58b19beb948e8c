package shop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// sourceTable says how a type of source is kept: its columns, the first of
// which is the key and the last the body. Where the second is sequence, it is
// the order of first import.
type sourceTable struct {
	name    string
	columns []string
	keeps   string // a column, beside sequence, that a change leaves as it is
	row     func(source, *db.Tx) []any
}

func rowWhole(r source, _ *db.Tx) []any { return []any{r.key(), store.Encode(r)} }

func rowInOrder(r source, _ *db.Tx) []any { return []any{r.key(), nil, store.Encode(r)} }

// upsert is the statement that writes n rows: new ones, and those whose body
// is different, whose keys it returns. The order of first import and times of
// creation stay.
func (table sourceTable) upsert(n int) string {
	var b strings.Builder
	b.WriteString(db.InsertText(table.name, table.columns, n))
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET ", table.columns[0])
	var sets []string
	for _, column := range table.columns[1:] {
		if column != "sequence" && column != table.keeps {
			sets = append(sets, column+" = excluded."+column)
		}
	}
	fmt.Fprintf(&b, "%s WHERE %s.body <> excluded.body RETURNING %s", strings.Join(sets, ", "), table.name, table.columns[0])
	return b.String()
}

// write writes sources, many rows a statement, and tells how many were new or
// different.
func (table sourceTable) write(w *importWriter, ctx context.Context, sources []source) (changed int, err error) {
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.row(resource, w.Tx)
	}
	ids, err := upsertRows(w.Tx, ctx, table, rows)
	w.touch(table.name, ids...)
	return len(ids), err
}

// writeInOrder writes sources that remember the order of their first import.
func (table sourceTable) writeInOrder(w *importWriter, ctx context.Context, sources []source) (int, error) {
	sequence, err := w.Sequence(ctx, len(sources))
	if err != nil {
		return 0, err
	}
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.row(resource, w.Tx)
		rows[i][1] = sequence + int64(i)
	}
	ids, err := upsertRows(w.Tx, ctx, table, rows)
	w.touch(table.name, ids...)
	return len(ids), err
}

// upsertRows writes in blocks of a few sizes, so that few texts are prepared.
// It returns the keys of the rows that were new or different.
//
// They go in the order of their keys: neighbours are on one page, and two
// imports at once do not wait for each other in a ring.
func upsertRows(t *db.Tx, ctx context.Context, table sourceTable, rows [][]any) (changed []string, err error) {
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

// createdAt is the time a source gives, else now.
func createdAt(text string, t *db.Tx) int64 {
	if text == "" {
		return store.Micros(t.Now)
	}
	return store.Micros(store.CheckedTime(text))
}
