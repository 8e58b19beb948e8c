package stock_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest"
)

// TestStockStatements checks that the number of SQL statements of a read does not depend on how
// much it reads.
func TestStockStatements(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		var products []string
		for i := range 100 {
			products = append(products, fmt.Sprintf("p%02d", i))
		}
		s := storetest.OpenWithStock(t, backend, 1, products...)
		_, err := s.Settings.Get(t.Context()) // cached from now on
		require.NoError(t, err)
		cursor := storetest.StockCursor(t, s, store.Sort{})
		page := func(page store.Page) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := s.Stock.List(ctx, store.ListQuery{Page: page})
				return err
			}
		}
		total := func(first int) func(context.Context) error {
			return func(ctx context.Context) error {
				slice, err := s.Stock.List(ctx, store.ListQuery{Page: store.Page{First: &first}})
				require.NoError(t, err)
				_, err = slice.Total(ctx)
				return err
			}
		}
		byID := func(ids []string) func(context.Context) error {
			return func(ctx context.Context) error { _, err := s.Stock.ByID(ctx, ids); return err }
		}
		ledgers := func(ids []string) func(context.Context) error {
			return func(ctx context.Context) error { _, err := s.Stock.TransactionsByProduct(ctx, ids, 5); return err }
		}
		for _, c := range []struct {
			name        string
			want        int
			small, full func(context.Context) error
		}{
			{"a page", 1, page(store.Page{First: new(1)}), page(store.Page{First: new(100)})},
			{"a page from the end", 1, page(store.Page{Last: new(1)}), page(store.Page{Last: new(100)})},
			{"a page after a cursor", 1, page(store.Page{First: new(1), After: &cursor}), page(store.Page{First: new(100), After: &cursor})},
			{"a page at an offset", 1, page(store.Page{First: new(1), Offset: new(50)}), page(store.Page{First: new(100), Offset: new(50)})},
			{"a page with the total", 2, total(1), total(100)},
			{"records by their ids", 1, byID(products[:1]), byID(products)},
			{"ledgers of products", 1, ledgers(products[:1]), ledgers(products)},
		} {
			t.Run(c.name, func(t *testing.T) {
				for size, read := range map[string]func(context.Context) error{"small": c.small, "full": c.full} {
					ctx, counter := store.CountStatements(t.Context())
					require.NoError(t, read(ctx))
					require.Equal(t, c.want, counter.Count(), "%s: %q", size, counter.Queries())
				}
			})
		}
	})
}
