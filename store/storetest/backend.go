// Package storetest runs tests of the store on SQLite and PostgreSQL. Its main type is Backend, which opens stores on the databases
// of dbtest; functions seed shops, stock and promotions. Only tests import it.
package storetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest/dbtest"
)

// Actor is the actor of all writes in tests.
const Actor store.Actor = "client:test"

// Backend opens stores on databases of one kind.
type Backend struct {
	dbtest.Backend
	stockCache bool // stores keep all stock in memory
}

// EachBackend is dbtest.EachBackend with stores.
func EachBackend(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) { test(t, Backend{Backend: backend}) })
}

// EachBackendInQuickTests is dbtest.EachBackendInQuickTests with stores.
func EachBackendInQuickTests(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	dbtest.EachBackendInQuickTests(t, func(t *testing.T, backend dbtest.Backend) { test(t, Backend{Backend: backend}) })
}

// EachBackendSerial is dbtest.EachBackendSerial with stores.
func EachBackendSerial(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	dbtest.EachBackendSerial(t, func(t *testing.T, backend dbtest.Backend) { test(t, Backend{Backend: backend}) })
}

// EachBackendBenchmark is EachBackend for benchmarks.
func EachBackendBenchmark(b *testing.B, bench func(b *testing.B, backend Backend)) {
	dbtest.EachBackendBenchmark(b, func(b *testing.B, backend dbtest.Backend) { bench(b, Backend{Backend: backend}) })
}

// NewSealer returns a sealer whose key repeats one byte.
func NewSealer(t testing.TB, fill byte) *seal.Sealer {
	t.Helper()
	sealer, err := seal.New(bytes.Repeat([]byte{fill}, seal.KeySize))
	require.NoError(t, err)
	return sealer
}

// Open opens a store on the test's database and closes it when the test ends. Writes do not
// wait for the disk unless an option says so.
func (backend Backend) Open(t testing.TB, options ...func(*shop.Config)) *shop.Store {
	t.Helper()
	config := shop.Config{URL: backend.URL(t), Synchronous: "OFF", Sealer: NewSealer(t, 'k'), Timeouts: testTimeouts}
	if backend.stockCache {
		config.StockBytes = 1 << 24
	}
	for _, option := range options {
		option(&config)
	}
	s, err := shop.Open(context.Background(), config)
	require.NoError(t, err)
	require.NoError(t, s.Stock.Warm(context.Background())) // reads the rows that the test has seeded
	t.Cleanup(func() { _ = s.Close() })                    // the test may have closed it
	return s
}

// WithStockCache returns a backend whose stores keep all stock in memory.
func (backend Backend) WithStockCache() Backend {
	backend.stockCache = true
	return backend
}

// testTimeouts has long timeouts because many tests share the machine. Timeouts have tests of
// their own.
var testTimeouts = store.Timeouts{Connection: time.Minute, Read: time.Minute, Write: 2 * time.Minute, Lock: time.Minute, Idle: 30 * time.Second}
