package store

import "context"

// inserter inserts many rows by a few texts, which are made once: of so many
// rows each.
type inserter struct {
	columns int
	texts   [len(insertSizes)]string
}

var insertSizes = [...]int{512, 128, 32, 8, 4, 2, 1}

// newInserter inserts into a table's columns; the clause says what to do about
// rows that are there.
func newInserter(table string, columns []string, clause string) *inserter {
	i := &inserter{columns: len(columns)}
	for n, rows := range insertSizes {
		i.texts[n] = insertText(table, columns, rows) + clause
	}
	return i
}

// insert writes n rows, whose values row appends, and tells how many were new
// or different.
func (t *tx) insert(ctx context.Context, i *inserter, n int, row func(values []any, n int) []any) (changed int64, err error) {
	values := make([]any, 0, i.columns*min(n, insertSizes[0]))
	for done, size := 0, 0; done < n; {
		if insertSizes[size] > n-done {
			size++
			continue
		}
		values = values[:0]
		for range insertSizes[size] {
			values = row(values, done)
			done++
		}
		written, err := t.exec(ctx, i.texts[size], values...)
		if err != nil {
			return changed, err
		}
		changed += written
	}
	return changed, nil
}
