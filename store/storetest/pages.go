package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
)

// cursorOf is the cursor of a list's first row.
func StockCursor(t *testing.T, s *shop.Store, sort store.Sort) string {
	t.Helper()
	slice, err := s.Stocks(t.Context(), store.ListQuery{Sort: sort, Page: store.Page{First: new(1)}})
	require.NoError(t, err)
	require.Len(t, slice.Cursors(), 1)
	return slice.Cursors()[0]
}
