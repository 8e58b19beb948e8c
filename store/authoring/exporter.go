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
	Lines int      // written so far
	Only  []string // ids of the resources to write, in any order; nil for all
}

// EachRow calls do with the rows of a table: all of them, in the order of key, or those whose
// column id is in Only. Kinds that have a few rows may write all of them in any case.
func EachRow[T any](ctx context.Context, e *Exporter, id, table, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	if e.Only == nil {
		return db.EachPage(ctx, e.In, table, columns, key, scan, do)
	}
	rows, err := db.CollectIn(ctx, e.In, func(rows *sql.Rows) (T, error) {
		_, row, err := scan(rows)
		return row, err
	}, e.Only, `SELECT `+columns+` FROM `+table+` WHERE `+id+` IN ($in)`)
	if err != nil {
		return err
	}
	return do(rows)
}

// Line writes an encoded resource.
func (e *Exporter) Line(body []byte) error {
	e.Lines++
	if _, err := e.Out.Write(body); err != nil {
		return err
	}
	return e.Out.WriteByte('\n')
}

// ExportBodies exports a table that stores whole resources, in the order of key, or of the column
// id.
func ExportBodies(table, id string, key ...string) func(context.Context, *Exporter) error {
	if key == nil {
		key = []string{id}
	}
	return func(ctx context.Context, e *Exporter) error {
		return EachRow(ctx, e, id, table, strings.Join(key, ", ")+", body", key, ScanKeyedBody(len(key)), func(bodies [][]byte) error {
			for _, body := range bodies {
				if err := e.Line(body); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// ScanKeyedBody scans a body after its key columns. Texts of the key become strings, whatever the driver returns.
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

// ExportLines returns a function that writes sources, one a line.
func ExportLines[T Source](e *Exporter) func([]T) error {
	return func(sources []T) error {
		for _, s := range sources {
			if err := e.Line(store.Encode(s)); err != nil {
				return err
			}
		}
		return nil
	}
}
