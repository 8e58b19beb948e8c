package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// PageRows is the number of rows read at a time.
const PageRows = 1000

// EachPage reads a table in the order of key, a page of PageRows at a time. It calls do with each page; the last one may be empty.
// scan returns a row's key and the row. It throttles between pages.
func EachPage[T any](ctx context.Context, in Session, table, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	return EachPageWhere(ctx, in, table, nil, columns, key, scan, do)
}

// EachPageWhere is EachPage for the rows that meet conditions. An index must provide the order,
// or each page reads the whole table.
func EachPageWhere[T any](ctx context.Context, in Session, table string, conditions []Condition, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	type keyed struct {
		key  []any
		item T
	}
	text := fmt.Sprintf("SELECT %s FROM %s", columns, table)
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", strings.Join(key, ", "), PageRows)
	where, values := Listing[T]{Conditions: conditions}.Where(nil, nil)
	var last []any
	for {
		clauses, args := slices.Clone(where), values
		if last != nil {
			var clause string
			clause, args = KeysetCondition(key, last, true, slices.Clone(values))
			clauses = append(clauses, clause)
		}
		query := text + order
		if len(clauses) > 0 {
			query = text + " WHERE " + strings.Join(clauses, " AND ") + order
		}
		rows, err := Collect(ctx, in, func(rows *sql.Rows) (k keyed, err error) {
			k.key, k.item, err = scan(rows)
			return k, err
		}, query, args...)
		if err != nil {
			return err
		}
		items := make([]T, len(rows))
		for i, row := range rows {
			items[i], last = row.item, row.key
		}
		if err := do(items); err != nil {
			return err
		}
		Throttle(ctx)
		if len(rows) < PageRows {
			return nil
		}
	}
}
