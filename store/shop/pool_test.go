package shop_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestConnectionPools checks pools whose connections are in use, refused or lost: requests fail
// soon, and succeed once there are connections again. Only PostgreSQL has pools.
func TestConnectionPools(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		for _, size := range []int{1, 2} {
			t.Run(fmt.Sprintf("a pool of %d in use", size), poolInUse(backend, size))
		}
		t.Run("a database without free connections", poolRefused(backend))
		t.Run("lost connections", poolLost(backend))
	})
}

// poolReads returns one read of each kind.
func poolReads(t *testing.T, s *shop.Store) map[string]func() error {
	return map[string]func() error{
		"promotions": func() error {
			_, err := s.Promotions.List(t.Context(), promotion.Filter{}, store.ListQuery{})
			return err
		},
		"jobs":     func() error { _, err := s.Jobs.List(t.Context(), 1); return err },
		"gateways": func() error { _, err := s.Gateways.List(t.Context()); return err },
		"clients":  func() error { _, err := s.Access.Clients(t.Context()); return err },
		"catalogs": func() error { _, err := s.Releases.CatalogIDs(t.Context()); return err },
		"codes":    func() error { _, err := s.Codes.Get(t.Context(), "HOLDS"); return err },
		"ready":    func() error { return s.Ping(t.Context()) },
	}
}

func poolWrites(t *testing.T, s *shop.Store) map[string]func() error {
	return map[string]func() error{
		"codes": func() error {
			_, _, err := s.Codes.Create(t.Context(), storetest.Actor, "p", make([]code.NewCode, 1), "")
			return err
		},
		"uses": func() error {
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "HOLDS", Units: 1, Reference: store.NewID()})
			return err
		},
		"jobs": func() error {
			_, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
			return err
		},
		"clients": func() error {
			_, _, err := s.Access.CreateClient(t.Context(), storetest.Actor, "c", access.Scopes())
			return err
		},
	}
}

// openPooled opens a store with data for poolReads and poolWrites.
func openPooled(t *testing.T, backend storetest.Backend, options ...func(*shop.Config)) *shop.Store {
	t.Helper()
	backend.PostgresOnly(t)
	storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
	s := backend.Open(t, append([]func(*shop.Config){storetest.WithClock(testkit.NewClock(testkit.Noon)), func(config *shop.Config) { config.NoCache = true }}, options...)...)
	storetest.Import(t, s, storetest.ShopFile+storetest.PromotionLine("p", ``)+"\n"+storetest.CodeLine("p", "HOLDS", ``))
	return s
}

// runAll runs requests concurrently and reports those whose error is not good.
func runAll(t *testing.T, all map[string]func() error, good func(error) bool) {
	t.Helper()
	var requested sync.WaitGroup
	for name, ask := range all {
		requested.Go(func() {
			if err := ask(); !good(err) {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
	requested.Wait()
}

func succeeded(err error) bool { return err == nil }

// isUnavailable reports the error of a request that got no connection.
func isUnavailable(err error) bool { return store.HasCode(err, store.Unavailable) }

func poolInUse(backend storetest.Backend, size int) func(*testing.T) {
	return func(t *testing.T) {
		s := openPooled(t, backend, func(config *shop.Config) {
			config.Readers = size
			config.URL = withParameter(t, config.URL, "lock_timeout", "0") // waiters for a lock keep their connection
			config.Timeouts = store.Timeouts{Connection: time.Second, Read: time.Hour, Write: time.Hour, Lock: time.Hour, Idle: time.Minute}
		})
		for range 2 { // again after their release
			lock, err := backend.SQL(t).Begin()
			require.NoError(t, err)
			defer lock.Rollback()
			_, err = lock.Exec(`LOCK TABLE stock IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
			_, err = lock.Exec(`LOCK TABLE api_client IN EXCLUSIVE MODE`) // allows reads
			require.NoError(t, err)
			var holders sync.WaitGroup
			for range size {
				holders.Go(func() {
					if _, err := s.Stock.List(t.Context(), store.ListQuery{}); err != nil {
						t.Errorf("a reader with a connection got %v", err)
					}
				})
				holders.Go(func() {
					if _, _, err := s.Access.CreateClient(t.Context(), storetest.Actor, "held", access.Scopes()); err != nil {
						t.Errorf("a writer with a connection got %v", err)
					}
				})
			}
			storetest.WaitForLockWaiters(t, backend, 2*size, "they wait for the tables, and nobody else has a connection for a moment")
			runAll(t, poolReads(t, s), isUnavailable)
			runAll(t, poolWrites(t, s), isUnavailable)
			require.NoError(t, lock.Rollback())
			holders.Wait()
			runAll(t, poolReads(t, s), succeeded)
			runAll(t, poolWrites(t, s), succeeded)
		}
		require.Equal(t, 2*size, storetest.CountRows(t, backend.SQL(t), `api_client WHERE name = 'held'`))
	}
}

// withParameter adds a parameter to an address.
func withParameter(t *testing.T, address, name, value string) string {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	query := at.Query()
	query.Set(name, value)
	at.RawQuery = query.Encode()
	return at.String()
}

func poolRefused(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		network, address := backend.NewProxy(t)
		s := openPooled(t, backend, func(config *shop.Config) { config.URL, config.Readers = address, 2 })
		network.RefuseConnections(true)
		network.CloseConnections()
		for range 2 {
			runAll(t, poolReads(t, s), isUnavailable)
			runAll(t, poolWrites(t, s), isUnavailable)
		}
		network.RefuseConnections(false)
		runAll(t, poolReads(t, s), succeeded)
		runAll(t, poolWrites(t, s), succeeded)
	}
}

// poolLost closes all idle connections of a pool. Later reads succeed on new ones.
func poolLost(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		network, address := backend.NewProxy(t)
		s := openPooled(t, backend, func(config *shop.Config) { config.URL, config.Readers = address, 4 })
		for range testkit.QuickOrFull(5, 30) {
			var users sync.WaitGroup // use all connections
			for range 8 {
				users.Go(func() { runAll(t, poolReads(t, s), succeeded) })
				users.Go(func() { runAll(t, poolWrites(t, s), succeeded) })
			}
			users.Wait()
			network.CloseConnections()
			runAll(t, poolReads(t, s), succeeded)
			network.CloseConnections()
			runAll(t, poolWrites(t, s), succeeded)
		}
	}
}
