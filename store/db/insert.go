package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Inserter inserts many rows with a few multi-row statements, whose texts are built
// on first use.
type Inserter struct {
	columns    int // of a row
	statements [len(insertSizes)]func() string
}

var insertSizes = [...]int{512, 128, 32, 8, 4, 2, 1}

// NewInserter inserts into columns of table. clause is appended, for example
// ON CONFLICT DO NOTHING.
func NewInserter(table string, columns []string, clause string) *Inserter {
	i := &Inserter{columns: len(columns)}
	for n, rows := range insertSizes {
		i.statements[n] = sync.OnceValue(func() string { return InsertSQL(table, columns, rows) + clause })
	}
	return i
}

// Insert writes n rows and returns how many were inserted or changed. row appends the
// values of row n.
func (t *Tx) Insert(ctx context.Context, i *Inserter, n int, row func(values []any, n int) []any) (changed int64, err error) {
	uninterrupted := ctx
	if t.db.dialect.SingleWriter() { // SQLite's driver starts a goroutine for each statement that may be interrupted
		uninterrupted = context.WithoutCancel(ctx)
	}
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
		if err := ctx.Err(); err != nil {
			return changed, err
		}
		written, err := t.Exec(uninterrupted, i.statements[size](), values...)
		if err != nil {
			return changed, err
		}
		changed += written
	}
	return changed, nil
}

// InsertRows inserts rows, several a statement.
func (t *Tx) InsertRows(ctx context.Context, table string, columns []string, rows [][]any) error {
	return t.InsertRowsOnConflict(ctx, table, columns, "", rows)
}

// InsertRowsOnConflict is InsertRows with a clause to append, such as ON CONFLICT.
func (t *Tx) InsertRowsOnConflict(ctx context.Context, table string, columns []string, clause string, rows [][]any) error {
	for len(rows) > 0 {
		n := min(len(rows), maxInsertRows)
		if _, err := t.Exec(ctx, InsertSQL(table, columns, n)+clause, slices.Concat(rows[:n]...)...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// maxInsertRows is the number of rows of a statement of InsertRows. Each smaller number has a text of its own, so that a few rows are
// one statement.
const maxInsertRows = 32

// InsertSQL is an INSERT of so many rows into columns of table.
func InsertSQL(table string, columns []string, rows int) string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(columns, ", "), placeholders(rows, len(columns)))
}

// placeholders are the placeholders of a statement's rows: ($1, $2), ($3, $4).
func placeholders(rows, columns int) string {
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
