package stock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestReads reads stock in each way, changes it, and requires that what differs is not unchanged, and
// that what other changes leave alone is.
func TestReads(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		type reader = func(context.Context, *shop.Store) error
		byID := store.ListQuery{}
		readers := map[string]reader{
			"one": func(ctx context.Context, s *shop.Store) error { _, err := s.Stock.Get(ctx, "b"); return err },
			"none": func(ctx context.Context, s *shop.Store) error {
				_, err := s.Stock.ByID(ctx, []string{"n"})
				return err
			},
			"a list": func(ctx context.Context, s *shop.Store) error { _, err := s.Stock.List(ctx, byID); return err },
			"a page": func(ctx context.Context, s *shop.Store) error { _, err := s.Stock.Page(ctx, byID); return err },
			"another page": func(ctx context.Context, s *shop.Store) error {
				one := 1
				_, err := s.Stock.Page(ctx, store.ListQuery{Page: store.Page{First: &one}})
				return err
			},
			"all times": func(ctx context.Context, s *shop.Store) error { _, _, err := s.Stock.Times(ctx); return err },
			"only others": func(ctx context.Context, s *shop.Store) error {
				_, err := s.Stock.ByID(ctx, []string{"a", "c"})
				return err
			},
		}
		create := func(t *testing.T, s *shop.Store) {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, "n", 1)
			require.NoError(t, err)
		}
		for _, change := range []struct {
			name   string
			change func(t *testing.T, s *shop.Store)
			keeps  []string
			renews []string
		}{
			{"nothing", func(*testing.T, *shop.Store) {}, []string{"one", "none", "a list", "a page", "another page", "all times", "only others"},
				[]string{"a page", "another page", "all times"}},
			{"a change", func(t *testing.T, s *shop.Store) { require.NoError(t, storetest.Increment(t.Context(), s, "b")) },
				[]string{"none", "only others"}, []string{"another page", "all times"}},
			{"a new record", create, nil, nil},
			{"a deletion", func(t *testing.T, s *shop.Store) {
				require.NoError(t, s.Stock.Delete(t.Context(), storetest.Actor, "b"))
			}, nil, nil},
		} {
			t.Run(change.name, func(t *testing.T) {
				cached, clock := backend.WithStockCache(), testkit.NewClock(testkit.Noon)
				storetest.OpenWithStock(t, cached, 5, "a", "b", "c")
				s := cached.Open(t, storetest.WithClock(clock))
				storetest.RefreshStock(t, s)
				clock.Advance(time.Second)
				recorded := map[string]*stock.Reads{}
				for name, read := range readers {
					ctx, reads := stock.RecordReads(t.Context())
					require.NoError(t, read(ctx, s))
					require.True(t, s.Stock.Unchanged(reads), name)
					recorded[name] = reads
				}
				change.change(t, s)
				_, updated, err := s.Stock.Times(t.Context())
				require.NoError(t, err)
				for name, reads := range recorded {
					require.Equal(t, slices.Contains(change.keeps, name), s.Stock.Unchanged(reads), name)
					renewed, at := s.Stock.RenewReads(reads)
					require.Equal(t, slices.Contains(change.renews, name), renewed != nil, name)
					if renewed != nil {
						require.Equal(t, updated, at, name)
						require.True(t, s.Stock.Unchanged(renewed), name)
					}
				}
			})
		}
		t.Run("of the database", func(t *testing.T) {
			s := storetest.OpenWithStock(t, backend, 5, "a", "b", "c") // without the cache
			for name, read := range readers {
				ctx, reads := stock.RecordReads(t.Context())
				require.NoError(t, read(ctx, s))
				require.False(t, s.Stock.Unchanged(reads), name)
			}
		})
		t.Run("in an order that the cache does not have", func(t *testing.T) {
			s := storetest.OpenWithStock(t, backend.WithStockCache(), 5, "a", "b", "c")
			storetest.RefreshStock(t, s)
			ctx, reads := stock.RecordReads(t.Context())
			_, err := s.Stock.List(ctx, store.ListQuery{Sort: store.Sort{By: store.SortUpdatedAt}})
			require.NoError(t, err)
			require.False(t, s.Stock.Unchanged(reads))
		})
		t.Run("of a server that no longer hears of changes", func(t *testing.T) {
			s := storetest.OpenWithStock(t, backend.WithStockCache(), 5, "a")
			storetest.RefreshStock(t, s)
			ctx, reads := stock.RecordReads(t.Context())
			_, err := s.Stock.Get(ctx, "a")
			require.NoError(t, err)
			storetest.RefreshStock(t, s) // the records are read anew
			require.False(t, s.Stock.Unchanged(reads))
		})
		t.Run("of nothing", func(t *testing.T) {
			s := storetest.OpenWithStock(t, backend, 5, "a")
			_, reads := stock.RecordReads(t.Context())
			require.True(t, s.Stock.Unchanged(reads))
		})
	})
}
