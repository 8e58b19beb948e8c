package shop_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// maxRowsWritten is the maximum number of rows that a transaction may write, whatever the
// shop's size: a batch with the rows that depend on it. An import before the first publication,
// for which nobody waits, writes larger batches.
const (
	maxRowsWritten      = 15_000
	maxRowsFirstWritten = 45_000
)

// TestTransactionSizes checks that transactions of long tasks do not grow with the shop. Large
// transactions block others, hit database limits and lose much when interrupted.
func TestTransactionSizes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		testkit.FullTestsOnly(t, "it writes many thousands of rows")
		t.Run("imports and publications", boundedPublications(backend))
		t.Run("sweeps, promotions and codes", boundedSweeps(backend))
		t.Run("the next import completes an interrupted one", interruptedImport(backend))
	})
}

// rowCounter is an observer that counts the rows of each transaction.
type rowCounter struct {
	mu   sync.Mutex
	most int64 // of one transaction
	all  int64
	in   string // the largest statement of the largest transaction
}

// transactionRows counts the rows of one transaction.
type transactionRows struct {
	rows, largest atomic.Int64
	in            atomic.Pointer[string]
}

func (w *rowCounter) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	if step != store.StepWrite {
		return ctx, func(error) {}
	}
	one := &transactionRows{}
	return store.WithObserver(ctx, one), func(error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		rows := one.rows.Load()
		w.all += rows
		if rows > w.most {
			w.most, w.in = rows, *one.in.Load()
		}
	}
}

func (*rowCounter) Statement(context.Context, string, time.Time, int64, error) {}

func (*transactionRows) Begin(ctx context.Context, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

func (o *transactionRows) Statement(_ context.Context, query string, _ time.Time, rows int64, _ error) {
	if query == `DELETE FROM authored_change` {
		return // at most 50,000 short rows, whatever the shop's size
	}
	switch verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); verb {
	case "INSERT", "UPDATE", "DELETE":
		if o.rows.Add(rows); rows >= o.largest.Load() {
			o.largest.Store(rows)
			o.in.Store(&query)
		}
	}
}

// requireSmallTransactions checks the size of each transaction of do, which must write at least
// this many rows in all.
func requireSmallTransactions(t *testing.T, what string, least int64, do func(ctx context.Context)) {
	t.Helper()
	requireTransactions(t, what, least, maxRowsWritten, do)
}

// requireTransactions is requireSmallTransactions with another maximum.
func requireTransactions(t *testing.T, what string, least, most int64, do func(ctx context.Context)) {
	t.Helper()
	w := &rowCounter{}
	do(store.WithObserver(t.Context(), w))
	t.Logf("%s: %d rows, at most %d in a transaction", what, w.all, w.most)
	require.GreaterOrEqual(t, w.all, least, what)
	require.LessOrEqual(t, w.most, most, "%s: %s", what, w.in)
}

func boundedPublications(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		const products = 9_000
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock), withRetention(func(r *store.Retention) { r.Releases = 1 }))
		text := storetest.WithoutStock(storetest.GenerateShop(t, products, 2))
		catalog := storetest.CatalogID(t, text)
		importing := func(text string) func(context.Context) {
			return func(ctx context.Context) {
				_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
				require.NoError(t, err)
			}
		}
		publishing := func(ctx context.Context) {
			clock.Advance(testkit.Day)
			_, err := s.Publisher.Publish(ctx, storetest.Actor, catalog, nil)
			require.NoError(t, err)
		}
		requireTransactions(t, "an import", 4*products, maxRowsFirstWritten, importing(text))
		requireSmallTransactions(t, "a whole publication", 2*products, publishing)
		var names []string
		n := 0
		for line := range strings.Lines(text) {
			if storetest.LineType(line) == "product" {
				if n++; n%3 == 0 {
					names = append(names, strings.Replace(line, `"name":"`, `"name":"New `, 1))
				}
			}
		}
		requireSmallTransactions(t, "an import of what changed", products/3, importing(strings.Join(names, "")))
		requireSmallTransactions(t, "a delta", products, publishing)
		requireSmallTransactions(t, "an import of everything as it was", products/3, importing(text))
		requireSmallTransactions(t, "a publication of that", products, publishing)
		turned := rotateNodes(text)
		requireSmallTransactions(t, "an import of nodes whose products are in another order", products, importing(turned))
		require.Zero(t, storetest.Import(t, s, turned).Changed, "all its transactions were committed")
		clock.Advance(testkit.Day)
		requireSmallTransactions(t, "the sweep of releases", 4*products, func(ctx context.Context) { require.NoError(t, s.Sweep(ctx)) })
		storetest.RequireNoOrphans(t, backend.SQL(t))
	}
}

var productReference = regexp.MustCompile(`\{"type":"product","id":"[^"]+"\}`)

// rotateNodes returns the nodes of a file with the last product of each moved to the front.
func rotateNodes(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		if storetest.LineType(line) != "node" {
			continue
		}
		all := productReference.FindAllString(line, -1)
		lines.WriteString(productReference.ReplaceAllStringFunc(line, func(string) string {
			last := all[len(all)-1]
			all = all[:len(all)-1]
			return last
		}))
	}
	return lines.String()
}

// canceler is an observer that cancels a context after a number of transactions.
type canceler struct {
	after atomic.Int64
	end   context.CancelFunc
}

func (c *canceler) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	return ctx, func(error) {
		if step == store.StepWrite && c.after.Add(-1) == 0 {
			c.end()
		}
	}
}

func (*canceler) Statement(context.Context, string, time.Time, int64, error) {}

// interruptedImport interrupts an import between all transactions that attach the products of
// one node.
func interruptedImport(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		text := storetest.WithoutStock(storetest.GenerateShop(t, 5_000, 2))
		turned := longestLine(rotateNodes(text))
		back := rotateNodes(turned)
		storetest.Import(t, s, text)
		attached := storetest.CountRows(t, db, "node_product")
		storetest.Import(t, s, turned)
		want := storetest.Export(t, s)
		cuts := 0
		for {
			storetest.Import(t, s, back)
			ctx, end := context.WithCancel(t.Context())
			c := &canceler{end: end}
			c.after.Store(int64(cuts + 1))
			_, err := s.Exchange.Import(store.WithObserver(ctx, c), storetest.Actor, storetest.Source(turned), exchange.ImportOptions{})
			end()
			require.Equal(t, attached, storetest.CountRows(t, db, "node_product"), "no product is lost, interrupted after %d", cuts+1)
			storetest.Import(t, s, turned)
			require.Equal(t, want, storetest.Export(t, s), "interrupted after %d", cuts+1)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			cuts++
		}
		require.GreaterOrEqual(t, cuts, 2, "transactions after the first")
		t.Logf("interrupted at %d places", cuts)
	}
}

// longestLine returns the line of the node with the most products.
func longestLine(text string) string {
	return slices.MaxFunc(slices.Collect(strings.Lines(text)), func(a, b string) int { return len(a) - len(b) })
}

// numberedRows begins an INSERT of rows with the numbers n.
const numberedRows = `WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < %d) SELECT `

func boundedSweeps(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		const rows = maxRowsWritten + 1000
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, rows+1, "a")
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		storetest.Import(t, s, strings.Join([]string{storetest.ShopFile, storetest.PromotionLine("p", ""), storetest.PromotionLine("q", "")}, "\n"))
		storetest.Publish(t, s, "main", "outlet")
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		number := func(id string) string {
			return storetest.QueryText(t, db, fmt.Sprintf(`SELECT number FROM promotion WHERE id = '%s'`, id))
		}
		const id, long = `'row-' || CAST(n AS TEXT)`, `1000000 + n`
		storetest.Transact(t, db, func(run func(query string, args ...any)) {
			insert := func(table, columns, values string) {
				run(`INSERT INTO ` + table + ` (` + columns + `) ` + fmt.Sprintf(numberedRows, rows) + values + ` FROM row`)
			}
			insert("job", "id, kind, state, input, result, error, done, total, canceled, worker, actor, created_at, started_at, beat_at, finished_at",
				id+`, 'catalog_publish', 'succeeded', '', '', '', 1, 1, FALSE, '', 'a', `+long+`, 1, 1, `+long)
			insert("idempotency_key", "client, operation, key, input_hash, outcome, created_at", `'a', 'b', `+id+`, '', '', `+long)
			insert("api_client", "id, name, secret_hash, scopes, created_at, revoked_at", id+`, '', '', '', `+long+`, `+long)
			insert("stock_transaction", "id, product_id, action, quantity, available_delta, allocated_delta, reason, reference, actor, created_at",
				id+`, 'a', 'increment', 1, 0, 0, '', '', 'b', `+long)
			run(fmt.Sprintf(`UPDATE stock SET lines = lines + %d WHERE product_id = 'a'`, rows))
			insert("stock_change", "lane, version, products", `(SELECT MIN(lane) FROM stock_change), -n, ''`)
			insert("authored_change", "revision, kind, id", `0, 'product', `+id)
			insert("code_usage", "id, promotion_number, epoch, code, user_id, units_asked, units, reference, actor, created_at",
				id+`, `+number("p")+`, 1, 'C', '', 1, 1, `+id+`, 'b', `+long)
			run(`INSERT INTO code_usage_total (promotion_number, part, usages) VALUES (` + number("p") + fmt.Sprintf(`, 0, %d)`, rows))
			insert("promotion_code", "promotion_number, epoch, code, id, used, consume_unit, users, created_at",
				number("q")+`, (SELECT epoch FROM promotion WHERE id = 'q'), `+id+`, `+id+`, 0, 'per_cart', '', 1`)
			insert("code_claim", "code, promotion_number, epoch", id+`, `+number("q")+`, (SELECT epoch FROM promotion WHERE id = 'q')`)
		})
		requireSmallTransactions(t, "the end of a promotion", 1, func(ctx context.Context) { require.NoError(t, storetest.DeletePromotion(ctx, s, storetest.Actor, "q")) })
		requireSmallTransactions(t, "all sweeps", 9*rows, func(ctx context.Context) {
			require.NoError(t, s.Sweep(ctx)) // records the position in the change log
			clock.Advance(testkit.Day)
			require.NoError(t, s.Sweep(ctx))
		})
		for _, table := range []string{"job", "idempotency_key", "api_client WHERE revoked_at > 0", "stock_change", "authored_change", "code_usage WHERE actor = 'b'", "promotion_code WHERE id LIKE 'row-%'", "code_claim WHERE code LIKE 'row-%'"} {
			require.Zero(t, storetest.CountRows(t, db, table), table)
		}
		require.Equal(t, 3, storetest.CountRows(t, db, "stock_transaction WHERE product_id = 'a'"), "the sum and two recent entries")
	}
}
