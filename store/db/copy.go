package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"portico/store"
	"portico/store/db/dialect"
)

// seededTables have rows that migrations wrote into every new database.
var seededTables = map[string]bool{"store_meta": true, "change": true, "counter": true, "settings": true}

// The most rows and bytes of an INSERT.
const (
	copiedRows  = 512
	copiedBytes = 4 << 20
)

// CopyTo writes every row of one snapshot into another database, of either kind and new, in one
// transaction, and returns the number of rows of each table. It fails if the other database has rows of its
// own. After an error nothing is written, except if ANALYZE fails at the end: then rows is not nil.
func (s *DB) CopyTo(ctx context.Context, other *DB, actor store.Actor) (rows map[string]int64, err error) {
	err = s.Snapshot(ctx, func(from Session) error {
		tables, err := copyPlan(ctx, from, s, other)
		if err != nil {
			return err
		}
		return other.Update(ctx, actor, func(ctx context.Context, t *Tx) error {
			rows = map[string]int64{}
			for _, table := range tables {
				if err := table.empty(ctx, t); err != nil {
					return err
				}
				n, err := table.copy(ctx, from, t)
				if err != nil {
					return fmt.Errorf("copy %s: %w", table.name, err)
				}
				rows[table.name] = n
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for name := range rows { // so that the first requests have good plans
		if statement := other.dialect.Analyze(name); statement != "" {
			if _, err := other.pools.Maintenance.ExecContext(ctx, statement); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}

// copiedTable is a table with its columns in both databases.
type copiedTable struct {
	name    string
	columns []string
	boolean []bool // whether the other database has a column of that type
}

// tableColumn is a column that can be written.
type tableColumn struct{ table, name, kind string }

func tableColumns(ctx context.Context, in Session, engine dialect.Dialect) ([]tableColumn, error) {
	return Collect(ctx, in, func(rows *sql.Rows) (c tableColumn, err error) {
		return c, rows.Scan(&c.table, &c.name, &c.kind)
	}, engine.Columns())
}

// copyPlan lists the tables, which both databases must have with the same columns.
func copyPlan(ctx context.Context, from Session, s, other *DB) (tables []copiedTable, err error) {
	wanted, err := tableColumns(ctx, from, s.dialect)
	if err != nil {
		return nil, err
	}
	found, err := tableColumns(ctx, other.Reader, other.dialect)
	if err != nil {
		return nil, err
	}
	for i, c := range wanted {
		if i >= len(found) || found[i].table != c.table || found[i].name != c.name {
			return nil, store.Unprocessablef(nil, "The databases differ at the column %s of %s. Migrate both with this version first.", c.name, c.table)
		}
		if len(tables) == 0 || tables[len(tables)-1].name != c.table {
			tables = append(tables, copiedTable{name: c.table})
		}
		t := &tables[len(tables)-1]
		t.columns, t.boolean = append(t.columns, c.name), append(t.boolean, strings.EqualFold(found[i].kind, "boolean"))
	}
	return tables, nil
}

// empty deletes what migrations wrote. It fails if the table has other rows.
func (c copiedTable) empty(ctx context.Context, t *Tx) error {
	if seededTables[c.name] {
		_, err := t.Exec(ctx, `DELETE FROM `+c.name)
		return err
	}
	_, some, err := One(ctx, t.Session, Scalar[int], `SELECT 1 FROM `+c.name+` LIMIT 1`)
	if err == nil && some {
		err = store.Unprocessablef(nil, "The table %s of the database to copy to has rows. Copy to a new, empty database.", c.name)
	}
	return err
}

// copy writes the rows of a table.
func (c copiedTable) copy(ctx context.Context, from Session, t *Tx) (n int64, err error) {
	rows, err := from.query(ctx, `SELECT `+strings.Join(c.columns, ", ")+` FROM `+c.name)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	insert := NewInserter(c.name, c.columns, "")
	var pending [][]any
	size := 0
	flush := func() error {
		_, err := t.Insert(ctx, insert, len(pending), func(values []any, i int) []any { return append(values, pending[i]...) })
		n += int64(len(pending))
		pending, size = nil, 0
		return err
	}
	for rows.Next() {
		values, places := make([]any, len(c.columns)), make([]any, len(c.columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return n, err
		}
		size += c.convert(values)
		if pending = append(pending, values); len(pending) == copiedRows || size > copiedBytes {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	return n, flush()
}

// convert makes booleans of numbers where a column needs them, and returns the bytes of a row.
func (c copiedTable) convert(values []any) (size int) {
	for i, value := range values {
		switch v := value.(type) {
		case int64:
			if c.boolean[i] {
				values[i] = v != 0
			}
		case string:
			size += len(v)
		case []byte:
			values[i] = append(make([]byte, 0, len(v)), v...) // the driver may use its memory again, and gives nil for no bytes
			size += len(v)
		}
	}
	return size
}
