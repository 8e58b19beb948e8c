package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/stock"
)

// again imports as the command does without flags.
func ImportWithOptions(t *testing.T, s *shop.Store, text string, options ...func(*exchange.ImportOptions)) *exchange.ImportReport {
	t.Helper()
	var o exchange.ImportOptions
	for _, option := range options {
		option(&o)
	}
	report, err := s.Import(t.Context(), Actor, Source(text), o)
	require.NoError(t, err)
	for kind, n := range report.Left {
		if n == 0 {
			delete(report.Left, kind)
		}
	}
	return report
}

func TransactStock(t *testing.T, s *shop.Store, changes ...stock.StockChange) {
	t.Helper()
	_, err := s.TransactStock(t.Context(), Actor, changes)
	require.NoError(t, err)
}

func StockUnits(t *testing.T, s *shop.Store, product string) []int {
	t.Helper()
	found, err := s.Stock(t.Context(), product)
	require.NoError(t, err)
	return []int{found.Available, found.Allocated}
}
