package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// ExportPage is how many rows are read at a time.
const ExportPage = 1000

// Pages reads a table by key, a page at a time. scan returns a row's key with
// the row.
func Pages[T any](ctx context.Context, in Session, table, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	return PagesOf(ctx, in, table, nil, columns, key, scan, do)
}

// PagesOf is pages of the rows that conditions keep. They must leave the order
// to an index, or every page costs as much as all of them.
func PagesOf[T any](ctx context.Context, in Session, table string, kept []Within, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	type keyed struct {
		key  []any
		item T
	}
	text := fmt.Sprintf("SELECT %s FROM %s", columns, table)
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", strings.Join(key, ", "), ExportPage)
	where, values := Listing[T]{Within: kept}.Where(nil)
	var last []any
	for {
		conditions, args := slices.Clone(where), values
		if last != nil {
			var clause string
			clause, args = Beyond(key, last, true, slices.Clone(values))
			conditions = append(conditions, clause)
		}
		query := text + order
		if len(conditions) > 0 {
			query = text + " WHERE " + strings.Join(conditions, " AND ") + order
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
		GiveWay(ctx)
		if len(rows) < ExportPage {
			return nil
		}
	}
}
