package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
)

func productPages(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, h.Store, release.ShopperContext{})
		cursor := h.cursorAt(t, v, release.ProductQuery{}, 1)
		for _, c := range []struct {
			name   string
			page   store.Page
			code   store.Code // empty if the page is valid
			member string
			words  string
		}{
			{"nothing asked", store.Page{}, "", "", ""},
			{"first 1", store.Page{First: new(1)}, "", "", ""},
			{"first 100", store.Page{First: new(100)}, "", "", ""},
			{"first 0", store.Page{First: new(0)}, store.Unprocessable, "first", "between 1 and 100, got 0"},
			{"first 101", store.Page{First: new(101)}, store.Unprocessable, "first", "between 1 and 100, got 101"},
			{"last 0", store.Page{Last: new(0)}, store.Unprocessable, "last", "between 1 and 100, got 0"},
			{"last 101", store.Page{Last: new(101)}, store.Unprocessable, "last", "between 1 and 100, got 101"},
			{"first and last", store.Page{First: new(1), Last: new(1)}, store.Invalid, "last", "first"},
			{"offset 10000", store.Page{Offset: new(10000)}, "", "", ""},
			{"offset 10001", store.Page{Offset: new(10001)}, store.Unprocessable, "offset", "between 0 and 10000, got 10001; to read further"},
			{"offset -1", store.Page{Offset: new(-1)}, store.Unprocessable, "offset", "between 0 and 10000, got -1"},
			{"offset and after", store.Page{Offset: new(0), After: &cursor}, store.Invalid, "offset", "cursor"},
			{"offset and before", store.Page{Offset: new(0), Before: &cursor}, store.Invalid, "offset", "cursor"},
			{"offset and last", store.Page{Offset: new(0), Last: new(1)}, store.Invalid, "offset", "last"},
			{"after and before", store.Page{After: &cursor, Before: &cursor}, "", "", ""},
			{"after no cursor", store.Page{After: new("tomorrow")}, store.Invalid, "after", "not a cursor"},
			{"before no cursor", store.Page{Before: new("\x00")}, store.Invalid, "before", "not a cursor"},
			{"after base64 of text", store.Page{After: new("aGVsbG8")}, store.Invalid, "after", "not a cursor"},
			{"after an empty text", store.Page{After: new("")}, store.Invalid, "after", "not a cursor"},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, products := v.Products(t.Context(), release.ProductQuery{Page: c.page})
				_, nodes := v.Nodes(t.Context(), release.NodeQuery{Page: c.page})
				if c.code != "" {
					storetest.RequireError(t, products, c.code, c.member, c.words)
					storetest.RequireError(t, nodes, c.code, c.member, c.words)
					return
				}
				require.NoError(t, products)
				if c.page.After == nil && c.page.Before == nil {
					require.NoError(t, nodes)
				}
			})
		}
		t.Run("beyond the end", func(t *testing.T) {
			slice, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{Offset: new(5000)}})
			require.NoError(t, err)
			require.Empty(t, slice.Items)
			require.False(t, slice.HasNext)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(h.attached[""]), total)
		})
	}
}

func productCursors(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, h.Store, release.ShopperContext{})
		heavy, err := release.NewTerm("tags", "eq", []string{"heavy"})
		require.NoError(t, err)
		recent, err := store.NewRange("updated_at", "gt", "2001-01-01")
		require.NoError(t, err)
		queries := []release.ProductQuery{
			{}, {Unlisted: true}, {NodeID: "tools"}, {NodeID: "workshop"}, {Sort: store.Sort{By: store.SortID}}, {Sort: store.Sort{By: store.SortID, Descending: true}},
			{Sort: store.Sort{By: store.SortCreatedAt}}, {Filter: release.ProductFilter{Terms: []store.Term{heavy}}}, {Filter: release.ProductFilter{Ranges: []store.Range{recent}}},
		}
		for i, own := range queries {
			cursor := h.cursorAt(t, v, own, 0)
			for j, asked := range queries {
				asked.Page.After = &cursor
				_, err := v.Products(t.Context(), asked)
				if i == j {
					require.NoError(t, err)
					continue
				}
				storetest.RequireError(t, err, store.CursorMismatch, "after", "another list, sort or filter")
			}
			_, err := v.Nodes(t.Context(), release.NodeQuery{Page: store.Page{Before: &cursor}})
			storetest.RequireError(t, err, store.CursorMismatch, "before", "another list, sort or filter")
			_, err = h.Stock.List(t.Context(), store.ListQuery{Page: store.Page{After: &cursor}})
			storetest.RequireError(t, err, store.CursorMismatch, "after", "another list, sort or filter")
		}
		t.Run("of the stock list", func(t *testing.T) {
			cursor := storetest.StockCursor(t, h.Store, store.Sort{})
			_, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{After: &cursor}})
			storetest.RequireError(t, err, store.CursorMismatch, "after", "another list, sort or filter")
			_, err = v.Nodes(t.Context(), release.NodeQuery{Page: store.Page{After: &cursor}})
			storetest.RequireError(t, err, store.CursorMismatch, "after", "another list, sort or filter")
		})
	}
}
