package stock_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestStockList tests Service.List: any way of paging returns each row once, in order.
func TestStockList(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, testStockList)
}

func testStockList(t *testing.T, backend storetest.Backend) {
	t.Run("an empty list", stocksEmpty(backend))
	t.Run("paging returns each row once, in order", stocksWalk(backend))
	t.Run("a page between two cursors", stocksBetween(backend))
	t.Run("ranges filter and count rows", stocksRanges(backend))
	t.Run("paging during writes returns each row once", stocksUnderWrites(backend))
	t.Run("the list's times", stocksTimes(backend))
	t.Run("reads by IDs", stocksByID(backend))
}

// allSorts returns all orders of a list.
func allSorts() []store.Sort {
	var list []store.Sort
	for _, by := range []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt} {
		list = append(list, store.Sort{By: by}, store.Sort{By: by, Descending: true})
	}
	return list
}

// sortedIDs returns the IDs in the order of the list.
func sortedIDs(rows []stock.Stock, sort store.Sort) []string {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b stock.Stock) int {
		order := strings.Compare(a.ProductID, b.ProductID)
		switch sort.By {
		case store.SortCreatedAt:
			order = cmp.Or(a.CreatedAt.Compare(b.CreatedAt), order)
		case store.SortUpdatedAt:
			order = cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), order)
		}
		if sort.Descending {
			return -order
		}
		return order
	})
	ids := []string{}
	for _, row := range rows {
		ids = append(ids, row.ProductID)
	}
	return ids
}

// drawStocks draws rows, many of which share their times.
func drawStocks(t *rapid.T) []stock.Stock {
	moment := rapid.Map(rapid.IntRange(0, 3), func(n int) time.Time { return testkit.Noon.Add(time.Duration(n) * time.Millisecond) })
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9_-]{1,4}`), 0, 40, rapid.ID[string]).Draw(t, "ids")
	var rows []stock.Stock
	for _, id := range ids {
		rows = append(rows, stock.Stock{ProductID: id, Available: 1, CreatedAt: moment.Draw(t, "created"), UpdatedAt: moment.Draw(t, "updated")})
	}
	return rows
}

func stocksEmpty(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		for _, page := range []store.Page{{}, {First: new(5)}, {Last: new(5)}, {Offset: new(0)}, {Offset: new(7)}} {
			slice, err := s.Stock.List(t.Context(), store.ListQuery{Page: page})
			require.NoError(t, err)
			require.Empty(t, slice.Items)
			require.Empty(t, slice.Cursors())
			require.False(t, slice.HasNext)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Zero(t, total)
		}
	}
}

func stocksWalk(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		rapid.Check(t, func(t *rapid.T) {
			rows := drawStocks(t)
			storetest.ClearStock(t, db)
			storetest.SeedStock(t, db, rows...)
			storetest.RefreshStock(t, s)
			w := pager{s: s, size: rapid.IntRange(1, 12).Draw(t, "page")}
			for _, w.query.Sort = range allSorts() {
				want := sortedIDs(rows, w.query.Sort)
				require.Equal(t, want, w.forwards(t), "forwards by key, %+v", w.query.Sort)
				require.Equal(t, want, w.backwards(t), "backwards by key, %+v", w.query.Sort)
				require.Equal(t, want, w.byOffset(t), "by offset, %+v", w.query.Sort)
			}
		})
	}
}

// pager pages through the whole list.
type pager struct {
	s     *shop.Store
	query store.ListQuery // without a page
	size  int             // rows of a page
}

func (w pager) page(t require.TestingT, page store.Page) *store.Slice[*stock.Stock] {
	query := w.query
	query.Page = page
	slice, err := w.s.Stock.List(context.Background(), query)
	require.NoError(t, err)
	require.LessOrEqual(t, len(slice.Items), w.size)
	require.Len(t, slice.Cursors(), len(slice.Items))
	require.Equal(t, w.size, slice.Limit)
	return slice
}

func (w pager) forwards(t require.TestingT) []string {
	ids, page := []string{}, store.Page{First: &w.size}
	for {
		slice := w.page(t, page)
		ids = append(ids, stockIDs(slice)...)
		require.Equal(t, page.After != nil, slice.HasPrevious)
		if !slice.HasNext {
			return ids
		}
		require.Len(t, slice.Items, w.size, "only the last page may be short")
		page.After = new(slice.Cursors()[w.size-1])
	}
}

func (w pager) backwards(t require.TestingT) []string {
	ids, page := []string{}, store.Page{Last: &w.size}
	for {
		slice := w.page(t, page)
		ids = append(stockIDs(slice), ids...)
		require.Equal(t, page.Before != nil, slice.HasNext)
		if !slice.HasPrevious {
			return ids
		}
		require.Len(t, slice.Items, w.size, "only the first page may be short")
		page.Before = new(slice.Cursors()[0])
	}
}

func (w pager) byOffset(t require.TestingT) []string {
	ids := []string{}
	for {
		slice := w.page(t, store.Page{First: &w.size, Offset: new(len(ids))})
		require.Equal(t, len(ids), slice.Offset)
		require.Equal(t, slice.Offset > 0, slice.HasPrevious)
		ids = append(ids, stockIDs(slice)...)
		if !slice.HasNext {
			total, err := slice.Total(context.Background())
			require.NoError(t, err)
			require.Equal(t, len(ids), total)
			return ids
		}
	}
}

func stockIDs(slice *store.Slice[*stock.Stock]) []string {
	ids := []string{}
	for _, stock := range slice.Items {
		ids = append(ids, stock.ProductID)
	}
	return ids
}

func stocksBetween(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		rapid.Check(t, func(t *rapid.T) {
			rows := drawStocks(t)
			if len(rows) == 0 {
				t.Skip("no cursors")
			}
			storetest.ClearStock(t, db)
			storetest.SeedStock(t, db, rows...)
			storetest.RefreshStock(t, s)
			sort := rapid.SampledFrom(allSorts()).Draw(t, "sort")
			want := sortedIDs(rows, sort)
			all := pager{s: s, size: 100, query: store.ListQuery{Sort: sort}}.page(t, store.Page{First: new(100)})
			after := rapid.IntRange(0, len(rows)-1).Draw(t, "after")
			before := rapid.IntRange(after, len(rows)-1).Draw(t, "before")
			size := rapid.IntRange(1, 12).Draw(t, "page")
			w := pager{s: s, size: size, query: store.ListQuery{Sort: sort}}
			window := want[min(after+1, before):before]
			forward := w.page(t, store.Page{First: &size, After: &all.Cursors()[after], Before: &all.Cursors()[before]})
			require.Equal(t, window[:min(size, len(window))], stockIDs(forward))
			backward := w.page(t, store.Page{Last: &size, After: &all.Cursors()[after], Before: &all.Cursors()[before]})
			require.Equal(t, window[max(0, len(window)-size):], stockIDs(backward))
		})
	}
}

func stocksRanges(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		rapid.Check(t, func(t *rapid.T) {
			rows := drawStocks(t)
			storetest.ClearStock(t, db)
			storetest.SeedStock(t, db, rows...)
			storetest.RefreshStock(t, s)
			attribute := rapid.SampledFrom([]string{"id", "created_at", "updated_at"}).Draw(t, "attribute")
			operator := rapid.SampledFrom([]string{"gt", "ge", "lt", "le"}).Draw(t, "operator")
			value := rapid.StringMatching(`[A-Za-z0-9_-]{1,2}`).Draw(t, "id")
			moment := testkit.Noon.Add(time.Duration(rapid.IntRange(-1, 4).Draw(t, "moment")) * time.Millisecond)
			if attribute != "id" {
				value = moment.Format("2006-01-02T15:04:05.000")
			}
			bound, err := store.NewRange(attribute, operator, value)
			require.NoError(t, err)
			left := slices.DeleteFunc(slices.Clone(rows), func(row stock.Stock) bool {
				order := strings.Compare(row.ProductID, value)
				switch attribute {
				case "created_at":
					order = row.CreatedAt.Compare(moment)
				case "updated_at":
					order = row.UpdatedAt.Compare(moment)
				}
				return !satisfies(order, operator)
			})
			sort := rapid.SampledFrom(allSorts()).Draw(t, "sort")
			w := pager{s: s, size: rapid.IntRange(1, 12).Draw(t, "page"), query: store.ListQuery{Sort: sort, Ranges: []store.Range{bound}}}
			want := sortedIDs(left, sort)
			require.Equal(t, want, w.forwards(t))
			require.Equal(t, want, w.backwards(t))
			require.Equal(t, want, w.byOffset(t), "rows and total")
		})
	}
}

// satisfies reports whether a comparison's result satisfies operator.
func satisfies(order int, operator string) bool {
	switch operator {
	case "gt":
		return order > 0
	case "ge":
		return order >= 0
	case "lt":
		return order < 0
	}
	return order <= 0
}

func stocksTimes(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		created, updated, err := s.Stock.Times(t.Context())
		require.NoError(t, err)
		require.True(t, created.IsZero() && updated.IsZero(), "an empty list")
		storetest.SeedStock(t, backend.SQL(t),
			stock.Stock{ProductID: "a", CreatedAt: testkit.Noon.Add(time.Hour), UpdatedAt: testkit.Noon.Add(9 * time.Hour)},
			stock.Stock{ProductID: "b", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon.Add(2 * time.Hour)})
		storetest.RefreshStock(t, s)
		created, updated, err = s.Stock.Times(t.Context())
		require.NoError(t, err)
		require.Equal(t, testkit.Noon, created)
		require.Equal(t, testkit.Noon.Add(9*time.Hour), updated)
	}
}

func stocksByID(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 3, "a", "b", "c")
		stocks, err := s.Stock.ByID(t.Context(), []string{"c", "ghost", "a", "c"})
		require.NoError(t, err)
		row := func(id string) *stock.Stock {
			return &stock.Stock{ProductID: id, Available: 3, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon}
		}
		require.Equal(t, map[string]*stock.Stock{"a": row("a"), "c": row("c")}, stocks)
		stocks, err = s.Stock.ByID(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, stocks)
		many := make([]string, 1300)
		for i := range many {
			many[i] = "ghost"
		}
		stocks, err = s.Stock.ByID(t.Context(), append(many, "b"))
		require.NoError(t, err)
		require.Equal(t, map[string]*stock.Stock{"b": row("b")}, stocks)
	}
}
