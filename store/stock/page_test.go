package stock_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestStockPages tests the bounds of store.Page and which cursors it accepts.
func TestStockPages(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("page bounds", pageBounds(backend))
		t.Run("a cursor belongs to one list and sort", pageCursors(backend))
		t.Run("invalid cursors are refused", pageCursorValues(backend))
		t.Run("ranges", pageRanges)
	})
}

// TestLowStock: bounds on available units order the list by them, whether stock is cached or not.
func TestLowStock(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		rows := map[string]int{"a": 3, "b": 0, "c": 7, "d": 3, "e": 5, "f": 0, "g": 6}
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: id, Available: rows[id], Allocated: 9, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		}
		s := backend.Open(t)
		at := func(operator string, n int) store.Range {
			return store.Range{Attribute: store.SortAvailable, Operator: operator, Number: n}
		}
		for _, c := range []struct {
			ranges []store.Range
			want   string
		}{
			{[]store.Range{at("le", 5)}, "b f a d e"},
			{[]store.Range{at("lt", 5)}, "b f a d"},
			{[]store.Range{at("gt", 0), at("le", 5)}, "a d e"},
			{[]store.Range{at("ge", 6)}, "g c"},
			{[]store.Range{at("le", 5), {Attribute: store.SortID, Operator: "gt", ID: "b"}}, "f d e"},
			{[]store.Range{at("lt", 0)}, ""},
		} {
			var got []string
			for after := (*string)(nil); ; {
				query := store.ListQuery{Ranges: c.ranges, Page: store.Page{First: new(2), After: after}}
				slice, err := s.Stock.List(t.Context(), query)
				require.NoError(t, err)
				page, err := s.Stock.Page(t.Context(), query)
				require.NoError(t, err)
				require.Equal(t, len(slice.Items), page.Len())
				for i, record := range slice.Items {
					require.Equal(t, *record, page.Row(i))
					require.Equal(t, slice.Cursor(i), page.Cursor(i))
					got = append(got, record.ProductID)
				}
				if !slice.HasNext {
					require.Equal(t, len(got), page.Total)
					break
				}
				after = new(slice.Cursor(1))
			}
			require.Equal(t, c.want, strings.Join(got, " "), "%v", c.ranges)
		}
		_, err := s.Stock.List(t.Context(), store.ListQuery{Sort: store.Sort{By: store.SortID}, Ranges: []store.Range{at("le", 5)}})
		storetest.RequireError(t, err, store.Invalid, "order_by", "left out")
	})
}

func pageBounds(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a", "b", "c")
		cursor := storetest.StockCursor(t, s, store.Sort{})
		for _, c := range []struct {
			name   string
			page   store.Page
			code   store.Code // empty if the page is valid
			member string
			words  []string
		}{
			{"first 1", store.Page{First: new(1)}, "", "", nil},
			{"first 100", store.Page{First: new(100)}, "", "", nil},
			{"first 0", store.Page{First: new(0)}, store.Unprocessable, "first", []string{"between 1 and 100", "got 0"}},
			{"first 101", store.Page{First: new(101)}, store.Unprocessable, "first", []string{"between 1 and 100", "got 101"}},
			{"first -1", store.Page{First: new(-1)}, store.Unprocessable, "first", []string{"between 1 and 100", "got -1"}},
			{"last 1", store.Page{Last: new(1)}, "", "", nil},
			{"last 100", store.Page{Last: new(100)}, "", "", nil},
			{"last 0", store.Page{Last: new(0)}, store.Unprocessable, "last", []string{"between 1 and 100", "got 0"}},
			{"last 101", store.Page{Last: new(101)}, store.Unprocessable, "last", []string{"between 1 and 100", "got 101"}},
			{"last -1", store.Page{Last: new(-1)}, store.Unprocessable, "last", []string{"between 1 and 100", "got -1"}},
			{"first and last", store.Page{First: new(1), Last: new(1)}, store.Invalid, "last", []string{"first"}},
			{"offset 0", store.Page{Offset: new(0)}, "", "", nil},
			{"offset 10000", store.Page{Offset: new(10000)}, "", "", nil},
			{"offset -1", store.Page{Offset: new(-1)}, store.Unprocessable, "offset", []string{"between 0 and 10000", "got -1"}},
			{"offset 10001", store.Page{Offset: new(10001)}, store.Unprocessable, "offset", []string{"between 0 and 10000", "got 10001", "to read further", "cursor"}},
			{"first and offset", store.Page{First: new(2), Offset: new(1)}, "", "", nil},
			{"first 0 and offset", store.Page{First: new(0), Offset: new(1)}, store.Unprocessable, "first", []string{"between 1 and 100"}},
			{"offset and after", store.Page{Offset: new(0), After: &cursor}, store.Invalid, "offset", []string{"cursor"}},
			{"offset and before", store.Page{Offset: new(0), Before: &cursor}, store.Invalid, "offset", []string{"cursor"}},
			{"offset and last", store.Page{Offset: new(0), Last: new(1)}, store.Invalid, "offset", []string{"last"}},
			{"after and before", store.Page{After: &cursor, Before: &cursor}, "", "", nil},
			{"first before a cursor", store.Page{First: new(1), Before: &cursor}, "", "", nil},
			{"last after a cursor", store.Page{Last: new(1), After: &cursor}, "", "", nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, err := s.Stock.List(t.Context(), store.ListQuery{Page: c.page})
				if c.code == "" {
					require.NoError(t, err)
					return
				}
				storetest.RequireError(t, err, c.code, c.member, c.words...)
			})
		}
	}
}

func pageCursors(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a", "b", "c")
		for _, own := range allSorts() {
			cursor := storetest.StockCursor(t, s, own)
			for _, requested := range allSorts() {
				_, err := s.Stock.List(t.Context(), store.ListQuery{Sort: requested, Page: store.Page{After: &cursor}})
				if own == requested {
					require.NoError(t, err)
					continue
				}
				storetest.RequireError(t, err, store.CursorMismatch, "after", "another list, sort or filter")
			}
		}
		cursor := storetest.StockCursor(t, s, store.Sort{})
		beyondA, err := store.NewRange("id", "gt", "a")
		require.NoError(t, err)
		_, err = s.Stock.List(t.Context(), store.ListQuery{Ranges: []store.Range{beyondA}, Page: store.Page{Before: &cursor}})
		storetest.RequireError(t, err, store.CursorMismatch, "before", "another list, sort or filter")
	}
}

func pageCursorValues(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a", "b", "c")
		byTime := store.Sort{By: store.SortCreatedAt}
		for _, c := range []struct {
			name   string
			sort   store.Sort
			cursor string
		}{
			{"text", store.Sort{}, "tomorrow"},
			{"text with NUL", store.Sort{}, "a\x00b"},
			{"text that is not valid UTF-8", store.Sort{}, "\xff"},
			{"base64 of text", store.Sort{}, base64.RawURLEncoding.EncodeToString([]byte("hello"))},
			{"base64 of other JSON", store.Sort{}, base64.RawURLEncoding.EncodeToString([]byte("[1]"))},
			{"shortened", store.Sort{}, changedCursor(t, s, store.Sort{}, func(text []byte) []byte { return text[:len(text)-1] })},
			{"lengthened", store.Sort{}, changedCursor(t, s, store.Sort{}, func(text []byte) []byte { return append(text, 0) })},
			{"with another signature", byTime, changedCursor(t, s, byTime, func(text []byte) []byte { text[len(text)-1] ^= 1; return text })},
			{"with another key", byTime, changedCursor(t, s, byTime, func(text []byte) []byte { text[len(text)-18] ^= 1; return text })},
			{"of another list", byTime, changedCursor(t, s, byTime, func(text []byte) []byte { text[0] ^= 1; return text })},
		} {
			for member, page := range map[string]store.Page{"after": {After: &c.cursor}, "before": {Before: &c.cursor}} {
				t.Run(fmt.Sprintf("%s as %s", c.name, member), func(t *testing.T) {
					_, err := s.Stock.List(t.Context(), store.ListQuery{Sort: c.sort, Page: page})
					storetest.RequireError(t, err, store.Invalid, member, "is not a cursor")
				})
			}
		}
	}
}

func pageRanges(t *testing.T) {
	for _, c := range []struct {
		name, attribute, operator, value string
		words                            []string // of the error; nil if the range is valid
	}{
		{"an id", "id", "gt", "a", nil},
		{"a time with a zone", "created_at", "ge", "2012-05-30T00:00:00.000Z", nil},
		{"a time without a zone", "updated_at", "lt", "2012-05-30T00:00:00.000", nil},
		{"a date", "updated_at", "le", "2012-05-30", nil},
		{"no time", "created_at", "gt", "yesterday", []string{"created_at", `"yesterday"`}},
		{"no sort key", "sku", "gt", "a", []string{`"sku"`, "id, created_at and updated_at"}},
		{"no operator of ranges", "id", "like", "a", []string{`like`}},
		{"an id with NUL", "id", "gt", "a\x00b", []string{"id"}},
		{"an id that is not valid UTF-8", "id", "gt", "a\xff", []string{"id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := store.NewRange(c.attribute, c.operator, c.value)
			if c.words == nil {
				require.NoError(t, err)
				return
			}
			storetest.RequireError(t, err, store.Invalid, "filter", c.words...)
		})
	}
}

// changedCursor returns a cursor of the list after a change of its bytes, which its signature does not allow.
func changedCursor(t *testing.T, s *shop.Store, sort store.Sort, change func(text []byte) []byte) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(storetest.StockCursor(t, s, sort))
	require.NoError(t, err)
	return base64.RawURLEncoding.EncodeToString(change(text))
}
