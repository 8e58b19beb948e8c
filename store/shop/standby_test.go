package shop_test

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// openWithStandby opens a published shop with a read URL. Each page is read from a database.
func openWithStandby(t *testing.T, backend storetest.Backend, address string) (*shop.Store, *testkit.LogBuffer) {
	t.Helper()
	log := &testkit.LogBuffer{}
	return storetest.OpenPublished(t, backend, func(config *shop.Config) {
		config.ReadURL, config.NoCache, config.Log = address, true, slog.New(slog.NewTextHandler(log, nil))
	}), log
}

// standbyReads returns the number of queries with a result.
func standbyReads(s *shop.Store, result string) func() int64 {
	return func() int64 { return s.StandbyStats().Reads[result] }
}

// TestLostStandby breaks the connections to the standby in each way while pages are read. None
// may fail, and the standby is read again once it is back.
func TestLostStandby(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		network, address := backend.NewProxy(t) // the database is its own standby
		s, log := openWithStandby(t, backend, address)
		want := storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{})
		require.Positive(t, standbyReads(s, "read")())

		ctx, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		defer func() { cancel(); readers.Wait() }()
		for range 4 {
			readers.Go(func() {
				for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
					v, err := s.Releases.View(context.Background(), release.ShopperContext{})
					if err == nil {
						var slice *store.Slice[*release.Product]
						if slice, err = v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(100)}}); err == nil && len(slice.Items) != len(want) {
							t.Errorf("%d products, expected %d", len(slice.Items), len(want))
						}
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for _, fault := range []struct {
			name      string
			lose, end func()
		}{
			{"refused connections", func() { network.RefuseConnections(true); network.CloseConnections() }, func() { network.RefuseConnections(false) }},
			{"a silent network", func() { network.DropTraffic(true) }, func() { network.DropTraffic(false); network.CloseConnections() }},
		} {
			fault.lose()
			testkit.Eventually(t, true, func() bool { return s.StandbyStats().Lost }, fault.name)
			lost := standbyReads(s, "lost")()
			testkit.Eventually(t, true, func() bool { return standbyReads(s, "lost")() > lost+10 }, fault.name)
			require.NoError(t, s.Ping(t.Context()), "the server stays ready")
			fault.end()
			testkit.Eventually(t, false, func() bool { return s.StandbyStats().Lost }, fault.name)
			read := standbyReads(s, "read")()
			testkit.Eventually(t, true, func() bool { return standbyReads(s, "read")() > read+10 }, fault.name)
		}
		require.Contains(t, log.String(), "the standby cannot be read; releases are read from the primary")
		require.Contains(t, log.String(), "the standby can be read again")
	})
}

// TestOtherDatabaseAsStandby names a database that does not replicate the primary. It is not
// read, although it has releases of the same numbers.
func TestOtherDatabaseAsStandby(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		backend.PostgresOnly(t)
		other := backend.OtherURL(t)
		elsewhere := backend.Open(t, func(config *shop.Config) { config.URL = other })
		storetest.Import(t, elsewhere, storetest.ShopFile)
		storetest.Publish(t, elsewhere, "main", "outlet")
		s, log := openWithStandby(t, backend, other)
		require.NotEmpty(t, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
		require.True(t, s.StandbyStats().Lost)
		require.Zero(t, standbyReads(s, "read")())
		require.Contains(t, log.String(), "does not replicate the database")
	})
}

// TestStandbyNeedsPostgreSQL refuses a read URL for SQLite, and one that is none.
func TestStandbyNeedsPostgreSQL(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		_, err := shop.Open(t.Context(), shop.Config{URL: backend.URL(t), ReadURL: "postgres://user:secret@[host/database"})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
		require.Contains(t, err.Error(), map[string]string{
			"sqlite":   "a SQLite database has no standby: --read-database-url needs PostgreSQL",
			"postgres": "the URL of the standby is not a PostgreSQL address",
		}[backend.Name])
	})
}

// TestStandbyLostWithinResult cuts the connection after some rows of a result. The rows are read
// again, on a new connection or from the primary, each once.
func TestStandbyLostWithinResult(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		network, address := backend.NewProxy(t)
		s, _ := openWithStandby(t, backend, address)
		published := storetest.View(t, s, release.ShopperContext{}).Release.CacheIdentity()
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), ReadURL: address, Timeouts: store.Timeouts{Read: time.Minute}})
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		const rows = 200
		for result, lose := range map[string]func(){
			"read":   network.CloseConnections,
			"failed": func() { network.RefuseConnections(true); network.CloseConnections() },
		} {
			testkit.Eventually(t, false, func() bool { return d.StandbyStats().Lost })
			before, lose := d.StandbyStats().Reads[result], sync.OnceFunc(lose)
			list, err := db.Collect(t.Context(), d.ReleaseReader(published), func(rows *sql.Rows) (number int, err error) {
				var body string
				err = rows.Scan(&number, &body)
				lose()
				return number, err
			}, `SELECT n, repeat('x', 100000) FROM generate_series(1, $1) AS n`, rows)
			require.NoError(t, err)
			require.Len(t, list, rows)
			for i, number := range list {
				require.Equal(t, i+1, number)
			}
			require.Equal(t, before+1, d.StandbyStats().Reads[result], result)
			network.RefuseConnections(false)
		}
	})
}
