package shop_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// growingTables are the tables whose rows come and go with time.
var growingTables = []string{
	"stock_transaction", "stock_change", "code_usage", "code_usage_total", "promotion_code", "code_claim", "promotion_purge", "promotion_archive", "idempotency_key", "job", "api_client", "authored_change",
	"release", "release_block", "release_chunk", "release_index", "release_list",
}

// mostReleases are those of a catalog at most: the newest three, and the layers below the served one.
const mostReleases = 3 + 8

// TestYearOfOrders checks that a busy shop does not grow once it is older than its retention:
// each month then ends with as many rows as the one before.
func TestYearOfOrders(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		y := &yearTest{clock: testkit.NewClock(testkit.Noon), draw: rand.New(rand.NewPCG(testkit.Seed(t), 1)),
			products: testkit.QuickOrFull(30, 150), orders: testkit.QuickOrFull(3, 15), every: testkit.QuickOrFull(10, 3), months: testkit.QuickOrFull(4, 12)}
		backend.FullTestsOnlyOnPostgres(t)
		if backend.Name == "postgres" {
			y.orders, y.every, y.months = 4, 6, 6
		}
		for knob, value := range map[string]*int{"PRODUCTS": &y.products, "ORDERS": &y.orders, "EVERY": &y.every, "MONTHS": &y.months} {
			if text := os.Getenv("PORTICO_TEST_YEAR_" + knob); text != "" {
				n, err := strconv.Atoi(text)
				require.NoError(t, err)
				*value = n
			}
		}
		y.open(t, backend)
		var months []map[string]int
		for month := range y.months {
			y.month(t, month)
			months = append(months, y.measure(t, backend))
			t.Logf("month %d: %v", month+1, months[month])
		}
		settled := months[2]
		for _, name := range append(slices.Clone(growingTables), "bytes") {
			most := settled[name]*3/2 + 50 // months differ
			if strings.HasPrefix(name, "release") {
				most = max(most, mostReleases*settled[name]/settled["release"]*3/2)
			}
			if name == "authored_change" {
				most = len(y.prices) // one change a product that changes, since the release that others are made against
			}
			for month, rows := range months[3:] {
				require.LessOrEqual(t, rows[name], most, "%s in month %d, against %d in month 3", name, month+4, settled[name])
			}
		}
		storetest.RequireStockConsistent(t, backend.SQL(t))
		storetest.RequireNoOrphans(t, backend.SQL(t))
		require.Positive(t, settled["stock_transaction"])
		require.Positive(t, settled["code_usage"])
	})
}

// yearTest is a shop with its customers.
type yearTest struct {
	s     *shop.Store
	clock *testkit.Clock
	draw  *rand.Rand

	products, orders, every, months int // orders per day, days between publications

	ids, prices []string
	catalog     string
	sold        int
}

func (y *yearTest) open(t *testing.T, backend storetest.Backend) {
	y.s = backend.Open(t, storetest.WithClock(y.clock), withRetention(func(r *store.Retention) {
		r.StockLedger, r.CodeUsages, r.FinishedJobs, r.RevokedClients = 30*testkit.Day, 30*testkit.Day, 30*testkit.Day, 30*testkit.Day
	}))
	text := storetest.GenerateShop(t, y.products, 1)
	storetest.Import(t, y.s, text)
	y.catalog = storetest.CatalogID(t, text)
	for line := range strings.Lines(text) {
		switch storetest.LineType(line) {
		case "stock":
			y.ids = append(y.ids, lineID(line))
		case "product-price":
			y.prices = append(y.prices, line)
		}
	}
	require.NotEmpty(t, y.ids)
	require.NotEmpty(t, y.prices)
}

var (
	anAmount  = regexp.MustCompile(`"amount":\d+`)
	idPattern = regexp.MustCompile(`"id":"([^"]+)"`)
)

func lineID(line string) string { return idPattern.FindStringSubmatch(line)[1] }

// month runs a month with a promotion of its own, and deletes the promotion of two months ago.
func (y *yearTest) month(t *testing.T, month int) {
	ctx, now := t.Context(), y.clock.Now()
	name := fmt.Sprint("month-", month)
	change := storetest.TenPercentOff(now)
	change.End = new(now.Add(60 * testkit.Day).Format(storetest.TimeFormat))
	_, err := y.s.Promotions.Create(ctx, storetest.Actor, name, change)
	require.NoError(t, err)
	require.NoError(t, storetest.AddCodes(y.s, name, "SALE-"+strconv.Itoa(month)))
	task := storetest.GenerateCodes(t, y.s, code.Generation{PromotionID: name, Count: 20 * y.orders})
	stop := storetest.RunWorker(t, y.s)
	require.Equal(t, job.Succeeded, storetest.WaitForJob(t, y.s, task.ID).State)
	stop()
	if month >= 2 {
		require.NoError(t, storetest.DeletePromotion(ctx, y.s, storetest.Actor, fmt.Sprint("month-", month-2)))
	}
	client, _, err := y.s.Access.CreateClient(ctx, storetest.Actor, name, access.Scopes())
	require.NoError(t, err)
	for day := range 30 {
		for range y.orders {
			y.order(t, fmt.Sprint("SALE-", month))
			y.clock.Advance(24 * time.Hour / time.Duration(y.orders))
		}
		if day%y.every == 0 {
			y.publish(t)
		}
		if day%7 == 0 {
			require.NoError(t, y.s.Sweep(ctx))
		}
	}
	_, err = y.s.Access.RevokeClient(ctx, storetest.Actor, client.ID)
	require.NoError(t, err)
	require.NoError(t, y.s.Sweep(ctx))
}

// order allocates, redeems, and then sells or returns everything.
func (y *yearTest) order(t *testing.T, code string) {
	y.sold++
	order := fmt.Sprint("order-", y.sold)
	ctx := store.WithIdempotencyKey(t.Context(), &store.IdempotencyKey{Key: order, Operation: "order", Input: order})
	product := y.ids[y.draw.IntN(len(y.ids))]
	transact := func(ctx context.Context, action stock.Action, quantity int) {
		_, err := y.s.Stock.Transact(ctx, storetest.Actor, []stock.Change{{ProductID: product, Action: action, Quantity: quantity, Reference: order}})
		require.NoError(t, err)
	}
	transact(t.Context(), stock.StockIncrement, 2)
	transact(ctx, stock.StockAllocate, 2)
	_, err := y.s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: code, Reference: order, Units: 1})
	require.NoError(t, err)
	if y.draw.IntN(10) == 0 {
		_, err := y.s.Redemptions.Release(t.Context(), storetest.Actor, order, nil)
		require.NoError(t, err)
		transact(t.Context(), stock.StockDeallocate, 2)
		transact(t.Context(), stock.StockDecrement, 2)
		return
	}
	transact(t.Context(), stock.StockDeallocate, 2)
	transact(t.Context(), stock.StockDecrement, 2)
}

// publish imports changed prices and publishes by a job.
func (y *yearTest) publish(t *testing.T) {
	var lines strings.Builder
	for range 5 {
		lines.WriteString(anAmount.ReplaceAllString(y.prices[y.draw.IntN(len(y.prices))], fmt.Sprintf(`"amount":%d`, 100+y.draw.IntN(10000))))
	}
	storetest.Import(t, y.s, lines.String())
	storetest.Publish(t, y.s, y.catalog)
}

// measure returns the number of rows of each table, and the size of the file.
func (y *yearTest) measure(t *testing.T, backend storetest.Backend) map[string]int {
	sql, rows := backend.SQL(t), map[string]int{}
	for _, table := range growingTables {
		rows[table] = storetest.CountRows(t, sql, table)
	}
	size := `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	if backend.Name == "postgres" {
		return rows // PostgreSQL's size depends on autovacuum
	}
	var err error
	rows["bytes"], err = strconv.Atoi(storetest.QueryText(t, sql, size))
	require.NoError(t, err)
	return rows
}
