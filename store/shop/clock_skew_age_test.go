package shop_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/job"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const oneYear = 366 * testkit.Day

// agedTables are the tables whose rows are deleted by age, with the columns of their times.
var agedTables = map[string][]string{
	"stock_transaction": {"created_at"}, "code_usage": {"created_at"}, "job": {"finished_at"}, "api_client": {"revoked_at"},
	"idempotency_key": {"created_at"}, "release": {"superseded_at"}, "signing_key": {"created_at", "signs_at"},
}

// agedRows counts the rows of each table.
func agedRows(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for table := range agedTables {
		rows[table] = storetest.CountRows(t, db, table)
	}
	return rows
}

// makeOlder moves the times of all rows into the past.
func makeOlder(t *testing.T, db *sql.DB, by time.Duration) {
	t.Helper()
	for table, columns := range agedTables {
		for _, column := range columns {
			_, err := db.Exec(fmt.Sprintf(`UPDATE %s SET %s = %[2]s - %d WHERE %[2]s > 0`, table, column, by.Microseconds()))
			require.NoError(t, err)
		}
	}
}

// offsetClock returns a clock that differs from the database's by an offset.
func offsetClock(by time.Duration) *testkit.Clock { return testkit.NewClock(time.Now().Add(by)) }

// monthRetention keeps everything for at most a month.
var monthRetention = withRetention(func(r *store.Retention) {
	r.StockLedger, r.CodeUsages, r.FinishedJobs, r.RevokedClients = 30*testkit.Day, 30*testkit.Day, 30*testkit.Day, 30*testkit.Day
})

// writeAgedRows writes rows that are deleted by age: two ledger entries of a product, a usage
// of a code, a finished job, a revoked client, a key, old releases and a replaced signing key.
func writeAgedRows(t *testing.T, s *shop.Store, name string) {
	t.Helper()
	_, err := storetest.IncrementWithKey(t, s, "client:a", name)
	require.NoError(t, err)
	require.NoError(t, storetest.Increment(t.Context(), s, "a"))
	_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "MANY", Reference: name, Units: 1})
	require.NoError(t, err)
	task, err := s.Jobs.Cancel(t.Context(), storetest.Actor, storetest.GenerateCodes(t, s, code.Generation{PromotionID: "p", Count: 1}).ID)
	require.NoError(t, err)
	require.Equal(t, job.Canceled, task.State)
	client, _, err := s.Access.CreateClient(t.Context(), storetest.Actor, name, access.Scopes())
	require.NoError(t, err)
	_, err = s.Access.RevokeClient(t.Context(), storetest.Actor, client.ID)
	require.NoError(t, err)
	for i := range 5 {
		storetest.RenameProducts(t, s, fmt.Sprint(name, i))
		storetest.Publish(t, s, "main")
	}
	sealer := storetest.NewSealer(t, 1)
	_, err = s.Access.SigningKeys(t.Context(), sealer)
	require.NoError(t, err)
	_, err = s.Access.RotateSigningKey(t.Context(), storetest.Actor, sealer, 0, false)
	require.NoError(t, err)
}

// openSkewed opens a store with the right clock and one with an offset clock on the same shop.
func openSkewed(t *testing.T, backend storetest.Backend, by time.Duration) (right, wrong *shop.Store) {
	t.Helper()
	now := time.Now()
	storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: now, UpdatedAt: now})
	right = backend.Open(t, monthRetention, storetest.WithoutDeltas)
	storetest.Import(t, right, storetest.ShopFile+storetest.PromotionLine("p", "")+"\n"+storetest.CodeLine("p", "MANY", ""))
	require.NoError(t, right.Sweep(t.Context())) // deletes what is old in the shop file
	return right, backend.Open(t, storetest.WithStoreClock(offsetClock(by)), monthRetention, storetest.WithoutDeltas)
}

// skewSecrets rotates secrets, and uses the old ones, on servers a year ahead, right and a year
// behind.
func skewSecrets(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		world := testkit.NewClock(time.Now())
		var servers []*shop.Store
		for _, by := range []time.Duration{oneYear, 0, -oneYear} {
			servers = append(servers, backend.Open(t, storetest.WithClock(world), storetest.WithStoreClock(offsetClock(by))))
		}
		for _, rotating := range servers {
			client, first, err := rotating.Access.CreateClient(t.Context(), storetest.Actor, "till", access.Scopes())
			require.NoError(t, err)
			_, _, err = rotating.Access.RotateClientSecret(t.Context(), storetest.Actor, client.ID, time.Hour)
			require.NoError(t, err)
			good := func() (all []bool) {
				for _, s := range servers {
					_, err := s.Access.AuthenticateClient(t.Context(), client.ID, first)
					if err != nil {
						require.True(t, store.HasCode(err, store.Unauthenticated), "%v", err)
					}
					reported, unknown := s.Access.Client(t.Context(), client.ID)
					require.NoError(t, unknown)
					require.Equal(t, err == nil, !reported.OldSecretUntil.IsZero(), "OldSecretUntil is set while the old secret works")
					all = append(all, err == nil)
				}
				return all
			}
			world.Advance(time.Hour - time.Second)
			require.Equal(t, []bool{true, true, true}, good())
			world.Advance(time.Second)
			require.Equal(t, []bool{false, false, false}, good())
		}
	}
}

func skewYearAhead(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		right, ahead := openSkewed(t, backend, oneYear)
		db := backend.SQL(t)
		writeAgedRows(t, right, "one")
		had := agedRows(t, db)
		gauges, err := ahead.Gauges(t.Context())
		require.NoError(t, err)
		for _, sweep := range gauges.Sweeps {
			if sweep.Name != "changes" { // depends on revisions, not on age
				require.Zero(t, sweep.Due, sweep.Name)
			}
		}
		require.NoError(t, ahead.Sweep(t.Context()))
		require.Equal(t, had, agedRows(t, db), "old by the server's clock only")

		writeAgedRows(t, ahead, "two")
		had = agedRows(t, db)
		require.NoError(t, right.Sweep(t.Context()))
		require.NoError(t, ahead.Sweep(t.Context()))
		require.Equal(t, had, agedRows(t, db), "its own rows are kept too")

		makeOlder(t, db, oneYear+40*testkit.Day)
		require.NoError(t, ahead.Sweep(t.Context()))
		clients := storetest.CountRows(t, db, `api_client WHERE revoked_at = 0`)
		carried := storetest.CountRows(t, db, `(SELECT DISTINCT product_id FROM stock_transaction) AS carried`)
		require.Equal(t, map[string]int{"stock_transaction": carried, "code_usage": 0, "job": 0, "api_client": clients, "idempotency_key": 0, "release": 3, "signing_key": 1},
			agedRows(t, db), "what is old by both does")
	}
}

// skewYearBehind: ledger entries and usages of a server a year behind count as old, like
// imported ones. Other rows do not.
func skewYearBehind(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		right, behind := openSkewed(t, backend, -oneYear)
		db := backend.SQL(t)
		writeAgedRows(t, behind, "one")
		task := storetest.GenerateCodes(t, behind, code.Generation{PromotionID: "p", Count: 1})
		stop := storetest.RunWorker(t, behind)
		require.Equal(t, job.Succeeded, storetest.WaitForJob(t, behind, task.ID).State)
		stop()
		rows := func() map[string]int {
			all := agedRows(t, db)
			delete(all, "stock_transaction")
			delete(all, "code_usage")
			return all
		}
		had := rows()
		require.NoError(t, right.Sweep(t.Context()))
		require.Equal(t, had, rows(), "rows that ended just now are kept")
		clients := storetest.CountRows(t, db, `api_client WHERE revoked_at = 0`)
		makeOlder(t, db, 40*testkit.Day)
		require.NoError(t, behind.Sweep(t.Context()))
		require.Equal(t, had, rows(), "not old by the server's clock")
		require.NoError(t, right.Sweep(t.Context()))
		require.Equal(t, map[string]int{"job": 0, "api_client": clients, "idempotency_key": 0, "release": 3, "signing_key": 1}, rows())
		require.Equal(t, 2, storetest.Available(t, right, "a"))
	}
}

func skewRetries(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.OpenWithStock(t, backend, 0, "a")
		right, made := backend.Open(t), 0
		for _, by := range []time.Duration{25 * time.Hour, -25 * time.Hour, oneYear, -oneYear} {
			wrong := backend.Open(t, storetest.WithStoreClock(offsetClock(by)))
			for i, servers := range [][2]*shop.Store{{right, wrong}, {wrong, right}, {wrong, wrong}} {
				key := fmt.Sprintf("%d-%d", by, i)
				for n, s := range servers {
					require.NoError(t, s.Sweep(t.Context()))
					replayed, err := storetest.IncrementWithKey(t, s, "client:a", key)
					require.NoError(t, err)
					require.Equal(t, n > 0, replayed, "%s off", by)
				}
				made++
			}
		}
		require.Equal(t, made, storetest.Available(t, right, "a"))
	}
}

func skewKeyQuota(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.OpenWithStock(t, backend, 0, "a")
		ahead, db := backend.Open(t, storetest.WithStoreClock(offsetClock(oneYear)), storetest.WithKeyQuota(5, 0)), backend.SQL(t)
		made := 0
		for ; made < 10; made++ {
			if _, err := storetest.IncrementWithKey(t, ahead, "client:a", fmt.Sprint(made)); err != nil {
				require.True(t, store.HasCode(err, store.RateLimited), "%v", err)
				break
			}
		}
		require.Less(t, made, 10)
		for i := range made {
			replayed, err := storetest.IncrementWithKey(t, ahead, "client:a", fmt.Sprint(i))
			require.NoError(t, err)
			require.True(t, replayed, "no key is evicted within the hour")
		}
		makeOlder(t, db, 2*time.Hour)
		right := backend.Open(t, storetest.WithKeyQuota(5, 0))
		for i := range 5 {
			_, err := storetest.IncrementWithKey(t, right, "client:a", fmt.Sprint("right", i))
			require.NoError(t, err)
		}
	}
}

func skewPromotions(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		right, ahead := backend.Open(t), backend.Open(t, storetest.WithStoreClock(offsetClock(oneYear)))
		storetest.CreatePromotion(t, right, "p", time.Now())
		require.NoError(t, storetest.AddCodes(right, "p", "HELD", "TOO"))
		storetest.CreatePromotion(t, ahead, "other", time.Now().Add(oneYear))
		requireTaken := func(err error) {
			t.Helper()
			require.True(t, store.HasCode(err, store.Unprocessable), "%v", err)
		}
		requireTaken(storetest.AddCodes(ahead, "other", "HELD"))

		change := promotion.Change{End: new(time.Now().Add(2 * oneYear).Format(storetest.TimeFormat))}
		tried, err := ahead.Promotions.Update(t.Context(), storetest.Actor, "p", change, true)
		require.NoError(t, err)
		require.Zero(t, tried.CodesDeleted)
		_, err = ahead.Promotions.Update(t.Context(), storetest.Actor, "p", change, false)
		require.NoError(t, err)
		require.NoError(t, ahead.Sweep(t.Context()))
		for _, code := range []string{"HELD", "TOO"} {
			c, err := right.Codes.Get(t.Context(), code)
			require.NoError(t, err)
			require.Equal(t, []any{"p", true}, []any{c.PromotionID, c.Held})
		}

		// A file that is brought back on it holds its codes.
		text := storetest.Export(t, right)
		there := backend.OtherURL(t)
		storetest.Import(t, backend.Open(t, func(c *shop.Config) { c.URL = there }, storetest.WithStoreClock(offsetClock(3*oneYear))), text)
		c, err := backend.Open(t, func(c *shop.Config) { c.URL = there }).Codes.Get(t.Context(), "HELD")
		require.NoError(t, err)
		require.True(t, c.Held)
	}
}
