package db_test

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
)

// TestTimeouts is the promise that whoever shares the database holds nobody for
// long: what cannot be done in time is answered UNAVAILABLE, and whatever does
// not need it goes on.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("rows that somebody holds keep no reader, and a writer for its time", rowsHeld(backend))
		t.Run("a write that stands still loses its rows to those who wait, and is made once it goes on", writeStandsStill(backend))
		t.Run("a server that stands still in a write delays no write of other products", stoodStill(backend))
		t.Run("one connection is enough for everything", oneConnection(backend))
		t.Run("a query that takes too long is given up", querySlow(backend))
		t.Run("a network that swallows everything is given up, and found again", networkSwallows(backend))
		t.Run("a network that is slow is waited for, up to a time", networkSlow(backend))
		t.Run("a database that takes no writes is read", databaseReadOnly(backend))
		t.Run("a trouble is logged once, however many meet it", troubleLogged(backend))
	})
}

// hasty is a store that waits for nothing that takes its time.
func hasty(change func(*store.Timeouts)) func(*shop.Config) {
	return func(config *shop.Config) {
		config.Timeouts = store.Timeouts{Lock: 50 * time.Millisecond}
		if change != nil {
			change(&config.Timeouts)
		}
	}
}

func rowsHeld(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon}, stock.Stock{ProductID: "b", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon})
		s := backend.Open(t, hasty(nil))
		release := hold(t, backend, "a")
		var writers sync.WaitGroup
		for range 20 { // more than there are connections
			writers.Go(func() {
				err := storetest.Increment(t.Context(), s, "a")
				if !store.HasCode(err, store.Unavailable) {
					t.Errorf("answers %v", err)
				}
			})
		}
		for range 100 {
			require.Equal(t, 0, storetest.Available(t, s, "a"))
		}
		writers.Wait()
		err := storetest.Increment(t.Context(), s, "a")
		storetest.RequireError(t, err, store.Unavailable, "", "Another write holds", "nothing was written", "try again")
		require.NoError(t, storetest.Increment(t.Context(), s, "b"))
		release()
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		require.Equal(t, 1, storetest.Available(t, s, "a"))
	}
}

// writeStandsStill has one server stop in the middle of a write, as one that
// is stopped, or whose machine is moved.
func writeStandsStill(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon})
		network, address := storetest.NewProxy(t, backend)
		still := backend.Open(t, hasty(func(p *store.Timeouts) { p.Idle = 100 * time.Millisecond }), func(config *shop.Config) { config.URL = address })
		other := backend.Open(t, hasty(func(p *store.Timeouts) { p.Lock = time.Minute }))
		reached, goOn := network.PauseAt("commit")
		done := make(chan error)
		go func() { done <- storetest.Increment(t.Context(), still, "a") }()
		<-reached
		require.NoError(t, storetest.Increment(t.Context(), other, "a"), "the database has ended what stood still")
		require.Equal(t, 1, storetest.Available(t, other, "a"))
		close(goOn)
		if err, made := <-done, storetest.Available(t, other, "a"); err == nil {
			require.Equal(t, 2, made, "it was made again")
		} else { // the database's last word was lost, so that nobody could know
			storetest.RequireError(t, err, store.Unavailable, "")
			require.Equal(t, 1, made, "what was ended is not written")
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// stoodStill has a transaction hold a product, and every lane there is, for the
// whole test. Writers of that product wait, more than there are connections and
// longer than a write waits for a connection. Nobody else is refused.
func stoodStill(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		free := []string{"b", "c", "d", "e", "f", "g", "h", "i"}
		s := storetest.OpenWithStock(t, backend, 0, append(free, "a")...)
		var log storetest.LogBuffer
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
		require.Equal(t, usual, storetest.CountStatements(t, sell), "and stays with it")
		var waiting, writing sync.WaitGroup
		var told atomic.Int64
		for range 40 {
			for n, server := range servers {
				ctx := store.WithLockWaitListener(t.Context(), store.LockWaitFunc(func() { told.Add(1) }))
				if n == 0 { // not in a group with others
					ctx = store.WithIdempotencyKey(ctx, &store.IdempotencyKey{Key: store.NewID(), Operation: "sell", Input: "a"})
				}
				waiting.Go(func() {
					if err := storetest.Increment(ctx, server, "a"); err != nil {
						t.Errorf("a write of the product that is held: %v", err)
					}
				})
			}
		}
		storetest.Eventually(t, true, func() bool { return told.Load() == 80 }, "they give up their place among writes")
		for n, product := range free {
			for _, server := range servers {
				writing.Go(func() {
					for range 20 {
						if err := storetest.Increment(t.Context(), server, product); err != nil {
							t.Errorf("a write of %s, which nobody holds: %v", product, err)
						}
					}
					if _, err := server.CreateStock(t.Context(), storetest.Actor, fmt.Sprint("new-", n, "-", store.NewID()), 1); err != nil {
						t.Errorf("a new record: %v", err)
					}
				})
			}
		}
		for range 40 { // in groups with those that wait
			waiting.Go(func() {
				if err := storetest.Increment(t.Context(), servers[1], "a"); err != nil {
					t.Errorf("a write of the product that is held: %v", err)
				}
			})
		}
		_, err = s.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"stock","id":"imported","available":1,"allocated":0,"total":1}`), exchange.ImportOptions{})
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
				storetest.Eventually(t, want, func() int { return storetest.Available(t, server, product) })
			}
		}
		storetest.RequireLedger(t, backend.SQL(t))
		require.LessOrEqual(t, storetest.CountRows(t, backend.SQL(t), `change WHERE topic LIKE 'stock/%'`), 3*4+2, "no more lanes than connections that write")
		require.NotContains(t, log.String(), "level=ERROR")
	}
}

func oneConnection(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t, func(config *shop.Config) { config.Readers = 1 })
		storetest.Import(t, s, strings.Join(storetest.ShopLines(), "\n"))
		storetest.RunWorker(t, s)
		task, err := s.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var requests sync.WaitGroup
		for range 4 {
			requests.Go(func() {
				for ctx.Err() == nil {
					if _, err := s.Stocks(t.Context(), store.ListQuery{}); err != nil {
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
		require.Equal(t, job.JobSucceeded, task.State, task.Error)
	}
}

func querySlow(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		s := backend.Open(t, hasty(func(p *store.Timeouts) { p.Read = 100 * time.Millisecond }))
		lock, err := backend.SQL(t).Begin()
		require.NoError(t, err)
		_, err = lock.Exec(`LOCK TABLE promotion`)
		require.NoError(t, err)
		_, err = s.Promotions(t.Context(), promotion.PromotionFilter{}, store.ListQuery{})
		storetest.RequireError(t, err, store.Unavailable, "", "took too long", "try again")
		require.NoError(t, lock.Rollback())
		_, err = s.Promotions(t.Context(), promotion.PromotionFilter{}, store.ListQuery{})
		require.NoError(t, err)
	}
}

func networkSwallows(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon})
		network, address := storetest.NewProxy(t, backend)
		s := backend.Open(t, hasty(func(p *store.Timeouts) {
			p.Connection, p.Read, p.Write = time.Second, 200*time.Millisecond, 400*time.Millisecond
		}), func(config *shop.Config) { config.URL = address })
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		for range 2 {
			network.DropTraffic(true)
			var asked sync.WaitGroup
			for range 10 {
				asked.Go(func() {
					_, err := s.Stocks(t.Context(), store.ListQuery{})
					if !store.HasCode(err, store.Unavailable) {
						t.Errorf("reading answers %v", err)
					}
					if err := storetest.Increment(t.Context(), s, "a"); !store.HasCode(err, store.Unavailable) {
						t.Errorf("writing answers %v", err)
					}
				})
			}
			asked.Wait()
			network.DropTraffic(false)
			storetest.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil })
			storetest.Eventually(t, true, func() bool { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err == nil })
			network.CloseConnections()
			storetest.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil })
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func networkSlow(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon})
		network, address := storetest.NewProxy(t, backend)
		within := func(d time.Duration) map[string]func() error {
			s := backend.Open(t, func(config *shop.Config) { config.URL, config.Timeouts.Read, config.Timeouts.Write = address, d, d })
			return map[string]func() error{
				"a read":  func() error { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err },
				"a write": func() error { return storetest.Increment(t.Context(), s, "a") },
			}
		}
		patient, hurried := within(time.Minute), within(200*time.Millisecond)
		network.SetDelay(2 * time.Millisecond)
		for range 5 {
			askAll(t, patient, well)
		}
		network.SetDelay(400 * time.Millisecond)
		askAll(t, hurried, unconnected)
		network.SetDelay(0)
		for name, ask := range hurried {
			storetest.Eventually(t, true, func() bool { return ask() == nil }, name)
		}
		askAll(t, patient, well)
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// databaseReadOnly has the database refuse writes, as a standby does.
func databaseReadOnly(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		s, name := storetest.OpenWithStock(t, backend, 3, "a"), storetest.DatabaseName(t, backend)
		t.Cleanup(func() { storetest.SetReadOnly(t, name, "off") })
		require.False(t, s.ReadOnly())
		storetest.SetReadOnly(t, name, "on")
		storetest.Eventually(t, true, func() bool { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err == nil })
		storetest.Eventually(t, true, func() bool { _ = storetest.Increment(t.Context(), s, "a"); return s.ReadOnly() })
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "read-only at the moment", "reads work")
		require.Equal(t, 3, storetest.Available(t, s, "a"))
		next := backend.Open(t, func(config *shop.Config) { config.Timeouts.Connection = time.Second })
		require.True(t, next.ReadOnly(), "one that starts then knows it")
		require.Equal(t, 3, storetest.Available(t, next, "a"))
		require.NoError(t, next.Ping(t.Context()))
		storetest.RunWorker(t, next)
		storetest.SetReadOnly(t, name, "off")
		for _, s := range []*shop.Store{s, next} {
			storetest.Eventually(t, false, s.ReadOnly)
			storetest.Eventually(t, true, func() bool { return storetest.Increment(t.Context(), s, "a") == nil })
		}
		storetest.Eventually(t, true, func() bool { stock, err := s.Stock(t.Context(), "a"); return err == nil && stock.Available == 5 })
	}
}

func troubleLogged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.PostgresOnly(t, backend)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon})
		var log storetest.LogBuffer
		s := backend.Open(t, hasty(func(p *store.Timeouts) { p.Lock = 5 * time.Millisecond }), func(config *shop.Config) { config.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		release := hold(t, backend, "a")
		for range 5 {
			require.Error(t, storetest.Increment(t.Context(), s, "a"))
		}
		release()
		require.Equal(t, 1, strings.Count(log.String(), "another transaction has locked the rows"), log.String())
		require.Contains(t, log.String(), "lock timeout", "the cause")
		require.Regexp(t, `the oldest open transaction is of process \d+.*, idle in transaction for \d+ s`, log.String())
	}
}
