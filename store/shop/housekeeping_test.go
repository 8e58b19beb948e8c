package shop_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/promotion/redeem"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestHousekeeping tests Config.Retention: sweeps delete what is older and nothing else.
func TestHousekeeping(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("the ledger is summed up and matches the balances", ledgerSummed(backend))
		t.Run("a summed-up ledger can be exported and imported, once", ledgerSummedImported(backend))
		t.Run("old usages are deleted, use counts are kept", usagesSwept(backend))
		t.Run("revoked clients are deleted", clientsSwept(backend))
		t.Run("unlimited retention", unlimitedRetention(backend))
		t.Run("the configured number of releases is kept", releasesKept(backend))
		t.Run("a publication does not sweep", publicationsDoNotSweep(backend))
		t.Run("changes that all releases contain are deleted", authoredChangesSwept(backend))
		t.Run("change log entries are deleted after all servers have read them", changesSwept(backend))
	})
}

// withRetention changes a store's retention.
func withRetention(change func(*store.Retention)) func(*shop.Config) {
	return func(config *shop.Config) {
		kept := store.DefaultRetention()
		change(&kept)
		config.Retention = &kept
	}
}

func ledgerSummed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		seed := testkit.Seed(t)
		draw := rand.New(rand.NewPCG(seed, 1))
		products := []string{"a", "b", "c", "d", "e"}
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 50, products...)
		s, db := backend.Open(t, storetest.WithClock(clock), withRetention(func(r *store.Retention) { r.StockLedger = 10 * testkit.Day })), backend.SQL(t)
		for range testkit.QuickOrFull(6, 20) {
			for range 60 {
				clock.Advance(time.Duration(draw.IntN(120)) * time.Minute)
				change := stock.Change{ProductID: products[draw.IntN(len(products)-1)], Action: stock.Actions()[draw.IntN(5)], Quantity: 1 + draw.IntN(30), Reference: "order"}
				if _, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change}); err != nil {
					require.True(t, store.HasCode(err, store.Unprocessable), "%v", err)
				}
			}
			old := clock.Now().Add(-10 * testkit.Day).UnixMicro()
			young := storetest.QueryText(t, db, fmt.Sprintf(`SELECT COUNT(*) FROM stock_transaction WHERE created_at >= %d`, old))
			require.NoError(t, s.Sweep(t.Context()))
			storetest.RequireStockConsistent(t, db)
			for _, product := range products {
				require.LessOrEqual(t, storetest.CountRows(t, db, fmt.Sprintf(`stock_transaction WHERE product_id = '%s' AND created_at < %d`, product, old)), 1)
			}
			require.Zero(t, storetest.CountRows(t, db, fmt.Sprintf(`stock_transaction WHERE reference <> '' AND created_at < %d`, old)), "old references are deleted")
			require.Equal(t, young, storetest.QueryText(t, db, fmt.Sprintf(`SELECT COUNT(*) FROM stock_transaction WHERE created_at >= %d`, old)))
		}
		clock.Advance(100 * testkit.Day)
		require.NoError(t, s.Sweep(t.Context()))
		storetest.RequireStockConsistent(t, db)
		require.Equal(t, len(products), storetest.CountRows(t, db, "stock_transaction"))
		for _, product := range products {
			ledger, err := s.Stock.Transactions(t.Context(), product, store.ListQuery{})
			require.NoError(t, err)
			line, now := ledger.Items[0], storetest.ReadStock(t, s, product)
			require.Equal(t, []any{stock.StockSet, now.Available, now.Available, now.Allocated, "carried over"},
				[]any{line.Action, line.Quantity, line.AvailableDelta, line.AllocatedDelta, line.Reason})
		}
		ids := storetest.QueryText(t, db, `SELECT MIN(id) || MAX(id) FROM stock_transaction`)
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, ids, storetest.QueryText(t, db, `SELECT MIN(id) || MAX(id) FROM stock_transaction`), "a second sweep changes nothing")
	}
}

func ledgerSummedImported(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 50, "a", "b")
		s, db := backend.Open(t, storetest.WithClock(clock), withRetention(func(r *store.Retention) { r.StockLedger = 10 * testkit.Day })), backend.SQL(t)
		for range 30 {
			clock.Advance(12 * time.Hour)
			_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{
				{ProductID: "a", Action: stock.StockAllocate, Quantity: 1}, {ProductID: "b", Action: stock.StockIncrement, Quantity: 2}})
			require.NoError(t, err)
		}
		before := storetest.Export(t, s)
		require.NoError(t, s.Sweep(t.Context()))
		after := storetest.Export(t, s)
		require.Less(t, strings.Count(after, "\n"), strings.Count(before, "\n"))
		storetest.RequireSameAfterImport(t, backend, s)
		require.Zero(t, storetest.Import(t, s, before).Changed, "each entry exists or was summed up")
		storetest.RequireSameLines(t, after, storetest.Export(t, s))
		storetest.RequireStockConsistent(t, db)
	}
}

func usagesSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock), withRetention(func(r *store.Retention) { r.CodeUsages = 10 * testkit.Day }))
		storetest.Import(t, s, strings.Join([]string{storetest.PromotionLine("p", ""), storetest.PromotionLine("q", ""), storetest.CodeLine("p", "MANY", `,"max_uses":100,"uses":100`), storetest.CodeLine("q", "OTHER", "")}, "\n"))
		use := func(code, reference string) {
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: code, Reference: reference, Units: 1})
			require.NoError(t, err)
		}
		for i := range 20 {
			use("MANY", fmt.Sprint("order-", i))
			clock.Advance(testkit.Day)
		}
		use("OTHER", "order-0")
		require.NoError(t, s.Sweep(t.Context()))
		usages, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new("p")}, store.ListQuery{})
		require.NoError(t, err)
		require.Len(t, usages.Items, 10)
		require.Equal(t, "order-10", usages.Items[0].Reference)
		require.Equal(t, "20", storetest.QueryText(t, backend.SQL(t), `SELECT used FROM promotion_code WHERE code = 'MANY'`))
		usages, err = s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new("q")}, store.ListQuery{})
		require.NoError(t, err)
		require.Len(t, usages.Items, 1)
	}
}

func clientsSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		kept, _, err := s.Access.CreateClient(t.Context(), storetest.Actor, "kept", access.Scopes())
		require.NoError(t, err)
		gone, secret, err := s.Access.CreateClient(t.Context(), storetest.Actor, "gone", access.Scopes())
		require.NoError(t, err)
		_, err = s.Access.RevokeClient(t.Context(), storetest.Actor, gone.ID)
		require.NoError(t, err)
		clock.Advance(90 * testkit.Day)
		require.NoError(t, s.Sweep(t.Context()))
		revoked, err := s.Access.ClientRevoked(t.Context(), gone.ID)
		require.NoError(t, err)
		require.True(t, revoked)
		clock.Advance(time.Second)
		require.NoError(t, s.Sweep(t.Context()))
		list, err := s.Access.Clients(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, kept.ID, list[0].ID)
		_, err = s.Access.AuthenticateClient(t.Context(), gone.ID, secret)
		require.True(t, store.HasCode(err, store.Unauthenticated), "%v", err)
	}
}

func unlimitedRetention(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 5, "a")
		s, db := backend.Open(t, storetest.WithClock(clock), withRetention(func(r *store.Retention) { *r = store.Retention{} })), backend.SQL(t)
		storetest.Import(t, s, strings.Join([]string{storetest.PromotionLine("p", ""), storetest.CodeLine("p", "MANY", "")}, "\n"))
		_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "MANY", Reference: "order", Units: 1})
		require.NoError(t, err)
		var replayed atomic.Int64
		require.NoError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k", "o", 1, &replayed), s, "a"))
		client, _, err := s.Access.CreateClient(t.Context(), storetest.Actor, "gone", access.Scopes())
		require.NoError(t, err)
		_, err = s.Access.RevokeClient(t.Context(), storetest.Actor, client.ID)
		require.NoError(t, err)
		clock.Advance(50 * 365 * testkit.Day)
		require.NoError(t, s.Sweep(t.Context()))
		for table, rows := range map[string]int{"stock_transaction": 2, "code_usage": 1, "idempotency_key": 1, "api_client": 1} {
			require.Equal(t, rows, storetest.CountRows(t, db, table), table)
		}
		require.NoError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k", "o", 1, &replayed), s, "a"))
		require.Equal(t, 6, storetest.Available(t, s, "a"), "the key still returns its first result")
	}
}

func releasesKept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas, withRetention(func(r *store.Retention) { r.Releases = 5 }))
		storetest.Import(t, s, storetest.ShopFile)
		for i := range 8 {
			storetest.RenameProducts(t, s, fmt.Sprint(i))
			storetest.Publish(t, s, "main")
			clock.Advance(2 * time.Hour)
		}
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, "5", storetest.QueryText(t, backend.SQL(t), `SELECT COUNT(*) FROM release`))
		storetest.RequireNoOrphans(t, backend.SQL(t))
	}
}

// publicationsDoNotSweep checks that a publication deletes nothing of earlier ones.
func publicationsDoNotSweep(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s, db := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		for i := range 5 {
			storetest.RenameProducts(t, s, fmt.Sprint(i))
			ctx, statements := store.CountStatements(t.Context())
			_, err := s.Publisher.Publish(ctx, storetest.Actor, "main", nil)
			require.NoError(t, err)
			for _, text := range statements.Queries() {
				require.NotContains(t, text, "DELETE FROM", "release %d", i)
			}
			clock.Advance(2 * time.Hour)
		}
		gauges, err := s.Gauges(t.Context())
		require.NoError(t, err)
		require.Equal(t, "releases", gauges.Sweeps[0].Name)
		require.Equal(t, 2, gauges.Sweeps[0].Due)
		storetest.RunWorker(t, s)
		testkit.Eventually(t, 3, func() int { return storetest.CountRows(t, db, "release") })
		testkit.Eventually(t, true, func() bool {
			gauges, err := s.Gauges(t.Context())
			require.NoError(t, err)
			return gauges.Sweeps[0].Ended && gauges.Sweeps[0].Due == 0 && gauges.Sweeps[0].Swept > 0
		})
		storetest.RequireNoOrphans(t, db)
	}
}

func changesSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 5, "a")
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		for range 3 {
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		}
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 3, storetest.CountRows(t, db, "stock_change"), "servers may not have read them yet")
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		clock.Advance(10 * time.Minute)
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "stock_change"))
		clock.Advance(10 * time.Minute)
		require.NoError(t, s.Sweep(t.Context()))
		require.Zero(t, storetest.CountRows(t, db, "stock_change"))
		require.Equal(t, 9, storetest.Available(t, s, "a"))
	}
}

// authoredChangesSwept checks that a delta after a sweep of authored changes is still correct.
func authoredChangesSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s, db := storetest.OpenPublished(t, backend, storetest.WithClock(clock)), backend.SQL(t)
		require.NoError(t, s.Sweep(t.Context()))
		require.Zero(t, storetest.CountRows(t, db, "authored_change"), "all changes are published")
		for i := range 5 {
			storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, fmt.Sprintf(`"For paint %d."`, i))))
		}
		require.Equal(t, 5, storetest.CountRows(t, db, "authored_change"))
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "authored_change"), "only the last change")
		require.Equal(t, "1", storetest.QueryText(t, db, `SELECT value FROM counter WHERE name = 'tracked'`))
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		require.NotZero(t, v.Release.BaseID, "the release is a delta")
		require.Equal(t, "For paint 4.", storetest.FindProduct(t, v, "brush").Description())
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "authored_change"), "the base does not contain the change")
	}
}
