package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
)

// TestWriteOutcomes is the promise of every write: what cancellation and closing do to
// it. Increments of stock stand for all.
func TestWriteOutcomes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a write whose caller has gone is not made", writeGone(backend))
		t.Run("a write whose caller goes while it waits its turn is not made", writeQueued(backend))
		t.Run("a write whose caller goes at any time is made whole or not at all", writeCancelled(backend))
		t.Run("a read whose caller has gone answers UNAVAILABLE", readCancelled(backend))
		t.Run("a closed store answers UNAVAILABLE", writeClosed(backend))
		t.Run("closing leaves no write without its answer", writeClosing(backend))
		t.Run("a write that the database cannot make is made once it can", writeContended(backend))
		t.Run("a database that goes away answers UNAVAILABLE, and is found again", databaseAway(backend))
		t.Run("a database that cannot be reached answers UNAVAILABLE", databaseBarred(backend))
		t.Run("a file that is replaced is answered from no more, and nothing acknowledged is lost", fileReplaced(backend))
		t.Run("a log that grew beside a long reader is given back", logGivenBack(backend))
		t.Run("the log of a file that was replaced is left to nobody", fileReplacedAtTheEnd(backend))
	})
}

func writeGone(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := storetest.Increment(ctx, s, "a")
		require.ErrorIs(t, err, context.Canceled)
		storetest.RequireError(t, err, store.Unavailable, "", "given up")
		require.Equal(t, 0, storetest.Available(t, s, "a"))
	}
}

// hold keeps a product's row, and on SQLite the database, from being written
// until release.
func hold(t *testing.T, backend storetest.Backend, product string) (release func()) {
	t.Helper()
	transaction, err := backend.SQL(t).Begin()
	require.NoError(t, err)
	_, err = transaction.Exec(`UPDATE stock SET available = available WHERE product_id = $1`, product)
	require.NoError(t, err)
	return func() { require.NoError(t, transaction.Rollback()) }
}

func writeQueued(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.OpenWithStock(t, backend, 0, "a", "b")
		s := backend.Open(t, func(config *shop.Config) { config.Readers = 1 }) // PostgreSQL's writes wait for a connection
		release := hold(t, backend, "a")
		first, queued := make(chan error, 1), make(chan error, 1)
		go func() { first <- storetest.Increment(context.Background(), s, "a") }()
		if backend.Name == "postgres" { // SQLite's queue is held as a whole
			storetest.WaitForLockWaiters(t, backend, 1)
		}
		ctx, cancel := context.WithCancel(context.Background())
		begun := &storetest.ObservedContext{Context: ctx, Checked: make(chan struct{}, 1)}
		go func() { queued <- storetest.Increment(begun, s, "b") }()
		<-begun.Checked // from now on it waits, or is about to
		cancel()
		release()
		require.NoError(t, <-first)
		require.ErrorIs(t, <-queued, context.Canceled)
		require.Equal(t, 1, storetest.Available(t, s, "a"))
		require.Equal(t, 0, storetest.Available(t, s, "b"))
	}
}

func writeCancelled(backend storetest.Backend) func(*testing.T) {
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
		require.Equal(t, made, storetest.Available(t, s, "a"), "what was answered is what was written")
		require.Equal(t, made, storetest.Available(t, s, "b"))
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func readCancelled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a", "b")
		for i := range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Microsecond)
			_, err := s.Stocks(ctx, store.ListQuery{})
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
		for range 20 { // a queue takes a write by chance
			storetest.RequireError(t, answered(t, func() error { return storetest.Increment(t.Context(), s, "a") }), store.Unavailable, "")
		}
		for name, read := range map[string]func() error{
			"Stock":  func() error { _, err := s.Stock(t.Context(), "a"); return err },
			"Stocks": func() error { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err },
			"Ping":   func() error { return s.Ping(t.Context()) },
		} {
			require.True(t, store.HasCode(read(), store.Unavailable), "%s answers %v", name, read())
		}
	}
}

// answered fails the test when do does not return; the minute is no
// measurement, only shorter than the test's own deadline.
func answered(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		require.FailNow(t, "a write has no answer")
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
									t.Errorf("a writer is told %v", err)
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
							if _, err := s.Stocks(context.Background(), store.ListQuery{}); err != nil {
								return
							}
						}
					})
				}
				storetest.Eventually(t, true, func() bool { mu.Lock(); defer mu.Unlock(); return made > storetest.WriterCount })
				require.NoError(t, s.Close())
				require.NoError(t, answered(t, func() error { group.Wait(); return nil }))
				require.Equal(t, made, storetest.Available(t, backend.Open(t), "a"), "what was answered is what was written")
				storetest.RequireLedger(t, backend.SQL(t))
			})
		}
	}
}

func writeContended(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a", "b")
		release := hold(t, backend, "a")
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
