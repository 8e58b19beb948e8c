package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
)

// WithStockCache is an engine whose stores keep all stock in memory.
func (e Backend) WithStockCache() Backend {
	e.stockCache = true
	return e
}

// fresh has a store see what a test wrote behind its back.
func RefreshStock(t require.TestingT, s *shop.Store) {
	require.NoError(t, s.WarmStock(context.Background()))
}

// settled is what a product has when all that others wrote is known.
func LatestAvailable(t require.TestingT, s *shop.Store, product string) int {
	RefreshStock(t, s)
	return Available(t, s, product)
}

// statements counts those of a read.
func CountStatements(t *testing.T, read func(context.Context) error) int {
	t.Helper()
	ctx, counter := store.CountStatements(t.Context())
	require.NoError(t, read(ctx))
	return counter.Count()
}
