package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// inserter inserts many rows by a few texts, of so many rows each, which are
// made once, by who first needs them: a command that writes nothing waits for
// none.
type inserter struct {
	columns int
	texts   [len(insertSizes)]func() string
}

var insertSizes = [...]int{512, 128, 32, 8, 4, 2, 1}

// NewInserter inserts into a table's columns; the clause says what to do about
// rows that are there.
func NewInserter(table string, columns []string, clause string) *inserter {
	i := &inserter{columns: len(columns)}
	for n, rows := range insertSizes {
		i.texts[n] = sync.OnceValue(func() string { return InsertText(table, columns, rows) + clause })
	}
	return i
}

// Insert writes n rows, whose values row appends, and tells how many were new
// or different.
func (t *Tx) Insert(ctx context.Context, i *inserter, n int, row func(values []any, n int) []any) (changed int64, err error) {
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
		written, err := t.Exec(ctx, i.texts[size](), values...)
		if err != nil {
			return changed, err
		}
		changed += written
	}
	return changed, nil
}

// InsertRows inserts many rows a statement.
func (t *Tx) InsertRows(ctx context.Context, table string, columns []string, rows [][]any) error {
	return t.InsertRowsBut(ctx, table, columns, "", rows)
}

// InsertRowsBut inserts with a clause for what to do about rows that are
// there.
func (t *Tx) InsertRowsBut(ctx context.Context, table string, columns []string, clause string, rows [][]any) error {
	for _, size := range []int{32, 4, 1} {
		text := InsertText(table, columns, size) + clause
		for len(rows) >= size {
			if _, err := t.Exec(ctx, text, slices.Concat(rows[:size]...)...); err != nil {
				return err
			}
			rows = rows[size:]
		}
	}
	return nil
}

// InsertText inserts so many rows into a table's columns.
func InsertText(table string, columns []string, rows int) string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(columns, ", "), values(rows, len(columns)))
}

// values are the places of a statement's rows: ($1, $2), ($3, $4).
func values(rows, columns int) string {
	list := make([]string, rows)
	for row := range rows {
		places := make([]string, columns)
		for column := range columns {
			places[column] = "$" + strconv.Itoa(row*columns+column+1)
		}
		list[row] = "(" + strings.Join(places, ", ") + ")"
	}
	return strings.Join(list, ", ")
}
