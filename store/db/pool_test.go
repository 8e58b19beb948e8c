package db_test

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
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
)

// TestConnectionPools is the promise about connections of a pool that are all in use, cannot
// be had, or were lost: whoever needs one is told so soon, and all is as before
// once they can be had. Only PostgreSQL has pools.
func TestConnectionPools(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for _, size := range []int{1, 2} {
			t.Run(fmt.Sprintf("a pool of %d that others hold", size), poolHeld(backend, size))
		}
		t.Run("a database with no connection left", poolRefused(backend))
		t.Run("connections that were lost", poolLost(backend))
	})
}

// reads are one of each kind, and writes likewise, of what a shop is asked for.
func reads(t *testing.T, s *shop.Store) map[string]func() error {
	return map[string]func() error{
		"promotions": func() error {
			_, err := s.Promotions(t.Context(), promotion.PromotionFilter{}, store.ListQuery{})
			return err
		},
		"jobs":     func() error { _, err := s.Jobs(t.Context(), 1); return err },
		"gateways": func() error { _, err := s.Gateways(t.Context()); return err },
		"clients":  func() error { _, err := s.Clients(t.Context()); return err },
		"catalogs": func() error { _, err := s.CatalogIDs(t.Context()); return err },
		"codes":    func() error { _, err := s.PromotionCode(t.Context(), "HOLDS"); return err },
		"ready":    func() error { return s.Ping(t.Context()) },
	}
}

func writes(t *testing.T, s *shop.Store) map[string]func() error {
	return map[string]func() error{
		"codes": func() error {
			_, _, err := s.CreatePromotionCodes(t.Context(), storetest.Actor, "p", make([]promotion.NewCode, 1), "")
			return err
		},
		"uses": func() error {
			_, err := s.RedeemCode(t.Context(), storetest.Actor, promotion.CodeUse{Code: "HOLDS", Units: 1, Reference: store.NewID()})
			return err
		},
		"jobs": func() error { _, err := s.PublishLater(t.Context(), storetest.Actor, "main", true); return err },
		"clients": func() error {
			_, _, err := s.CreateClient(t.Context(), storetest.Actor, "c", access.Scopes())
			return err
		},
	}
}

// pooled is a shop with all that is read and written, and the store of it.
func pooled(t *testing.T, backend storetest.Backend, options ...func(*shop.Config)) *shop.Store {
	t.Helper()
	storetest.PostgresOnly(t, backend)
	storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: storetest.Noon, UpdatedAt: storetest.Noon})
	s := backend.Open(t, append([]func(*shop.Config){storetest.WithClock(storetest.NewClock(storetest.Noon)), func(config *shop.Config) { config.NoCache = true }}, options...)...)
	storetest.Import(t, s, storetest.ShopFile+storetest.PromotionLine("p", ``)+"\n"+storetest.CodeLine("p", "HOLDS", ``))
	return s
}

// askAll asks all at once, and says who was answered in another way.
func askAll(t *testing.T, all map[string]func() error, good func(error) bool) {
	t.Helper()
	var asked sync.WaitGroup
	for name, ask := range all {
		asked.Go(func() {
			if err := ask(); !good(err) {
				t.Errorf("%s: answers %v", name, err)
			}
		})
	}
	asked.Wait()
}

func well(err error) bool { return err == nil }

// unconnected is the answer to whoever got no connection.
func unconnected(err error) bool { return store.HasCode(err, store.Unavailable) }

func poolHeld(backend storetest.Backend, size int) func(*testing.T) {
	return func(t *testing.T) {
		s := pooled(t, backend, func(config *shop.Config) {
			config.Readers = size
			config.URL = withParameter(t, config.URL, "lock_timeout", "0") // so who waits for a lock keeps the connection
			config.Timeouts = store.Timeouts{Connection: time.Second, Read: time.Hour, Write: time.Hour, Lock: time.Hour, Idle: time.Minute}
		})
		for range 2 { // and again, once they were given back
			lock, err := backend.SQL(t).Begin()
			require.NoError(t, err)
			defer lock.Rollback()
			_, err = lock.Exec(`LOCK TABLE stock IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
			_, err = lock.Exec(`LOCK TABLE api_client IN EXCLUSIVE MODE`) // which may be read
			require.NoError(t, err)
			var holders sync.WaitGroup
			for range size {
				holders.Go(func() {
					if _, err := s.Stocks(t.Context(), store.ListQuery{}); err != nil {
						t.Errorf("whoever has a connection is answered in the end, not %v", err)
					}
				})
				holders.Go(func() {
					if _, _, err := s.CreateClient(t.Context(), storetest.Actor, "held", access.Scopes()); err != nil {
						t.Errorf("whoever has a connection writes in the end, not %v", err)
					}
				})
			}
			storetest.WaitForLockWaiters(t, backend, 2*size, "they wait for the tables, and nobody else has a connection for a moment")
			askAll(t, reads(t, s), unconnected)
			askAll(t, writes(t, s), unconnected)
			require.NoError(t, lock.Rollback())
			holders.Wait()
			askAll(t, reads(t, s), well)
			askAll(t, writes(t, s), well)
		}
		require.Equal(t, 2*size, storetest.CountRows(t, backend.SQL(t), `api_client WHERE name = 'held'`))
	}
}

// withParameter is an address with one more parameter.
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
		network, address := storetest.NewProxy(t, backend)
		s := pooled(t, backend, func(config *shop.Config) { config.URL, config.Readers = address, 2 })
		network.RefuseConnections(true)
		network.CloseConnections()
		for range 2 {
			askAll(t, reads(t, s), unconnected)
			askAll(t, writes(t, s), unconnected)
		}
		network.RefuseConnections(false)
		askAll(t, reads(t, s), well)
		askAll(t, writes(t, s), well)
	}
}

// poolLost has the connections of a pool be lost while nobody uses them: each
// read that comes then is answered by another one.
func poolLost(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		network, address := storetest.NewProxy(t, backend)
		s := pooled(t, backend, func(config *shop.Config) { config.URL, config.Readers = address, 4 })
		for range storetest.QuickOrFull(5, 30) {
			var users sync.WaitGroup // of all connections
			for range 8 {
				users.Go(func() { askAll(t, reads(t, s), well) })
				users.Go(func() { askAll(t, writes(t, s), well) })
			}
			users.Wait()
			network.CloseConnections()
			askAll(t, reads(t, s), well)
			network.CloseConnections()
			askAll(t, writes(t, s), well)
		}
	}
}
