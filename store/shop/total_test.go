package shop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestListTotals checks that totals of long lists are stored, not counted, and match the rows
// after each commit.
func TestListTotals(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("totals are read, not counted", totalsRead(backend))
		t.Run("totals of filtered lists", totalsFiltered(backend))
		t.Run("totals match the rows during concurrent writes", totalsConcurrent(backend))
		t.Run("a sweep corrects wrong totals", totalsCorrected(backend))
	})
}

// totalsRead checks that no statement of a page with its total counts rows.
func totalsRead(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		d := storetest.NewSharedStore(t, backend)
		storetest.CreatePromotion(t, d.Store, "p", testkit.Noon)
		require.NoError(t, storetest.AddCodes(d.Store, "p", make([]string, 300)...))
		ctx, counter := store.CountStatements(t.Context())
		require.Equal(t, 300, storetest.CodesTotal(t, ctx, d.Store, "p"))
		require.Zero(t, storetest.UsagesTotal(t, ctx, d.Store, "p", nil))
		storetest.SeedStock(t, d.DB, stock.Stock{ProductID: "a", Available: 7, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		require.Equal(t, 1, storetest.LedgerTotal(t, ctx, d.Store, "a"))
		for _, query := range counter.Queries() {
			require.NotContains(t, strings.ToUpper(query), "COUNT(")
		}
		require.NoError(t, storetest.DeletePromotion(t.Context(), d.Store, storetest.Actor, "p"))
	}
}

func totalsFiltered(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		d := storetest.NewSharedStore(t, backend)
		storetest.CreatePromotion(t, d.Store, "p", testkit.Noon)
		require.NoError(t, storetest.AddCodes(d.Store, "p", "A", "B", "C"))
		require.Equal(t, 2, storetest.CodesTotal(t, t.Context(), d.Store, "p", "A", "C", "X"))
		require.Equal(t, 3, storetest.CodesTotal(t, t.Context(), d.Store, "p"))
		for _, code := range []string{"A", "A", "B"} {
			_, err := d.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: code, Units: 1, Reference: store.NewID()})
			require.NoError(t, err)
		}
		require.Equal(t, 2, storetest.UsagesTotal(t, t.Context(), d.Store, "p", new("A")))
		require.Equal(t, 3, storetest.UsagesTotal(t, t.Context(), d.Store, "p", nil))
		storetest.SeedStock(t, d.DB, stock.Stock{ProductID: "a", Available: 7, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		d.Clock.Advance(time.Hour)
		require.NoError(t, storetest.Increment(t.Context(), d.Store, "a"))
		require.Equal(t, 1, storetest.LedgerTotal(t, t.Context(), d.Store, "a", store.Range{Attribute: store.SortCreatedAt, Operator: "gt", Time: testkit.Noon}))
		require.Equal(t, 2, storetest.LedgerTotal(t, t.Context(), d.Store, "a"))
		for id, units := range map[string]int{"none": 0, "one": 1, "many": 9} {
			_, err := d.Stock.Create(t.Context(), storetest.Actor, id, units)
			require.NoError(t, err)
			require.Equal(t, min(units, 1), storetest.LedgerTotal(t, t.Context(), d.Store, id), "an entry unless the stock is zero")
		}
	}
}

// totalsConcurrent runs writers of all kinds on two servers that sweep and run jobs, while a
// reader checks the totals.
func totalsConcurrent(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		seed := testkit.Seed(t)
		clock := testkit.NewClock(testkit.Noon)
		var reported strings.Builder
		log := slog.New(slog.NewTextHandler(&reported, nil))
		logged := func(config *shop.Config) { config.Log = log }
		stores := []*shop.Store{backend.Open(t, storetest.WithClock(clock), twoDayRetention, logged), backend.Open(t, storetest.WithClock(clock), twoDayRetention, logged)}
		stop := []func(){storetest.RunWorker(t, stores[0]), storetest.RunWorker(t, stores[1])}
		randomWriter := &randomWriter{t: t, clock: clock}
		for _, id := range randomWriter.promotions() {
			storetest.CreatePromotion(t, stores[0], id, testkit.Noon)
		}
		looking, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for open := true; open; {
				storetest.RequireTotals(&nonFatalT{t}, backend.SQL(t))
				select {
				case <-looking:
					open = false
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
		var group sync.WaitGroup
		for writer := range 6 {
			group.Go(func() {
				draw := rand.New(rand.NewPCG(seed, uint64(writer)))
				for range testkit.QuickOrFull(30, 600) {
					randomWriter.write(stores[writer%2], draw)
				}
			})
		}
		group.Wait()
		storetest.RequireTotals(t, backend.SQL(t))
		for _, s := range stores {
			require.NoError(t, s.Sweep(t.Context()))
		}
		for _, end := range stop {
			end()
		}
		close(looking)
		<-done
		storetest.RequireTotals(t, backend.SQL(t))
		require.Greater(t, randomWriter.made.Load(), int64(testkit.QuickOrFull(50, 1000)), "most writes succeed")
		for _, id := range randomWriter.promotions() {
			_, err := stores[0].Promotions.Get(t.Context(), id)
			if !store.HasCode(err, store.NotFound) {
				require.NoError(t, err)
				require.Equal(t, len(exportedLines(t, stores[0], id)), storetest.CodesTotal(t, t.Context(), stores[0], id))
			}
		}
		for _, s := range stores {
			require.NoError(t, s.Close())
		}
		require.NotContains(t, reported.String(), "mended", "no sweep had to correct a total")
		require.NotContains(t, reported.String(), "corrected", "no sweep had to correct a total")
	}
}

// totalsCorrected makes all totals wrong without the store.
func totalsCorrected(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		d := storetest.NewSharedStore(t, backend)
		storetest.CreatePromotion(t, d.Store, "p", testkit.Noon)
		storetest.CreatePromotion(t, d.Store, "q", testkit.Noon)
		require.NoError(t, storetest.AddCodes(d.Store, "p", "A", "B", "C"))
		_, err := d.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "A", Units: 1, Reference: "order"})
		require.NoError(t, err)
		storetest.SeedStock(t, d.DB, stock.Stock{ProductID: "a", Available: 7, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon}, stock.Stock{ProductID: "b", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		storetest.Transact(t, d.DB, func(run func(query string, args ...any)) {
			run(`UPDATE promotion SET codes = codes + 4`)
			run(`DELETE FROM code_usage_total`)
			run(`UPDATE stock SET lines = 9 WHERE product_id = 'b'`)
		})
		require.Equal(t, []int{7, 4, 0, 9}, []int{storetest.CodesTotal(t, t.Context(), d.Store, "p"), storetest.CodesTotal(t, t.Context(), d.Store, "q"),
			storetest.UsagesTotal(t, t.Context(), d.Store, "p", nil), storetest.LedgerTotal(t, t.Context(), d.Store, "b")})
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if err := d.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		storetest.RequireTotals(t, d.DB)
	}
}

// nonFatalT lets goroutines of a test use require.
type nonFatalT struct{ *testing.T }

func (r *nonFatalT) FailNow() { r.Fail() }

func twoDayRetention(config *shop.Config) {
	withRetention(func(r *store.Retention) { r.CodeUsages, r.StockLedger = 2*testkit.Day, 2*testkit.Day })(config)
}

func exportedLines(t *testing.T, s *shop.Store, id string) (codes []string) {
	require.NoError(t, s.Codes.Each(t.Context(), id, func(c *code.PromotionCode) error {
		codes = append(codes, c.Code)
		return nil
	}))
	return codes
}

// randomWriter makes random writes, most of which succeed.
type randomWriter struct {
	t     *testing.T
	clock *testkit.Clock
	made  atomic.Int64
}

func (w *randomWriter) promotions() []string { return []string{"p", "q", "r", "s"} }

// codes draws codes, which other promotions may have.
func (w *randomWriter) codes(draw *rand.Rand) (codes []string) {
	for range 1 + draw.IntN(4) {
		codes = append(codes, fmt.Sprint("CODE-", draw.IntN(60)))
	}
	return store.Unique(codes)
}

// write makes one random write. A refused write also counts.
func (w *randomWriter) write(s *shop.Store, draw *rand.Rand) {
	ctx := context.Background()
	id, codes := w.promotions()[draw.IntN(4)], w.codes(draw)
	kind := draw.IntN(16)
	if draw.IntN(4) == 0 {
		key := fmt.Sprint("key-", draw.IntN(500))
		ctx = store.WithIdempotencyKey(ctx, &store.IdempotencyKey{Key: key, Operation: fmt.Sprint(kind), Input: key})
	}
	err := w.draw(ctx, s, draw, kind, id, codes)
	var faults *exchange.ImportErrors
	switch {
	case err == nil:
		w.made.Add(1)
	case errors.As(err, &faults):
	case store.HasCode(err, store.NotFound), store.HasCode(err, store.Unprocessable), store.HasCode(err, store.Conflict), store.HasCode(err, store.Invalid), store.HasCode(err, store.RateLimited):
	default:
		w.t.Errorf("a writer got %v", err)
	}
}

func (w *randomWriter) draw(ctx context.Context, s *shop.Store, draw *rand.Rand, kind int, id string, codes []string) error {
	now := w.clock.Now()
	switch kind {
	case 0, 1, 2:
		return createCodes(ctx, s, id, codes)
	case 3, 4:
		return createCodes(ctx, s, id, make([]string, 1+draw.IntN(200)))
	case 5, 6:
		_, err := s.Codes.Delete(ctx, storetest.Actor, id, codes[:1])
		return err
	case 7:
		task, _, err := s.Codes.Generate(ctx, storetest.Actor, code.Generation{PromotionID: id, Count: 1 + draw.IntN(500), Pattern: "J-########"})
		if err == nil && draw.IntN(3) == 0 {
			_, _ = s.Jobs.Cancel(ctx, storetest.Actor, task.ID)
		}
		return err
	case 8: // moves the end, or toggles automatic
		change := promotion.Change{Start: new("2024-01-01"), End: new(now.Add(time.Duration(draw.IntN(3)-1) * testkit.Day).Format(storetest.TimeFormat))}
		if draw.IntN(2) == 0 {
			change = promotion.Change{Automatic: new(draw.IntN(2) == 0)}
		}
		_, err := s.Promotions.Update(ctx, storetest.Actor, id, change, draw.IntN(5) == 0)
		return err
	case 9:
		if draw.IntN(4) == 0 {
			return storetest.DeletePromotion(ctx, s, storetest.Actor, id)
		}
		_, err := s.Promotions.Create(ctx, storetest.Actor, id, storetest.TenPercentOff(now))
		return err
	case 10:
		return w.importCodes(ctx, s, draw, id, codes)
	case 11:
		return w.importUsages(ctx, s, draw, id, codes)
	case 12:
		w.clock.Advance(6 * time.Hour)
		return s.Sweep(ctx)
	case 13:
		return w.stock(ctx, s, draw)
	default:
		_, err := s.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: codes[0], Units: 1, Reference: fmt.Sprint("order-", draw.IntN(1000))})
		return err
	}
}

// importCodes imports codes, of which some exist, some belong to another promotion or ID, and
// one may be invalid.
func (w *randomWriter) importCodes(ctx context.Context, s *shop.Store, draw *rand.Rand, id string, codes []string) error {
	lines := []string{storetest.PromotionLine(id, "")}
	for _, name := range codes {
		lines = append(lines, strings.Replace(storetest.CodeLine(id, name, fmt.Sprintf(`,"used":%d`, draw.IntN(3))), `"id-`, fmt.Sprintf(`"id-%d-`, draw.IntN(2)), 1))
	}
	_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(storetest.JoinLines(lines...)), exchange.ImportOptions{})
	return err
}

// importUsages imports usages, of which some exist, perhaps of another promotion, and some have
// taken references.
func (w *randomWriter) importUsages(ctx context.Context, s *shop.Store, draw *rand.Rand, id string, codes []string) error {
	lines := []string{storetest.PromotionLine(id, "")}
	for _, code := range codes {
		lines = append(lines, fmt.Sprintf(`{"type":"code_usage","id":"use-%d","promotion_id":%q,"code":%q,"units":1,"reference":"order-%d","created_at":"2024-05-29T00:00:00.000Z"}`,
			draw.IntN(40), id, code, draw.IntN(100)))
	}
	_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(storetest.JoinLines(lines...)), exchange.ImportOptions{})
	return err
}

// stock changes stock, perhaps by more than there is, or imports ledger entries or a balance.
func (w *randomWriter) stock(ctx context.Context, s *shop.Store, draw *rand.Rand) error {
	product := func() string { return fmt.Sprint("product-", draw.IntN(5)) }
	switch draw.IntN(6) {
	case 0:
		_, err := s.Stock.Create(ctx, storetest.Actor, product(), draw.IntN(2)*draw.IntN(50))
		return err
	case 1:
		line := fmt.Sprintf(`{"type":"stock","id":%q,"available":%[2]d,"allocated":0,"total":%[2]d}`, product(), draw.IntN(50))
		_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(storetest.JoinLines(line)), exchange.ImportOptions{})
		return err
	case 2:
		var lines []string
		for range 3 {
			lines = append(lines, fmt.Sprintf(`{"type":"stock_transaction","id":"line-%d","product_id":%q,"action":"increment","quantity":1,"created_at":%q}`,
				draw.IntN(200), product(), store.FormatTime(w.clock.Now())))
		}
		_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(storetest.JoinLines(lines...)), exchange.ImportOptions{})
		return err
	}
	var changes []stock.Change
	for range 1 + draw.IntN(6) {
		changes = append(changes, stock.Change{ProductID: product(), Action: stock.Actions()[draw.IntN(5)], Quantity: 1 + draw.IntN(9)})
	}
	_, err := s.Stock.Transact(ctx, storetest.Actor, changes)
	return err
}

func createCodes(ctx context.Context, s *shop.Store, id string, codes []string) error {
	_, _, err := s.Codes.Create(ctx, storetest.Actor, id, storetest.NewCodes(codes...), "")
	return err
}
