package storetest

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
	codex "portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/stock"
)

const aYear = 366 * day

// aged are the tables of what is done away with by its age, and the times that
// tell it.
var aged = map[string][]string{
	"stock_transaction": {"created_at"}, "code_usage": {"created_at"}, "job": {"finished_at"}, "api_client": {"revoked_at"},
	"idempotency_key": {"created_at"}, "release": {"superseded_at"}, "signing_key": {"created_at", "signs_at"},
}

// agedRows counts the rows of each.
func agedRows(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for table := range aged {
		rows[table] = count(t, db, table)
	}
	return rows
}

// older makes all of it so much older.
func older(t *testing.T, db *sql.DB, by time.Duration) {
	t.Helper()
	for table, columns := range aged {
		for _, column := range columns {
			_, err := db.Exec(fmt.Sprintf(`UPDATE %s SET %s = %[2]s - %d WHERE %[2]s > 0`, table, column, by.Microseconds()))
			require.NoError(t, err)
		}
	}
}

// off is a clock that is so far from the database's own.
func off(by time.Duration) *Clock { return NewClock(time.Now().Add(by)) }

// brief keeps everything for a month at most.
var brief = keeping(func(r *store.Retention) {
	r.StockLedger, r.CodeUsages, r.FinishedJobs, r.RevokedClients = 30*day, 30*day, 30*day, 30*day
})

// ageing is something of all that ages: twice the ledger of a product, a use of
// a code, a job that ended, a client that was revoked, a key, releases that
// were served just now, and a signing key that was replaced.
func ageing(t *testing.T, s *shop.Store, name string) {
	t.Helper()
	_, err := underKey(t, s, "client:a", name)
	require.NoError(t, err)
	require.NoError(t, increment(t.Context(), s, "a"))
	_, err = s.RedeemCode(t.Context(), actor, redeem.CodeUse{Code: "MANY", Reference: name, Units: 1})
	require.NoError(t, err)
	task, err := s.CancelJob(t.Context(), actor, generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: 1}).ID)
	require.NoError(t, err)
	require.Equal(t, job.JobCanceled, task.State)
	client, _, err := s.CreateClient(t.Context(), actor, name, access.Scopes())
	require.NoError(t, err)
	_, err = s.RevokeClient(t.Context(), actor, client.ID)
	require.NoError(t, err)
	for i := range 5 {
		renamed(t, s, fmt.Sprint(name, i))
		publish(t, s, "main")
	}
	sealer := Sealer(t, 1)
	_, err = s.SigningKeys(t.Context(), sealer)
	require.NoError(t, err)
	_, err = s.RotateSigningKey(t.Context(), actor, sealer, 0, false)
	require.NoError(t, err)
}

// ofAYear opens a store whose clock is off, on a shop to write to.
func ofAYear(t *testing.T, e Engine, by time.Duration) (right, wrong *shop.Store) {
	t.Helper()
	now := time.Now()
	SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: now, UpdatedAt: now})
	right = e.Open(t, brief, withoutDeltas)
	imported(t, right, shopFile+promotionLine("p", "")+"\n"+code("p", "MANY", ""))
	require.NoError(t, right.Sweep(t.Context())) // what is old in the file
	return right, e.Open(t, beside(off(by)), brief, withoutDeltas)
}

// stepsOfSecrets has servers replace secrets, and ask for those before, whose
// clocks are a year ahead, right, and a year behind.
func stepsOfSecrets(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		world := NewClock(time.Now())
		var servers []*shop.Store
		for _, by := range []time.Duration{aYear, 0, -aYear} {
			servers = append(servers, e.Open(t, At(world), beside(off(by))))
		}
		for _, rotating := range servers {
			client, first, err := rotating.CreateClient(t.Context(), actor, "till", access.Scopes())
			require.NoError(t, err)
			_, _, err = rotating.RotateClientSecret(t.Context(), actor, client.ID, time.Hour)
			require.NoError(t, err)
			good := func() (all []bool) {
				for _, s := range servers {
					_, err := s.AuthenticateClient(t.Context(), client.ID, first)
					if err != nil {
						require.True(t, store.HasCode(err, store.Unauthenticated), "%v", err)
					}
					told, unknown := s.Client(t.Context(), client.ID)
					require.NoError(t, unknown)
					require.Equal(t, err == nil, !told.OldSecretUntil.IsZero(), "it is told as it is")
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

func stepsOfAYearAhead(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		right, ahead := ofAYear(t, e, aYear)
		db := e.SQL(t)
		ageing(t, right, "one")
		had := agedRows(t, db)
		gauges, err := ahead.Gauges(t.Context())
		require.NoError(t, err)
		for _, sweep := range gauges.Sweeps {
			if sweep.Name != "changes" { // which goes by revisions
				require.Zero(t, sweep.Due, sweep.Name)
			}
		}
		require.NoError(t, ahead.Sweep(t.Context()))
		require.Equal(t, had, agedRows(t, db), "it is old by its clock alone")

		ageing(t, ahead, "two")
		had = agedRows(t, db)
		require.NoError(t, right.Sweep(t.Context()))
		require.NoError(t, ahead.Sweep(t.Context()))
		require.Equal(t, had, agedRows(t, db), "nor does what it wrote itself go")

		older(t, db, aYear+40*day)
		require.NoError(t, ahead.Sweep(t.Context()))
		clients := count(t, db, `api_client WHERE revoked_at = 0`)
		carried := count(t, db, `(SELECT DISTINCT product_id FROM stock_transaction) AS carried`)
		require.Equal(t, map[string]int{"stock_transaction": carried, "code_usage": 0, "job": 0, "api_client": clients, "idempotency_key": 0, "release": 3, "signing_key": 1},
			agedRows(t, db), "what is old by both does")
	}
}

// A year behind, the ledger and the uses of codes say of themselves that they
// are old, as they do when they are imported.
func stepsOfAYearBehind(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		right, behind := ofAYear(t, e, -aYear)
		db := e.SQL(t)
		ageing(t, behind, "one")
		task := generate(t, behind, codex.CodeGeneration{PromotionID: "p", Count: 1})
		stop := Work(t, behind)
		require.Equal(t, job.JobSucceeded, ended(t, behind, task.ID).State)
		stop()
		rows := func() map[string]int {
			all := agedRows(t, db)
			delete(all, "stock_transaction")
			delete(all, "code_usage")
			return all
		}
		had := rows()
		require.NoError(t, right.Sweep(t.Context()))
		require.Equal(t, had, rows(), "what ended just now did not end a year ago")
		clients := count(t, db, `api_client WHERE revoked_at = 0`)
		older(t, db, 40*day)
		require.NoError(t, behind.Sweep(t.Context()))
		require.Equal(t, had, rows(), "it is not old by its clock")
		require.NoError(t, right.Sweep(t.Context()))
		require.Equal(t, map[string]int{"job": 0, "api_client": clients, "idempotency_key": 0, "release": 3, "signing_key": 1}, rows())
		require.Equal(t, 2, available(t, right, "a"))
	}
}

func stepsOfRetries(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		stocked(t, e, 0, "a")
		right, made := e.Open(t), 0
		for _, by := range []time.Duration{25 * time.Hour, -25 * time.Hour, aYear, -aYear} {
			wrong := e.Open(t, beside(off(by)))
			for i, servers := range [][2]*shop.Store{{right, wrong}, {wrong, right}, {wrong, wrong}} {
				key := fmt.Sprintf("%d-%d", by, i)
				for n, s := range servers {
					require.NoError(t, s.Sweep(t.Context()))
					replayed, err := underKey(t, s, "client:a", key)
					require.NoError(t, err)
					require.Equal(t, n > 0, replayed, "%s off", by)
				}
				made++
			}
		}
		require.Equal(t, made, available(t, right, "a"))
	}
}

// The keys of a server that is ahead make room as those of others do.
func stepsOfKeyRoom(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		stocked(t, e, 0, "a")
		ahead, db := e.Open(t, beside(off(aYear)), few(5, 0)), e.SQL(t)
		made := 0
		for ; made < 10; made++ {
			if _, err := underKey(t, ahead, "client:a", fmt.Sprint(made)); err != nil {
				require.True(t, store.HasCode(err, store.RateLimited), "%v", err)
				break
			}
		}
		require.Less(t, made, 10)
		for i := range made {
			replayed, err := underKey(t, ahead, "client:a", fmt.Sprint(i))
			require.NoError(t, err)
			require.True(t, replayed, "none is dropped within the hour")
		}
		older(t, db, 2*time.Hour)
		right := e.Open(t, few(5, 0))
		for i := range 5 {
			_, err := underKey(t, right, "client:a", fmt.Sprint("right", i))
			require.NoError(t, err)
		}
	}
}

func stepsOfPromotions(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		right, ahead := e.Open(t), e.Open(t, beside(off(aYear)))
		made(t, right, "p", time.Now())
		require.NoError(t, addCodes(right, "p", "HELD", "TOO"))
		made(t, ahead, "other", time.Now().Add(aYear))
		requireTaken := func(err error) {
			t.Helper()
			require.True(t, store.HasCode(err, store.Unprocessable), "%v", err)
		}
		requireTaken(addCodes(ahead, "other", "HELD"))

		change := promotion.PromotionChange{End: ptr(time.Now().Add(2 * aYear).Format(date))}
		tried, err := ahead.UpdatePromotion(t.Context(), actor, "p", change, true)
		require.NoError(t, err)
		require.Zero(t, tried.CodesDeleted)
		_, err = ahead.UpdatePromotion(t.Context(), actor, "p", change, false)
		require.NoError(t, err)
		require.NoError(t, ahead.Sweep(t.Context()))
		for _, code := range []string{"HELD", "TOO"} {
			c, err := right.PromotionCode(t.Context(), code)
			require.NoError(t, err)
			require.Equal(t, []any{"p", true}, []any{c.PromotionID, c.Held})
		}

		// A file that is brought back on it holds its codes.
		text := exported(t, right)
		there := e.Another(t)
		imported(t, e.Open(t, func(c *shop.Config) { c.URL = there }, beside(off(3*aYear))), text)
		c, err := e.Open(t, func(c *shop.Config) { c.URL = there }).PromotionCode(t.Context(), "HELD")
		require.NoError(t, err)
		require.True(t, c.Held)
	}
}
