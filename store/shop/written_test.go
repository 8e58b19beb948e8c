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
)

// mostWritten is how many rows a transaction may write, however large the shop
// is: a batch with what comes along with each of its rows.
const mostWritten = 15_000

// TestTransactionSizes is the promise that no transaction of long work grows with the
// shop: others wait for it, engines bound it, and who is killed loses it.
func TestTransactionSizes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		storetest.FullTestsOnly(t, "it writes many thousands of rows")
		t.Run("of imports and publications", boundedPublications(backend))
		t.Run("of sweeps, of promotions and codes", boundedSweeps(backend))
		t.Run("an end between them is made good by the next import", cutWrites(backend))
	})
}

// written counts the rows that each transaction writes, as an observer.
type written struct {
	mu   sync.Mutex
	most int64 // of one transaction
	all  int64
	in   string // the statement of the largest that wrote the most
}

// oneWrite is told of what one transaction does.
type oneWrite struct {
	rows, largest atomic.Int64
	in            atomic.Pointer[string]
}

func (w *written) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	if step != store.StepWrite {
		return ctx, func(error) {}
	}
	one := &oneWrite{}
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

func (*written) Statement(context.Context, string, time.Time, int64, error) {}

func (*oneWrite) Begin(ctx context.Context, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

func (o *oneWrite) Statement(_ context.Context, query string, _ time.Time, rows int64, _ error) {
	if query == `DELETE FROM authored_change` {
		return // at most 50,000 short rows in one go, however large the shop is
	}
	switch verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); verb {
	case "INSERT", "UPDATE", "DELETE":
		if o.rows.Add(rows); rows >= o.largest.Load() {
			o.largest.Store(rows)
			o.in.Store(&query)
		}
	}
}

// bounded holds each transaction of do against the bound; it writes so many
// rows at least, so that one transaction for all of it would be told.
func bounded(t *testing.T, what string, least int64, do func(ctx context.Context)) {
	t.Helper()
	w := &written{}
	do(store.WithObserver(t.Context(), w))
	t.Logf("%s: %d rows, at most %d in a transaction", what, w.all, w.most)
	require.GreaterOrEqual(t, w.all, least, what)
	require.LessOrEqual(t, w.most, int64(mostWritten), "%s: %s", what, w.in)
}

func boundedPublications(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		const products = 9_000
		clock := storetest.NewClock(storetest.Noon)
		s := backend.Open(t, storetest.WithClock(clock), keeping(func(r *store.Retention) { r.Releases = 1 }))
		text := storetest.WithoutStock(storetest.GenerateShop(t, products, 2))
		catalog := storetest.CatalogID(t, text)
		importing := func(text string) func(context.Context) {
			return func(ctx context.Context) {
				_, err := s.Import(ctx, storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
				require.NoError(t, err)
			}
		}
		publishing := func(ctx context.Context) {
			clock.Advance(storetest.Day)
			_, err := s.Publish(ctx, storetest.Actor, catalog, nil)
			require.NoError(t, err)
		}
		bounded(t, "an import", 6*products, importing(text))
		bounded(t, "a whole publication", 6*products, publishing)
		var names []string
		n := 0
		for line := range strings.Lines(text) {
			if storetest.LineType(line) == "product" {
				if n++; n%3 == 0 {
					names = append(names, strings.Replace(line, `"name":"`, `"name":"New `, 1))
				}
			}
		}
		bounded(t, "an import of what changed", products/3, importing(strings.Join(names, "")))
		bounded(t, "a delta", products, publishing)
		bounded(t, "an import of everything as it was", products/3, importing(text))
		bounded(t, "a publication of that", products, publishing)
		turned := turnedNodes(text)
		bounded(t, "an import of nodes whose products are in another order", products, importing(turned))
		require.Zero(t, storetest.Import(t, s, turned).Changed, "the last of its transactions is in")
		clock.Advance(storetest.Day)
		bounded(t, "the sweep of releases", 6*products, func(ctx context.Context) { require.NoError(t, s.Sweep(ctx)) })
		storetest.RequireNoOrphans(t, backend.SQL(t))
	}
}

var aProduct = regexp.MustCompile(`\{"type":"product","id":"[^"]+"\}`)

// turnedNodes are the nodes of a file, with the last of their products first.
func turnedNodes(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		if storetest.LineType(line) != "node" {
			continue
		}
		all := aProduct.FindAllString(line, -1)
		lines.WriteString(aProduct.ReplaceAllStringFunc(line, func(string) string {
			last := all[len(all)-1]
			all = all[:len(all)-1]
			return last
		}))
	}
	return lines.String()
}

// cutter ends what runs once so many transactions are written, as an observer.
type cutter struct {
	after atomic.Int64
	end   context.CancelFunc
}

func (c *cutter) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	return ctx, func(error) {
		if step == store.StepWrite && c.after.Add(-1) == 0 {
			c.end()
		}
	}
}

func (*cutter) Statement(context.Context, string, time.Time, int64, error) {}

// cutWrites ends an import between any two of the transactions that attach the
// products of one node.
func cutWrites(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		text := storetest.WithoutStock(storetest.GenerateShop(t, 5_000, 2))
		turned := longestLine(turnedNodes(text))
		back := turnedNodes(turned)
		storetest.Import(t, s, text)
		attached := storetest.CountRows(t, db, "node_product")
		storetest.Import(t, s, turned)
		want := storetest.Export(t, s)
		cuts := 0
		for {
			storetest.Import(t, s, back)
			ctx, end := context.WithCancel(t.Context())
			c := &cutter{end: end}
			c.after.Store(int64(cuts + 1))
			_, err := s.Import(store.WithObserver(ctx, c), storetest.Actor, storetest.Source(turned), exchange.ImportOptions{})
			end()
			require.Equal(t, attached, storetest.CountRows(t, db, "node_product"), "every product is where it was, cut after %d", cuts+1)
			storetest.Import(t, s, turned)
			require.Equal(t, want, storetest.Export(t, s), "cut after %d", cuts+1)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			cuts++
		}
		require.GreaterOrEqual(t, cuts, 2, "transactions after the first")
		t.Logf("cut at %d places", cuts)
	}
}

// longestLine is the line of the node with the most products.
func longestLine(text string) string {
	return slices.MaxFunc(slices.Collect(strings.Lines(text)), func(a, b string) int { return len(a) - len(b) })
}

// numbered begins an INSERT of so many rows, by their numbers n.
const numbered = `WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < %d) SELECT `

func boundedSweeps(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		const rows = mostWritten + 1000
		clock := storetest.NewClock(storetest.Noon)
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
				run(`INSERT INTO ` + table + ` (` + columns + `) ` + fmt.Sprintf(numbered, rows) + values + ` FROM row`)
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
		bounded(t, "the end of a promotion", 1, func(ctx context.Context) { require.NoError(t, storetest.DeletePromotion(ctx, s, storetest.Actor, "q")) })
		bounded(t, "all sweeps", 9*rows, func(ctx context.Context) {
			require.NoError(t, s.Sweep(ctx)) // which sees how far changes of stock are
			clock.Advance(storetest.Day)
			require.NoError(t, s.Sweep(ctx))
		})
		for _, table := range []string{"job", "idempotency_key", "api_client WHERE revoked_at > 0", "stock_change", "authored_change", "code_usage WHERE actor = 'b'", "promotion_code WHERE id LIKE 'row-%'", "code_claim WHERE code LIKE 'row-%'"} {
			require.Zero(t, storetest.CountRows(t, db, table), table)
		}
		require.Equal(t, 3, storetest.CountRows(t, db, "stock_transaction WHERE product_id = 'a'"), "what was carried over, and two lines that are young")
	}
}
