package authoring

import (
	"bufio"
	"context"
	"database/sql"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Exporter writes resources of one moment, a line each.
type Exporter struct {
	In    db.Session
	Out   *bufio.Writer
	Lines int
}

// Line writes a resource that is a line already.
func (e *Exporter) Line(body []byte) error {
	e.Lines++
	if _, err := e.Out.Write(body); err != nil {
		return err
	}
	return e.Out.WriteByte('\n')
}

// Bodies exports a table that keeps its resources whole.
func Bodies(table string, key ...string) func(context.Context, *Exporter) error {
	return func(ctx context.Context, e *Exporter) error {
		return db.EachPage(ctx, e.In, table, strings.Join(key, ", ")+", body", key, KeyedBody(len(key)), func(bodies [][]byte) error {
			for _, body := range bodies {
				if err := e.Line(body); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// KeyedBody scans a body that follows its key columns.
func KeyedBody(columns int) func(*sql.Rows) ([]any, []byte, error) {
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

// WriteAll writes sources, a line each.
func WriteAll[T Source](e *Exporter) func([]T) error {
	return func(sources []T) error {
		for _, s := range sources {
			if err := e.Line(store.Encode(s)); err != nil {
				return err
			}
		}
		return nil
	}
}
