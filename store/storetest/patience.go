package storetest

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
)

// Patience is the promise that whoever shares the database holds nobody for
// long: what cannot be done in time is answered UNAVAILABLE, and whatever does
// not need it goes on.
func Patience(t *testing.T, e Engine) {
	t.Run("rows that somebody holds keep no reader, and a writer for its time", rowsHeld(e))
	t.Run("a write that stands still loses its rows to those who wait, and is made once it goes on", writeStandsStill(e))
	t.Run("a server that stands still in a write delays no write of other products", stoodStill(e))
	t.Run("one connection is enough for everything", oneConnection(e))
	t.Run("a query that takes too long is given up", querySlow(e))
	t.Run("a network that swallows everything is given up, and found again", networkSwallows(e))
	t.Run("a network that is slow is waited for, up to a time", networkSlow(e))
	t.Run("a database that takes no writes is read", databaseReadOnly(e))
	t.Run("a trouble is logged once, however many meet it", troubleLogged(e))
}

// hasty is a store that waits for nothing that takes its time.
func hasty(change func(*store.Timeouts)) func(*shop.Config) {
	return func(config *shop.Config) {
		config.Patience = store.Timeouts{Lock: 50 * time.Millisecond}
		if change != nil {
			change(&config.Patience)
		}
	}
}

func rowsHeld(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: noon, UpdatedAt: noon}, stock.Stock{ProductID: "b", CreatedAt: noon, UpdatedAt: noon})
		s := e.Open(t, hasty(nil))
		release := hold(t, e, "a")
		var writers sync.WaitGroup
		for range 20 { // more than there are connections
			writers.Go(func() {
				err := increment(t.Context(), s, "a")
				if !store.HasCode(err, store.Unavailable) {
					t.Errorf("answers %v", err)
				}
			})
		}
		for range 100 {
			require.Equal(t, 0, available(t, s, "a"))
		}
		writers.Wait()
		err := increment(t.Context(), s, "a")
		requireFault(t, err, store.Unavailable, "", "Another write holds", "nothing was written", "try again")
		require.NoError(t, increment(t.Context(), s, "b"))
		release()
		require.NoError(t, increment(t.Context(), s, "a"))
		require.Equal(t, 1, available(t, s, "a"))
	}
}

// writeStandsStill has one server stop in the middle of a write, as one that
// is stopped, or whose machine is moved.
func writeStandsStill(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: noon, UpdatedAt: noon})
		network, address := Between(t, e)
		still := e.Open(t, hasty(func(p *store.Timeouts) { p.Idle = 100 * time.Millisecond }), func(config *shop.Config) { config.URL = address })
		other := e.Open(t, hasty(func(p *store.Timeouts) { p.Lock = time.Minute }))
		reached, goOn := network.StopAt("commit")
		done := make(chan error)
		go func() { done <- increment(t.Context(), still, "a") }()
		<-reached
		require.NoError(t, increment(t.Context(), other, "a"), "the database has ended what stood still")
		require.Equal(t, 1, available(t, other, "a"))
		close(goOn)
		if err, made := <-done, available(t, other, "a"); err == nil {
			require.Equal(t, 2, made, "it was made again")
		} else { // the database's last word was lost, so that nobody could know
			requireFault(t, err, store.Unavailable, "")
			require.Equal(t, 1, made, "what was ended is not written")
		}
		requireLedger(t, e.SQL(t))
	}
}

// stoodStill has a transaction hold a product, and every lane there is, for the
// whole test. Writers of that product wait, more than there are connections and
// longer than a write waits for a connection. Nobody else is refused.
func stoodStill(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		free := []string{"b", "c", "d", "e", "f", "g", "h", "i"}
		s := stocked(t, e, 0, append(free, "a")...)
		var log Log
		hurried := func(config *shop.Config) {
			config.Patience = store.Timeouts{Connection: 2 * time.Second, Read: time.Minute, Write: time.Hour, Lock: time.Hour, Idle: time.Hour}
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		}
		servers := []*shop.Store{e.Open(t, hurried), e.Open(t, hurried)}
		for _, server := range servers {
			require.NoError(t, increment(t.Context(), server, "b"))
		}
		sell := func(ctx context.Context) error { return increment(ctx, servers[0], "b") }
		usual := statements(t, sell)
		still, err := e.SQL(t).Begin()
		require.NoError(t, err)
		for _, statement := range []string{`UPDATE stock SET available = available WHERE product_id = 'a'`, `UPDATE change SET version = version WHERE topic LIKE 'stock/%'`} {
			result, err := still.Exec(statement)
			require.NoError(t, err)
			held, err := result.RowsAffected()
			require.NoError(t, err)
			require.NotZero(t, held, statement)
		}
		require.Equal(t, usual+1, statements(t, sell), "it adds a lane")
		require.Equal(t, usual, statements(t, sell), "and stays with it")
		var waiting, writing sync.WaitGroup
		var told atomic.Int64
		for range 40 {
			for n, server := range servers {
				ctx := store.WithLockWaitListener(t.Context(), store.LockWaitFunc(func() { told.Add(1) }))
				if n == 0 { // not in a group with others
					ctx = store.WithIdempotencyKey(ctx, &store.IdempotencyKey{Key: store.NewID(), Operation: "sell", Input: "a"})
				}
				waiting.Go(func() {
					if err := increment(ctx, server, "a"); err != nil {
						t.Errorf("a write of the product that is held: %v", err)
					}
				})
			}
		}
		Soon(t, true, func() bool { return told.Load() == 80 }, "they give up their place among writes")
		for n, product := range free {
			for _, server := range servers {
				writing.Go(func() {
					for range 20 {
						if err := increment(t.Context(), server, product); err != nil {
							t.Errorf("a write of %s, which nobody holds: %v", product, err)
						}
					}
					if _, err := server.CreateStock(t.Context(), actor, fmt.Sprint("new-", n, "-", store.NewID()), 1); err != nil {
						t.Errorf("a new record: %v", err)
					}
				})
			}
		}
		for range 40 { // in groups with those that wait
			waiting.Go(func() {
				if err := increment(t.Context(), servers[1], "a"); err != nil {
					t.Errorf("a write of the product that is held: %v", err)
				}
			})
		}
		_, err = s.Import(t.Context(), actor, file(`{"type":"stock","id":"imported","available":1,"allocated":0,"total":1}`), exchange.ImportOptions{})
		require.NoError(t, err)
		writing.Wait()
		require.Equal(t, 0, settled(t, s, "a"))
		require.NoError(t, still.Rollback())
		waiting.Wait()
		require.Equal(t, 120, settled(t, s, "a"))
		for _, product := range free {
			want := 40
			if product == "b" {
				want += 2 + 3
			}
			require.Equal(t, want, settled(t, s, product))
			for _, server := range servers {
				Soon(t, want, func() int { return available(t, server, product) })
			}
		}
		requireLedger(t, e.SQL(t))
		require.LessOrEqual(t, count(t, e.SQL(t), `change WHERE topic LIKE 'stock/%'`), 3*4+2, "no more lanes than connections that write")
		require.NotContains(t, log.String(), "level=ERROR")
	}
}

func oneConnection(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := e.Open(t, func(config *shop.Config) { config.Readers = 1 })
		imported(t, s, strings.Join(Shop(), "\n"))
		working(t, s)
		task, err := s.PublishLater(t.Context(), actor, "main", true)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var requests sync.WaitGroup
		for range 4 {
			requests.Go(func() {
				for ctx.Err() == nil {
					if _, err := s.Stocks(t.Context(), store.ListQuery{}); err != nil {
						t.Errorf("reading: %v", err)
					}
					if err := increment(t.Context(), s, "anvil"); err != nil {
						t.Errorf("writing: %v", err)
					}
				}
			})
		}
		task = ended(t, s, task.ID)
		cancel()
		requests.Wait()
		require.Equal(t, job.JobSucceeded, task.State, task.Error)
	}
}

func querySlow(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		s := e.Open(t, hasty(func(p *store.Timeouts) { p.Read = 100 * time.Millisecond }))
		lock, err := e.SQL(t).Begin()
		require.NoError(t, err)
		_, err = lock.Exec(`LOCK TABLE promotion`)
		require.NoError(t, err)
		_, err = s.Promotions(t.Context(), promotion.PromotionFilter{}, store.ListQuery{})
		requireFault(t, err, store.Unavailable, "", "took too long", "try again")
		require.NoError(t, lock.Rollback())
		_, err = s.Promotions(t.Context(), promotion.PromotionFilter{}, store.ListQuery{})
		require.NoError(t, err)
	}
}

func networkSwallows(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: noon, UpdatedAt: noon})
		network, address := Between(t, e)
		s := e.Open(t, hasty(func(p *store.Timeouts) {
			p.Connection, p.Read, p.Write = time.Second, 200*time.Millisecond, 400*time.Millisecond
		}), func(config *shop.Config) { config.URL = address })
		require.NoError(t, increment(t.Context(), s, "a"))
		for range 2 {
			network.Swallow(true)
			var asked sync.WaitGroup
			for range 10 {
				asked.Go(func() {
					_, err := s.Stocks(t.Context(), store.ListQuery{})
					if !store.HasCode(err, store.Unavailable) {
						t.Errorf("reading answers %v", err)
					}
					if err := increment(t.Context(), s, "a"); !store.HasCode(err, store.Unavailable) {
						t.Errorf("writing answers %v", err)
					}
				})
			}
			asked.Wait()
			network.Swallow(false)
			Soon(t, true, func() bool { return increment(t.Context(), s, "a") == nil })
			Soon(t, true, func() bool { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err == nil })
			network.Cut()
			Soon(t, true, func() bool { return increment(t.Context(), s, "a") == nil })
		}
		requireLedger(t, e.SQL(t))
	}
}

func networkSlow(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: noon, UpdatedAt: noon})
		network, address := Between(t, e)
		within := func(d time.Duration) map[string]func() error {
			s := e.Open(t, func(config *shop.Config) { config.URL, config.Patience.Read, config.Patience.Write = address, d, d })
			return map[string]func() error{
				"a read":  func() error { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err },
				"a write": func() error { return increment(t.Context(), s, "a") },
			}
		}
		patient, hurried := within(time.Minute), within(200*time.Millisecond)
		network.Slow(2 * time.Millisecond)
		for range 5 {
			askAll(t, patient, well)
		}
		network.Slow(400 * time.Millisecond)
		askAll(t, hurried, unconnected)
		network.Slow(0)
		for name, ask := range hurried {
			Soon(t, true, func() bool { return ask() == nil }, name)
		}
		askAll(t, patient, well)
		requireLedger(t, e.SQL(t))
	}
}

// databaseReadOnly has the database refuse writes, as a standby does.
func databaseReadOnly(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		s, name := stocked(t, e, 3, "a"), nameOf(t, e)
		standBy := func(on string) {
			t.Helper()
			_, err := shared.admin.Exec(`ALTER DATABASE ` + name + ` SET default_transaction_read_only = ` + on)
			require.NoError(t, err)
			endSessions(t, name)
		}
		t.Cleanup(func() { standBy("off") })
		require.False(t, s.ReadOnly())
		standBy("on")
		Soon(t, true, func() bool { _, err := s.Stocks(t.Context(), store.ListQuery{}); return err == nil })
		Soon(t, true, func() bool { _ = increment(t.Context(), s, "a"); return s.ReadOnly() })
		requireFault(t, increment(t.Context(), s, "a"), store.Unavailable, "", "read-only at the moment", "reads work")
		require.Equal(t, 3, available(t, s, "a"))
		next := e.Open(t, func(config *shop.Config) { config.Patience.Connection = time.Second })
		require.True(t, next.ReadOnly(), "one that starts then knows it")
		require.Equal(t, 3, available(t, next, "a"))
		require.NoError(t, next.Ping(t.Context()))
		working(t, next)
		standBy("off")
		for _, s := range []*shop.Store{s, next} {
			Soon(t, false, s.ReadOnly)
			Soon(t, true, func() bool { return increment(t.Context(), s, "a") == nil })
		}
		Soon(t, true, func() bool { stock, err := s.Stock(t.Context(), "a"); return err == nil && stock.Available == 5 })
	}
}

func troubleLogged(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: noon, UpdatedAt: noon})
		var log Log
		s := e.Open(t, hasty(func(p *store.Timeouts) { p.Lock = 5 * time.Millisecond }), func(config *shop.Config) { config.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		release := hold(t, e, "a")
		for range 5 {
			require.Error(t, increment(t.Context(), s, "a"))
		}
		release()
		require.Equal(t, 1, strings.Count(log.String(), "another transaction has locked the rows"), log.String())
		require.Contains(t, log.String(), "lock timeout", "the cause")
		require.Regexp(t, `the oldest open transaction is of process \d+.*, idle in transaction for \d+ s`, log.String())
	}
}
