package schema_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/settings"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestMigrations(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("four concurrent opens of an empty database", migrateConcurrently(backend))
		t.Run("opening again changes nothing", migrateAgain(backend))
		t.Run("an older binary refuses a newer schema and changes nothing", migrateNewer(backend))
		t.Run("an older binary opens a newer schema that allows it", migrateNewerAllowed(backend))
		t.Run("two versions run on the newer schema", migrateNextVersion(backend))
		t.Run("a schema without a version is refused", migrateUnknown(backend))
	})
}

func migrateConcurrently(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for range 3 {
			config := shop.Config{URL: backend.BlankURL(t), Synchronous: "OFF"}
			var stores [4]*shop.Store
			var failures [4]error
			var group sync.WaitGroup
			for i := range stores {
				group.Go(func() { stores[i], failures[i] = shop.Open(context.Background(), config) })
			}
			group.Wait()
			for i, s := range stores {
				require.NoError(t, failures[i])
				t.Cleanup(func() { _ = s.Close() })
			}
			db := backend.SQLAt(t, config.URL)
			storetest.SeedStock(t, db, stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
			for _, s := range stores {
				require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			}
			require.Equal(t, 4, storetest.Available(t, stores[0], "a"))
			require.Equal(t, "1", storetest.QueryText(t, db, `SELECT COUNT(*) FROM settings`))
		}
	}
}

const (
	minBinaryVersion = `SELECT value FROM store_meta WHERE name = 'min_binary'`
	migrated         = `SELECT COUNT(*) FROM goose_db_version`
)

func migrateAgain(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		before := storetest.QueryText(t, db, migrated)
		_, err := s.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: new(9)})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		settings, err := backend.Open(t).Settings.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 9, settings.PageLength)
		require.Equal(t, before, storetest.QueryText(t, db, migrated))
	}
}

func migrateNewer(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		db := backend.SQL(t)
		known := storetest.QueryText(t, db, `SELECT MAX(version_id) FROM goose_db_version`)
		before := storetest.QueryText(t, db, migrated)
		_, err := db.Exec(`UPDATE store_meta SET value = '99' WHERE name = 'min_binary'`)
		require.NoError(t, err)
		for range 2 {
			_, err = shop.Open(t.Context(), shop.Config{URL: backend.URL(t)})
			require.ErrorContains(t, err, "newer portico")
			require.ErrorContains(t, err, "version 99")
			require.ErrorContains(t, err, "has "+known)
			require.NotContains(t, err.Error(), "\n", "a single line")
		}
		require.Equal(t, "99", storetest.QueryText(t, db, minBinaryVersion))
		require.Equal(t, before, storetest.QueryText(t, db, migrated))
	}
}

// migrateUnknown checks that a database whose version cannot be read is not taken for an empty
// one.
func migrateUnknown(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		db := backend.SQL(t)
		before := storetest.QueryText(t, db, migrated)
		_, err := db.Exec(`DELETE FROM store_meta WHERE name = 'min_binary'`)
		require.NoError(t, err)
		_, err = shop.Open(t.Context(), shop.Config{URL: backend.URL(t)})
		require.ErrorContains(t, err, "no mark of Portico, such as store_meta")
		require.Equal(t, before, storetest.QueryText(t, db, migrated))
	}
}

func migrateNewerAllowed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		db := backend.SQL(t)
		known, err := strconv.Atoi(storetest.QueryText(t, db, `SELECT MAX(version_id) FROM goose_db_version`))
		require.NoError(t, err)
		_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, TRUE)`, known+1)
		require.NoError(t, err)
		_, err = db.Exec(`CREATE TABLE something_newer (id BIGINT PRIMARY KEY)`)
		require.NoError(t, err)
		_, err = backend.Open(t).Settings.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(known+1), storetest.QueryText(t, db, `SELECT MAX(version_id) FROM goose_db_version`))
	}
}
