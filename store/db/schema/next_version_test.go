package schema_test

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/access"
	"portico/store/job"
	"portico/store/promotion/redeem"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// migrateNextVersion adds a table and a column in each table to the schema, as the next version's
// migration may. Servers of both versions run on it.
func migrateNextVersion(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		db, clock := backend.SQL(t), testkit.NewClock(testkit.Noon)
		beside := backend.Open(t, storetest.WithClock(clock)) // opened before the migration
		known, err := strconv.Atoi(storetest.QueryText(t, db, `SELECT MAX(version_id) FROM goose_db_version`))
		require.NoError(t, err)
		run := func(query string, args ...any) {
			_, err := db.Exec(query, args...)
			require.NoError(t, err, query)
		}
		run(`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, TRUE)`, known+1)
		run(`CREATE TABLE newer_table (id BIGINT PRIMARY KEY)`)
		tables := tablesOf(t, backend, db)
		require.Greater(t, len(tables), 30)
		for _, table := range tables {
			run(`ALTER TABLE ` + table + ` ADD COLUMN newer BIGINT NOT NULL DEFAULT 7`)
		}
		var replayed atomic.Int64
		next := backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, next, storetest.ShopFile+storetest.PromotionLine("p", "")+"\n"+storetest.CodeLine("p", "MANY", `,"max_uses":100,"uses":100`)+"\n")
		for i, s := range []*shop.Store{beside, next} {
			storetest.RenameProducts(t, s, fmt.Sprint("Version ", i))
			storetest.Publish(t, s, "main", "outlet")
			require.True(t, strings.HasPrefix(storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "anvil").Name(), fmt.Sprint("Version ", i)))
			_, err = s.Stock.Create(t.Context(), storetest.Actor, fmt.Sprint("made-", i), 5)
			require.NoError(t, err)
			require.NoError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), fmt.Sprint("k", i), "o", 1, &replayed), s, fmt.Sprint("made-", i)))
			require.Equal(t, 6, storetest.Available(t, s, fmt.Sprint("made-", i)))
			_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "MANY", Reference: fmt.Sprint("order-", i), Units: 1})
			require.NoError(t, err)
			_, err = s.Redemptions.Release(t.Context(), storetest.Actor, fmt.Sprint("order-", i), nil)
			require.NoError(t, err)
			require.NoError(t, storetest.AddCodes(s, "p", fmt.Sprint("FRESH-", i)))
			_, _, err = s.Access.CreateClient(t.Context(), storetest.Actor, "newer", access.Scopes())
			require.NoError(t, err)
			clock.Advance(26 * time.Hour)
			require.NoError(t, s.Sweep(t.Context()))
		}
		storetest.RunWorker(t, next)
		task, err := next.Publisher.PublishLater(t.Context(), storetest.Actor, "outlet", true)
		require.NoError(t, err)
		require.Equal(t, job.Succeeded, storetest.WaitForJob(t, next, task.ID).State)
		storetest.RequireStockConsistent(t, db)
		storetest.RequireNoOrphans(t, db)
		storetest.RequireSameAfterImport(t, backend, next)
		require.Equal(t, strconv.Itoa(known+1), storetest.QueryText(t, db, `SELECT MAX(version_id) FROM goose_db_version`))
	}
}

// tablesOf returns the tables of the schema except the migrator's own.
func tablesOf(t *testing.T, backend storetest.Backend, db *sql.DB) (names []string) {
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'`
	if backend.Name == "postgres" {
		query = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
	}
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		if !strings.HasPrefix(name, "goose_") {
			names = append(names, name)
		}
	}
	require.NoError(t, rows.Err())
	return names
}
