package authoring

import (
	"bufio"
	"context"
	"database/sql"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Exporter writes resources of one snapshot, one a line.
type Exporter struct {
	In    db.Session
	Out   *bufio.Writer
	Lines int
}

// Line writes an encoded resource.
func (e *Exporter) Line(body []byte) error {
	e.Lines++
	if _, err := e.Out.Write(body); err != nil {
		return err
	}
	return e.Out.WriteByte('\n')
}

// ExportBodies exports a table that stores whole resources.
func ExportBodies(table string, key ...string) func(context.Context, *Exporter) error {
	return func(ctx context.Context, e *Exporter) error {
		return db.EachPage(ctx, e.In, table, strings.Join(key, ", ")+", body", key, ScanKeyedBody(len(key)), func(bodies [][]byte) error {
			for _, body := range bodies {
				if err := e.Line(body); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// ScanKeyedBody scans a body after its key columns.
func ScanKeyedBody(columns int) func(*sql.Rows) ([]any, []byte, error) {
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

// WriteAll writes sources, one a line.
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
