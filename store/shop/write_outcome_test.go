package shop_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestWriteOutcomes checks what cancellation, closing and a lost database do to writes. It uses
// increments of stock.
func TestWriteOutcomes(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a write with a canceled context does not run", writeCanceledBefore(backend))
		t.Run("a write canceled in the queue does not run", writeCanceledInQueue(backend))
		t.Run("a write canceled at any time is atomic", writeCanceled(backend))
		t.Run("a canceled read returns UNAVAILABLE", readCanceled(backend))
		t.Run("a closed store returns UNAVAILABLE", writeClosed(backend))
		t.Run("each write returns when the store closes", writeClosing(backend))
		t.Run("a write waits for locked rows", writeContended(backend))
		t.Run("a lost database returns UNAVAILABLE and recovers", databaseLost(backend))
		t.Run("an unreachable database returns UNAVAILABLE", databaseUnreachable(backend))
		t.Run("a replaced file is no longer used, and no acknowledged write is lost", fileReplaced(backend))
		t.Run("the WAL shrinks after a long read", walShrinks(backend))
		t.Run("the WAL of a replaced file is not applied to the new one", fileReplacedBeforeClose(backend))
		t.Run("a file that was overwritten is noticed at once", fileOverwritten(backend))
	})
}

func writeCanceledBefore(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := storetest.Increment(ctx, s, "a")
		require.ErrorIs(t, err, context.Canceled)
		storetest.RequireError(t, err, store.Unavailable, "", "cancelled or timed out")
		require.Equal(t, 0, storetest.Available(t, s, "a"))
	}
}

// lockProduct locks a product's row, and on SQLite the database, until release.
func lockProduct(t *testing.T, backend storetest.Backend, product string) (release func()) {
	t.Helper()
	transaction, err := backend.SQL(t).Begin()
	require.NoError(t, err)
	_, err = transaction.Exec(`UPDATE stock SET available = available WHERE product_id = $1`, product)
	require.NoError(t, err)
	return func() { require.NoError(t, transaction.Rollback()) }
}

func writeCanceledInQueue(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.OpenWithStock(t, backend, 0, "a", "b")
		s := backend.Open(t, func(config *shop.Config) { config.Readers = 1 }) // PostgreSQL's writes wait for a connection
		release := lockProduct(t, backend, "a")
		first, queued := make(chan error, 1), make(chan error, 1)
		go func() { first <- storetest.Increment(context.Background(), s, "a") }()
		if backend.Name == "postgres" { // SQLite blocks the whole queue
			storetest.WaitForLockWaiters(t, backend, 1)
		}
		ctx, cancel := context.WithCancel(context.Background())
		begun := &storetest.ObservedContext{Context: ctx, Checked: make(chan struct{}, 1)}
		go func() { queued <- storetest.Increment(begun, s, "b") }()
		<-begun.Checked // it waits, or is about to
		cancel()
		release()
		require.NoError(t, <-first)
		require.ErrorIs(t, <-queued, context.Canceled)
		require.Equal(t, 1, storetest.Available(t, s, "a"))
		require.Equal(t, 0, storetest.Available(t, s, "b"))
	}
}

func writeCanceled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a", "b")
		var made int
		for i := range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
			err := storetest.Increment(ctx, s, "b", "a")
			cancel()
			if err == nil {
				made++
			} else {
				storetest.RequireError(t, err, store.Unavailable, "")
			}
		}
		require.Equal(t, made, storetest.Available(t, s, "a"), "acknowledged writes are stored")
		require.Equal(t, made, storetest.Available(t, s, "b"))
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func readCanceled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a", "b")
		for i := range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Microsecond)
			_, err := s.Stock.List(ctx, store.ListQuery{})
			cancel()
			if err != nil {
				storetest.RequireError(t, err, store.Unavailable, "")
			}
		}
	}
}

func writeClosed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "closing twice")
		for range 20 { // the queue picks at random
			storetest.RequireError(t, mustReturn(t, func() error { return storetest.Increment(t.Context(), s, "a") }), store.Unavailable, "")
		}
		for name, read := range map[string]func() error{
			"Stock":  func() error { _, err := s.Stock.Get(t.Context(), "a"); return err },
			"Stocks": func() error { _, err := s.Stock.List(t.Context(), store.ListQuery{}); return err },
			"Ping":   func() error { return s.Ping(t.Context()) },
		} {
			require.True(t, store.HasCode(read(), store.Unavailable), "%s returned %v", name, read())
		}
	}
}

// mustReturn fails the test if do does not return within a minute.
func mustReturn(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		require.FailNow(t, "a write does not return")
		return nil
	}
}

func writeClosing(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for i := 0; i < 10 && !t.Failed(); i++ {
			t.Run("", func(t *testing.T) {
				storetest.OpenWithStock(t, backend, 0, "a")
				s := backend.Open(t)
				var group sync.WaitGroup
				var mu sync.Mutex
				made := 0
				for range storetest.WriterCount {
					group.Go(func() {
						for {
							err := storetest.Increment(context.Background(), s, "a")
							if err != nil {
								if !store.HasCode(err, store.Unavailable) {
									t.Errorf("a writer got %v", err)
								}
								return
							}
							mu.Lock()
							made++
							mu.Unlock()
						}
					})
					group.Go(func() {
						for {
							if _, err := s.Stock.List(context.Background(), store.ListQuery{}); err != nil {
								return
							}
						}
					})
				}
				testkit.Eventually(t, true, func() bool { mu.Lock(); defer mu.Unlock(); return made > storetest.WriterCount })
				require.NoError(t, s.Close())
				require.NoError(t, mustReturn(t, func() error { group.Wait(); return nil }))
				require.Equal(t, made, storetest.Available(t, backend.Open(t), "a"), "acknowledged writes are stored")
				storetest.RequireLedger(t, backend.SQL(t))
			})
		}
	}
}

func writeContended(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a", "b")
		release := lockProduct(t, backend, "a")
		done := make(chan error, 3) // fewer than the connections of any pool
		for range cap(done) {
			go func() { done <- storetest.Increment(context.Background(), s, "b", "a") }()
		}
		storetest.ReadStock(t, s, "a") // readers do not wait
		release()
		for range cap(done) {
			require.NoError(t, <-done)
		}
		require.Equal(t, cap(done), storetest.Available(t, s, "a"))
		storetest.RequireLedger(t, backend.SQL(t))
	}
}
