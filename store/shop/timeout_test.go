package shop_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/job"
	"portico/store/promotion"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestTimeouts checks that slow or stalled users of the database block others only up to a
// timeout: they get UNAVAILABLE, and requests that do not need the same rows succeed.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		t.Run("locked rows block no reader, and a writer until its timeout", rowsLocked(backend))
		t.Run("a stalled write loses its locks to waiters and is retried", writeStalled(backend))
		t.Run("a stalled write delays no write of other products", stalledLocks(backend))
		t.Run("a single connection is enough", singleConnection(backend))
		t.Run("a slow query times out", querySlow(backend))
		t.Run("a silent network times out and recovers", networkSilent(backend))
		t.Run("a slow network is tolerated up to the timeout", networkSlow(backend))
		t.Run("a read-only database", databaseReadOnly(backend))
		t.Run("a problem is logged once, however many requests it affects", problemLogged(backend))
	})
}

// withShortTimeouts makes a store give up early.
func withShortTimeouts(change func(*store.Timeouts)) func(*shop.Config) {
	return func(config *shop.Config) {
		config.Timeouts = store.Timeouts{Lock: 50 * time.Millisecond}
		if change != nil {
			change(&config.Timeouts)
		}
	}
}

func rowsLocked(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon}, stock.Stock{ProductID: "b", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		s := backend.Open(t, withShortTimeouts(nil))
		release := lockProduct(t, backend, "a")
		var writers sync.WaitGroup
		for range 20 { // more than the pool has connections
			writers.Go(func() {
				err := storetest.Increment(t.Context(), s, "a")
				if !store.HasCode(err, store.Unavailable) {
					t.Errorf("got %v", err)
				}
			})
		}
		for range 100 {
			require.Equal(t, 0, storetest.Available(t, s, "a"))
		}
		writers.Wait()
		err := storetest.Increment(t.Context(), s, "a")
		storetest.RequireError(t, err, store.Unavailable, "", "Another write has locked the same rows", "Nothing was written", "Retry in a moment")
		require.NoError(t, storetest.Increment(t.Context(), s, "b"))
		release()
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		require.Equal(t, 1, storetest.Available(t, s, "a"))
	}
}

// writeStalled stops a server in the middle of a write, as a suspended process or a migrated
// machine does.
func writeStalled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		network, address := backend.NewProxy(t)
		still := backend.Open(t, withShortTimeouts(func(p *store.Timeouts) { p.Idle = 100 * time.Millisecond }), func(config *shop.Config) { config.URL = address })
		other := backend.Open(t, withShortTimeouts(func(p *store.Timeouts) { p.Lock = time.Minute }))
		reached, goOn := network.PauseAt("commit")
		done := make(chan error)
		go func() { done <- storetest.Increment(t.Context(), still, "a") }()
		<-reached
		require.NoError(t, storetest.Increment(t.Context(), other, "a"), "the database ended the stalled transaction")
		require.Contains(t, []int{1, 2}, storetest.Available(t, other, "a"), "2 if the stalled write was retried on another connection already")
		close(goOn)
		if err, made := <-done, storetest.Available(t, other, "a"); err == nil {
			require.Equal(t, 2, made, "the stalled write was retried")
		} else { // the error was lost, so the outcome is unknown
			storetest.RequireError(t, err, store.Unavailable, "")
			require.Equal(t, 1, made, "the ended transaction is rolled back")
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// stalledLocks holds a product and all lanes of the change log in a transaction. Writers of
// that product wait, more than the pool has connections and longer than a write waits for a
// connection. No other write fails.
func stalledLocks(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		free := []string{"b", "c", "d", "e", "f", "g", "h", "i"}
		s := storetest.OpenWithStock(t, backend, 0, append(free, "a")...)
		var log testkit.LogBuffer
		hurried := func(config *shop.Config) {
			config.Timeouts = store.Timeouts{Connection: 2 * time.Second, Read: time.Minute, Write: time.Hour, Lock: time.Hour, Idle: time.Hour}
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		}
		servers := []*shop.Store{backend.Open(t, hurried), backend.Open(t, hurried)}
		for _, server := range servers {
			require.NoError(t, storetest.Increment(t.Context(), server, "b"))
		}
		sell := func(ctx context.Context) error { return storetest.Increment(ctx, servers[0], "b") }
		usual := storetest.CountStatements(t, sell)
		still, err := backend.SQL(t).Begin()
		require.NoError(t, err)
		for _, statement := range []string{`UPDATE stock SET available = available WHERE product_id = 'a'`, `UPDATE change SET version = version WHERE topic LIKE 'stock/%'`} {
			result, err := still.Exec(statement)
			require.NoError(t, err)
			held, err := result.RowsAffected()
			require.NoError(t, err)
			require.NotZero(t, held, statement)
		}
		require.Equal(t, usual+1, storetest.CountStatements(t, sell), "it adds a lane")
		require.Equal(t, usual, storetest.CountStatements(t, sell), "it reuses its lane")
		var waiting, writing sync.WaitGroup
		var reported atomic.Int64
		for range 40 {
			for n, server := range servers {
				ctx := store.WithLockWaitListener(t.Context(), store.LockWaitFunc(func() { reported.Add(1) }))
				if n == 0 { // not in a shared transaction
					ctx = store.WithIdempotencyKey(ctx, &store.IdempotencyKey{Key: store.NewID(), Operation: "sell", Input: "a"})
				}
				waiting.Go(func() {
					if err := storetest.Increment(ctx, server, "a"); err != nil {
						t.Errorf("a write of the locked product: %v", err)
					}
				})
			}
		}
		testkit.Eventually(t, true, func() bool { return reported.Load() == 80 }, "they release their write slots")
		for n, product := range free {
			for _, server := range servers {
				writing.Go(func() {
					for range 20 {
						if err := storetest.Increment(t.Context(), server, product); err != nil {
							t.Errorf("a write of %s, which is not locked: %v", product, err)
						}
					}
					if _, err := server.Stock.Create(t.Context(), storetest.Actor, fmt.Sprint("new-", n, "-", store.NewID()), 1); err != nil {
						t.Errorf("a new record: %v", err)
					}
				})
			}
		}
		for range 40 { // in shared transactions with those that wait
			waiting.Go(func() {
				if err := storetest.Increment(t.Context(), servers[1], "a"); err != nil {
					t.Errorf("a write of the locked product: %v", err)
				}
			})
		}
		_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"stock","id":"imported","available":1,"allocated":0,"total":1}`), exchange.ImportOptions{})
		require.NoError(t, err)
		writing.Wait()
		require.Equal(t, 0, storetest.LatestAvailable(t, s, "a"))
		require.NoError(t, still.Rollback())
		waiting.Wait()
		require.Equal(t, 120, storetest.LatestAvailable(t, s, "a"))
		for _, product := range free {
			want := 40
			if product == "b" {
				want += 2 + 3
			}
			require.Equal(t, want, storetest.LatestAvailable(t, s, product))
			for _, server := range servers {
				testkit.Eventually(t, want, func() int { return storetest.Available(t, server, product) })
			}
		}
		storetest.RequireLedger(t, backend.SQL(t))
		require.LessOrEqual(t, storetest.CountRows(t, backend.SQL(t), `change WHERE topic LIKE 'stock/%'`), 3*4+2, "no more lanes than writing connections")
		require.NotContains(t, log.String(), "level=ERROR")
	}
}

func singleConnection(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t, func(config *shop.Config) { config.Readers = 1 })
		storetest.Import(t, s, strings.Join(storetest.ShopLines(), "\n"))
		storetest.RunWorker(t, s)
		task, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var requests sync.WaitGroup
		for range 4 {
			requests.Go(func() {
				for ctx.Err() == nil {
					if _, err := s.Stock.List(t.Context(), store.ListQuery{}); err != nil {
						t.Errorf("reading: %v", err)
					}
					if err := storetest.Increment(t.Context(), s, "anvil"); err != nil {
						t.Errorf("writing: %v", err)
					}
				}
			})
		}
		task = storetest.WaitForJob(t, s, task.ID)
		cancel()
		requests.Wait()
		require.Equal(t, job.Succeeded, task.State, task.Error)
	}
}

func querySlow(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		s := backend.Open(t, withShortTimeouts(func(p *store.Timeouts) { p.Read = 100 * time.Millisecond }))
		lock, err := backend.SQL(t).Begin()
		require.NoError(t, err)
		_, err = lock.Exec(`LOCK TABLE promotion`)
		require.NoError(t, err)
		_, err = s.Promotions.List(t.Context(), promotion.Filter{}, store.ListQuery{})
		storetest.RequireError(t, err, store.Unavailable, "", "took too long", "Retry in a moment")
		require.NoError(t, lock.Rollback())
		testkit.Eventually(t, true, func() bool { // a loaded machine takes longer than the timeout now and then
			_, err := s.Promotions.List(t.Context(), promotion.Filter{}, store.ListQuery{})
			return err == nil
		})
	}
}

func networkSilent(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		network, address := backend.NewProxy(t)
		s := backend.Open(t, withShortTimeouts(func(p *store.Timeouts) {
			p.Connection, p.Read, p.Write = time.Second, 600*time.Millisecond, 800*time.Millisecond
		}), func(config *shop.Config) { config.URL = address })
		testkit.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil }, "a loaded machine takes longer than the timeout now and then")
		for range 2 {
			network.DropTraffic(true)
			var requested sync.WaitGroup
			for range 10 {
				requested.Go(func() {
					_, err := s.Stock.List(t.Context(), store.ListQuery{})
					if !store.HasCode(err, store.Unavailable) {
						t.Errorf("reading returned %v", err)
					}
					if err := storetest.Increment(t.Context(), s, "a"); !store.HasCode(err, store.Unavailable) {
						t.Errorf("writing returned %v", err)
					}
				})
			}
			requested.Wait()
			network.DropTraffic(false)
			testkit.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil })
			testkit.Eventually(t, true, func() bool { _, err := s.Stock.List(t.Context(), store.ListQuery{}); return err == nil })
			network.CloseConnections()
			testkit.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil })
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func networkSlow(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		network, address := backend.NewProxy(t)
		within := func(d time.Duration) map[string]func() error {
			s := backend.Open(t, func(config *shop.Config) { config.URL, config.Timeouts.Read, config.Timeouts.Write = address, d, d })
			return map[string]func() error{
				"a read":  func() error { _, err := s.Stock.List(t.Context(), store.ListQuery{}); return err },
				"a write": func() error { return storetest.Increment(t.Context(), s, "a") },
			}
		}
		patient, hurried := within(time.Minute), within(200*time.Millisecond)
		network.SetDelay(2 * time.Millisecond)
		for range 5 {
			runAll(t, patient, succeeded)
		}
		network.SetDelay(400 * time.Millisecond)
		runAll(t, hurried, isUnavailable)
		network.SetDelay(0)
		for name, ask := range hurried {
			testkit.Eventually(t, true, func() bool { return ask() == nil }, name)
		}
		runAll(t, patient, succeeded)
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// databaseReadOnly makes the database refuse writes, as a standby does.
func databaseReadOnly(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		s, name := storetest.OpenWithStock(t, backend, 3, "a"), backend.DatabaseName(t)
		t.Cleanup(func() { dbtest.SetReadOnly(t, name, "off") })
		require.False(t, s.ReadOnly())
		dbtest.SetReadOnly(t, name, "on")
		testkit.Eventually(t, true, func() bool { _, err := s.Stock.List(t.Context(), store.ListQuery{}); return err == nil })
		testkit.Eventually(t, true, func() bool { _ = storetest.Increment(t.Context(), s, "a"); return s.ReadOnly() })
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "read-only at the moment", "reads work")
		require.ErrorIs(t, s.WriteTrouble(), store.ErrReadOnly)
		require.Equal(t, 3, storetest.Available(t, s, "a"))
		next := backend.Open(t, func(config *shop.Config) { config.Timeouts.Connection = time.Second })
		require.True(t, next.ReadOnly(), "a server that starts now knows it too")
		require.Equal(t, 3, storetest.Available(t, next, "a"))
		require.NoError(t, next.Ping(t.Context()))
		storetest.RunWorker(t, next)
		dbtest.SetReadOnly(t, name, "off")
		for _, s := range []*shop.Store{s, next} {
			testkit.Eventually(t, false, s.ReadOnly)
			testkit.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil })
		}
		testkit.Eventually(t, true, func() bool { stock, err := s.Stock.Get(t.Context(), "a"); return err == nil && stock.Available == 5 })
	}
}

func problemLogged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		var log testkit.LogBuffer
		s := backend.Open(t, withShortTimeouts(func(p *store.Timeouts) { p.Lock = 5 * time.Millisecond }), func(config *shop.Config) { config.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		release := lockProduct(t, backend, "a")
		for range 5 {
			require.Error(t, storetest.Increment(t.Context(), s, "a"))
		}
		release()
		require.Equal(t, 1, strings.Count(log.String(), "another transaction has locked the rows"), log.String())
		require.Contains(t, log.String(), "lock timeout", "the cause")
		require.Regexp(t, `the oldest open transaction is of process \d+.*, idle in transaction for \d+ s`, log.String())
	}
}
