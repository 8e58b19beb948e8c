package shop

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// exportPage is how many rows are read at a time.
const exportPage = 1000

// pages reads a table by key, a page at a time. scan returns a row's key with
// the row.
func pages[T any](ctx context.Context, in session, table, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	return pagesOf(ctx, in, table, nil, columns, key, scan, do)
}

// pagesOf is pages of the rows that conditions keep. They must leave the order
// to an index, or every page costs as much as all of them.
func pagesOf[T any](ctx context.Context, in session, table string, kept []within, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	type keyed struct {
		key  []any
		item T
	}
	text := fmt.Sprintf("SELECT %s FROM %s", columns, table)
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", strings.Join(key, ", "), exportPage)
	where, values := listing[T]{within: kept}.where(nil)
	var last []any
	for {
		conditions, args := slices.Clone(where), values
		if last != nil {
			var clause string
			clause, args = beyond(key, last, true, slices.Clone(values))
			conditions = append(conditions, clause)
		}
		query := text + order
		if len(conditions) > 0 {
			query = text + " WHERE " + strings.Join(conditions, " AND ") + order
		}
		rows, err := collect(ctx, in, func(rows *sql.Rows) (k keyed, err error) {
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
		giveWay(ctx)
		if len(rows) < exportPage {
			return nil
		}
	}
}
