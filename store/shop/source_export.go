package shop

import (
	"bufio"
	"context"
	"database/sql"
	"strings"

	"portico/store"
	"portico/store/db"
)

// exporter writes resources of one moment, a line each.
type exporter struct {
	in    db.Session
	out   *bufio.Writer
	lines int
}

func (e *exporter) line(body []byte) error {
	e.lines++
	if _, err := e.out.Write(body); err != nil {
		return err
	}
	return e.out.WriteByte('\n')
}

// bodies exports a table that keeps its resources whole.
func bodies(table string, key ...string) func(*exporter, context.Context) error {
	return func(e *exporter, ctx context.Context) error {
		return db.Pages(ctx, e.in, table, strings.Join(key, ", ")+", body", key, keyedBody(len(key)), func(bodies [][]byte) error {
			for _, body := range bodies {
				if err := e.line(body); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// keyedBody scans a body that follows its key columns.
func keyedBody(columns int) func(*sql.Rows) ([]any, []byte, error) {
	return func(rows *sql.Rows) ([]any, []byte, error) {
		var body []byte
		key, places := make([]any, columns), make([]any, columns)
		for i := range key {
			places[i] = &key[i]
		}
		err := rows.Scan(append(places, &body)...)
		for i := range key {
			if text, ok := key[i].([]byte); ok {
				key[i] = string(text)
			}
		}
		return key, body, err
	}
}

// writeAll writes sources, a line each.
func writeAll[T source](e *exporter) func([]T) error {
	return func(sources []T) error {
		for _, s := range sources {
			if err := e.line(store.Encode(s)); err != nil {
				return err
			}
		}
		return nil
	}
}
