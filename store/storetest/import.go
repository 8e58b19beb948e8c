package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/exchange"
	"portico/store/shop"
)

// Import is the promise of Store.Import, but for its faults (ImportFaults).
func Import(t *testing.T, e Engine) {
	d := newDesk(t, e)
	d.run(t, "a canonical file is kept as it stands", importKept)
	d.run(t, "a second import changes nothing", importAgain)
	d.run(t, "what was new or different is counted, each resource once", importCounted)
	d.run(t, "the order of the lines does not matter", importOrder)
	d.run(t, "the order of the lines does not matter across batches", importShuffled)
	d.run(t, "of two lines with one id the last wins", importDuplicates)
	d.run(t, "blank lines, a byte order mark, CRLF and a missing last newline are fine", importFormats)
	d.run(t, "ids and times become canonical", importCanonical)
	d.run(t, "a whole number may have a fraction of nothing, or an exponent", importWhole)
	d.run(t, "null is the same as a missing member", importNulls)
	d.run(t, "text that looks like an escaped NUL is text", importEscapes)
	d.run(t, "an unknown type or member is passed over when that was asked for", importLenient)
	d.run(t, "a catalog keeps the time of its creation when it is changed", importKeepsCreation)
	d.run(t, "an import that was cancelled is finished by the next", importResumed)
	t.Run("the same file imported twice at once is the same store", importTogether(e))
	d.run(t, "progress is told, pass by pass", importProgress)
}

// desk is a store that tests share one after the other, each of which finds
// it empty: a database on PostgreSQL takes longer to make than most of them.
type desk struct {
	*shop.Store
	engine Engine
	db     *sql.DB
	clock  *Clock
}

func newDesk(t *testing.T, e Engine) *desk {
	t.Helper()
	clock := NewClock(noon)
	return &desk{Store: e.Open(t, At(clock)), engine: e, db: e.SQL(t), clock: clock}
}

func (d *desk) run(t *testing.T, name string, test func(*desk) func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		wipe(t, d.db)
		test(d)(t)
	})
}

func importKept(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		report := imported(t, s, shopFile)
		want := map[string]int{}
		for _, line := range Shop() {
			want[kindOf(line)]++
		}
		require.Equal(t, want, report.Resources)
		require.Equal(t, shopFile, exported(t, s))
		requireStockKept(t, d.db)
	}
}

func importWhole(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		text := strings.NewReplacer(`"quantity":2`, `"quantity":2.0`, `"sort_order":1`, `"sort_order":1e0`, `"amount":129900`, `"amount":1299e2`,
			`"available":7,"allocated":2`, `"available":7.00,"allocated":20e-1`, `"page_length":25`, `"page_length":25.0`).Replace(shopFile)
		require.NotEqual(t, shopFile, text)
		imported(t, s, text)
		require.Equal(t, shopFile, exported(t, s))
	}
}

// kindOf is the type of a canonical line, which begins with it.
func kindOf(line string) string { return strings.Split(line, `"`)[3] }

func importAgain(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		for _, text := range []string{shopFile, generated(t, 300, 3)} {
			imported(t, s, text)
			before := exported(t, s)
			require.Zero(t, imported(t, s, text).Changed)
			require.Equal(t, before, exported(t, s))
			require.Zero(t, imported(t, s, before).Changed, "its own export")
			require.Equal(t, before, exported(t, s))
			requireStockKept(t, d.db)
		}
	}
}

func importCounted(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		for _, c := range []struct {
			name  string
			lines []string
		}{
			{"a product", []string{line("product", "anvil")}},
			{"a node with products", []string{line("hierarchy", "workshop"), line("node", "tools")}},
			{"a settings line that differs", []string{`{"type":"settings","page_length":7,"currency":"EUR","locale":"fr"}`}},
			{"stock of nothing", []string{line("stock", "chalk")}},
			{"clients", []string{line("api_client", "till")}},
		} {
			t.Run(c.name, func(t *testing.T) {
				wipe(t, db)
				require.Equal(t, len(c.lines), imported(t, s, ndjson(c.lines...)).Changed, "all are new")
			})
		}
		t.Run("one of many", func(t *testing.T) {
			wipe(t, db)
			imported(t, s, shopFile)
			changed := strings.Replace(shopFile, `"name":"Chalk"`, `"name":"Crayon"`, 1)
			require.Equal(t, 1, imported(t, s, changed).Changed)
			require.Equal(t, changed, exported(t, s))
		})
	}
}

// line is a line of the shop.
func line(kind, id string) string {
	for _, line := range Shop() {
		if strings.HasPrefix(line, fmt.Sprintf(`{"type":%q,"id":%q,`, kind, id)) {
			return line
		}
	}
	panic("the shop has no " + kind + " " + id)
}

func importOrder(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		want := slices.Sorted(slices.Values(Shop()))
		rapid.Check(t, func(t *rapid.T) {
			wipe(t, db)
			lines := inLedgerOrder(rapid.Permutation(Shop()).Draw(t, "lines"))
			imported(t, s, ndjson(lines...))
			require.Equal(t, want, sortedLines(exported(t, s)))
			requireStockKept(t, db)
		})
	}
}

func sortedLines(text string) []string {
	return slices.Sorted(strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n"))
}

// inLedgerOrder puts the lines of the ledger, wherever they are, into the
// order in which they were made.
func inLedgerOrder(lines []string) []string {
	isLedger := func(line string) bool { return kindOf(line) == "stock_transaction" }
	ledger := slices.DeleteFunc(slices.Clone(Shop()), func(line string) bool { return !isLedger(line) })
	for i := range lines {
		if isLedger(lines[i]) {
			lines[i], ledger = ledger[0], ledger[1:]
		}
	}
	return lines
}

// wipe empties the tables behind the store's back; numbers go on as they were.
func wipe(t require.TestingT, db *sql.DB) {
	inTransaction(t, db, func(run func(query string, args ...any)) {
		for _, table := range []string{"file", "product", "hierarchy", "node", "node_product", "pricebook", "price", "price_modifier", "catalog",
			"catalog_rule", "stock", "stock_deleted", "stock_transaction", "promotion", "promotion_code", "code_claim", "promotion_purge", "promotion_archive", "code_usage", "code_usage_total", "gateway", "api_client",
			"release", "release_product", "release_row", "release_node", "release_file", "release_list", "release_chunk", "release_index", "release_place", "document", "document_hash"} {
			run(`DELETE FROM ` + table)
		}
		run(`UPDATE counter SET value = 0 WHERE name = 'stock'`)
		run(`UPDATE settings SET page_length = 25, currency = 'USD', locale = 'en'`)
	})
}

// requireStockKept holds every balance against the sum of its ledger, also
// where there is none, and the number of records against the counter.
func requireStockKept(t require.TestingT, db *sql.DB) {
	requireLedger(t, db)
	for name, query := range map[string]string{
		"balances that the ledger does not add up to": `
			SELECT COUNT(*) FROM stock LEFT JOIN (
			    SELECT product_id, SUM(available_delta) AS available, SUM(allocated_delta) AS allocated
			    FROM stock_transaction GROUP BY product_id) AS ledger ON ledger.product_id = stock.product_id
			WHERE stock.available <> COALESCE(ledger.available, 0) OR stock.allocated <> COALESCE(ledger.allocated, 0)`,
		"lines of no balance": `SELECT COUNT(*) FROM stock_transaction WHERE product_id NOT IN (SELECT product_id FROM stock UNION ALL SELECT product_id FROM stock_deleted)`,
		"deleted records that the ledger does not bring to nothing": `
			SELECT COUNT(*) FROM (
			    SELECT product_id FROM stock_transaction WHERE product_id NOT IN (SELECT product_id FROM stock)
			    GROUP BY product_id HAVING SUM(available_delta) <> 0 OR SUM(allocated_delta) <> 0) AS ledger`,
		"records that are deleted": `SELECT COUNT(*) FROM stock_deleted WHERE product_id IN (SELECT product_id FROM stock)`,
		"miscounted records":       `SELECT value - (SELECT COUNT(*) FROM stock) FROM counter WHERE name = 'stock'`,
	} {
		var n int
		require.NoError(t, db.QueryRow(query).Scan(&n))
		require.Zero(t, n, name)
	}
	requireTotals(t, db)
}

// inBatches imports a file in transactions of a few hundred lines.
func inBatches(t require.TestingT, s *shop.Store, text string) {
	_, err := s.Import(context.Background(), actor, file(text), exchange.ImportOptions{Batch: 300})
	require.NoError(t, err)
}

func importShuffled(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		lines := sortedLines(generated(t, 400, 5))
		imported(t, s, ndjson(lines...))
		want := sortedLines(withoutLedger(exported(t, s))) // whose lines are new each time
		wipe(t, db)
		inBatches(t, s, ndjson(rapid.Permutation(lines).Example(1)...))
		require.Equal(t, want, sortedLines(withoutLedger(exported(t, s))))
		requireStockKept(t, db)
	}
}

// withoutLedger leaves out stock transactions, which an import of stock alone
// makes with ids of their own.
func withoutLedger(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if kindOf(line) != "stock_transaction" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func importDuplicates(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		for name, between := range map[string]int{"next to each other": 0, "in one batch": 100, "in different batches": 700} {
			t.Run(name, func(t *testing.T) {
				wipe(t, db)
				lines := Shop()
				for range between {
					lines = append(lines, lines[0])
				}
				for _, later := range Shop() {
					lines = append(lines, strings.ReplaceAll(later, `"name":"Anvil"`, `"name":"Anvil II"`))
				}
				inBatches(t, s, ndjson(lines...))
				require.Equal(t, strings.ReplaceAll(shopFile, `"name":"Anvil"`, `"name":"Anvil II"`), exported(t, s))
				requireStockKept(t, db)
			})
		}
	}
}

func importFormats(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		for name, text := range map[string]string{
			"CRLF":               strings.ReplaceAll(shopFile, "\n", "\r\n"),
			"no last newline":    strings.TrimSuffix(shopFile, "\n"),
			"blank lines":        "\n \n\t\r\n" + strings.ReplaceAll(shopFile, "\n", "\n\n"),
			"a byte order mark":  "\ufeff" + shopFile,
			"spaces around":      "  " + strings.ReplaceAll(shopFile, "\n", "  \n\t"),
			"everything at once": "\ufeff\r\n" + strings.TrimSuffix(strings.ReplaceAll(shopFile, "\n", "\r\n\r\n"), "\r\n\r\n"),
		} {
			t.Run(name, func(t *testing.T) {
				wipe(t, db)
				imported(t, s, text)
				require.Equal(t, shopFile, exported(t, s))
			})
		}
		t.Run("an empty file", func(t *testing.T) {
			for _, text := range []string{"", "\n", "\ufeff"} {
				report := imported(t, s, text)
				require.Zero(t, report.Changed)
				require.Empty(t, report.Resources)
			}
		})
	}
}

func importCanonical(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		text := strings.ReplaceAll(shopFile, lamp, strings.ToUpper(lamp))
		text = strings.ReplaceAll(text, `"created_at":"2023-01-04T00:00:00.000Z"`, `"created_at":"2023-01-04T02:00:00.0009+02:00"`)
		text = strings.ReplaceAll(text, `"updated_at":"2024-01-04T00:00:00.000Z"`, `"updated_at":"2024-01-04T00:00:00.000"`)
		require.NotEqual(t, shopFile, text)
		imported(t, s, text)
		require.Equal(t, shopFile, exported(t, s))
	}
}

func importNulls(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		for member, text := range map[string]string{
			"texts and lists": `"description":null,"tags":null,"locales":null,"variations":null,"options":null,"components":null`,
			"custom_inputs":   `"custom_inputs":null`, "extensions": `"extensions":null`, "shopper_attributes": `"shopper_attributes":null`,
		} {
			t.Run(member, func(t *testing.T) {
				wipe(t, db)
				product := line("product", "frame")
				imported(t, s, ndjson(strings.Replace(product, `"slug":"frame"`, `"slug":"frame",`+text, 1)))
				require.Contains(t, exported(t, s), product)
			})
		}
	}
}

func importEscapes(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		product := strings.Replace(line("product", "frame"), `"name":"Frame"`, `"name":"Frame \\u0000 \\\\u0000"`, 1)
		imported(t, s, ndjson(product))
		require.Contains(t, exported(t, s), product)
	}
}

func importLenient(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		product := line("product", "frame")
		text := ndjson(`{"type":"customer","id":"bob"}`, strings.Replace(product, `"slug":"frame"`, `"colour":1,"slug":"frame"`, 1))
		_, err := s.Import(t.Context(), actor, file(text), exchange.ImportOptions{})
		require.Len(t, faultsOf(t, err), 2)
		report, err := s.Import(t.Context(), actor, file(text), exchange.ImportOptions{Lenient: true})
		require.NoError(t, err)
		require.Equal(t, map[string]int{"product": 1}, report.Resources)
		require.Contains(t, exported(t, s), product)
		_, err = s.Import(t.Context(), actor, file(`{"type":"file","id":"f","file_name":5,"link":{"href":"x"},"colour":1}`), exchange.ImportOptions{Lenient: true})
		require.Len(t, faultsOf(t, err), 1, "what is known must still be right")
	}
}

func importKeepsCreation(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		catalog := func(id, name string) string {
			return fmt.Sprintf(`{"type":"catalog","id":%q,"attributes":{"name":%q,"hierarchies":[],"pricebook_ids":[]}}`, id, name)
		}
		for _, text := range []string{catalog("older", "A"), catalog("newer", "B"), catalog("older", "A, renamed")} {
			imported(t, s, ndjson(text))
			d.clock.Advance(time.Second)
		}
		ids, err := s.CatalogIDs(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"older", "newer"}, ids)
	}
}

func importResumed(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db
		text := generated(t, Pick(200, 600), 7) + shopFile
		imported(t, s, text)
		want := withoutLedger(exported(t, s))
		for percent := 70; percent < 300; percent += 90 {
			wipe(t, db)
			ctx, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex
			seen := int64(0)
			_, err := s.Import(ctx, actor, file(text), exchange.ImportOptions{Batch: Pick(170, 500), Progress: func(done int64) {
				mu.Lock()
				defer mu.Unlock()
				if seen += done; seen > int64(len(text)*percent/100) {
					cancel()
				}
			}})
			cancel()
			if err != nil { // the last bytes may have been written when it came
				require.ErrorIs(t, err, context.Canceled)
			}
			_, err = s.Import(t.Context(), actor, file(text), exchange.ImportOptions{Settings: true})
			require.NoError(t, err)
			require.Equal(t, want, withoutLedger(exported(t, s)), "cancelled after %d%%", percent)
			requireStockKept(t, db)
		}
		require.Zero(t, imported(t, s, text).Changed)
	}
}

func importTogether(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		stores := []*shop.Store{e.Open(t), e.Open(t), e.Open(t)}
		failures := make([]error, len(stores))
		var group sync.WaitGroup
		for i, s := range stores {
			group.Go(func() {
				_, failures[i] = s.Import(context.Background(), actor, file(shopFile), exchange.ImportOptions{})
			})
		}
		group.Wait()
		for _, failure := range failures {
			require.NoError(t, failure)
		}
		require.Equal(t, shopFile, exported(t, stores[0]))
		requireStockKept(t, e.SQL(t))
	}
}

func importProgress(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		for name, c := range map[string]struct {
			text   string
			passes int
		}{
			"a check and a write":                   {generated(t, 200, 1), 2},
			"the ledger is written before balances": {shopFile, 3},
		} {
			t.Run(name, func(t *testing.T) {
				var mu sync.Mutex
				var seen int64
				opened := 0
				open := func() (io.ReadCloser, error) { opened++; return file(c.text)() }
				_, err := s.Import(t.Context(), actor, open, exchange.ImportOptions{Progress: func(done int64) {
					mu.Lock()
					defer mu.Unlock()
					seen += done
				}})
				require.NoError(t, err)
				require.Equal(t, c.passes, opened)
				require.EqualValues(t, c.passes*len(c.text), seen)
			})
		}
	}
}
