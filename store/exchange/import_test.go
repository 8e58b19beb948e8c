package exchange_test

import (
	"context"
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
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestImport tests Service.Import with valid files. TestImportErrors has the others.
func TestImport(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		d := storetest.NewSharedStore(t, backend)
		d.Run(t, "the export of a canonical file is the same file", importCanonicalFile)
		d.Run(t, "a second import changes nothing", importTwice)
		d.Run(t, "the report counts new and changed resources, each once", importCounted)
		d.Run(t, "the order of the lines does not matter", importOrder)
		d.Run(t, "the order of the lines does not matter across batches", importShuffled)
		d.Run(t, "the last of two lines with one ID wins", importDuplicates)
		d.Run(t, "blank lines, a byte order mark, CRLF and a missing last newline", importFormats)
		d.Run(t, "IDs and times become canonical", importCanonical)
		d.Run(t, "integers with a zero fraction or an exponent", importIntegers)
		d.Run(t, "null equals a missing member", importNulls)
		d.Run(t, "text that looks like an escaped NUL", importEscapes)
		d.Run(t, "a lenient import ignores unknown types and members", importLenient)
		d.Run(t, "a changed catalog keeps its creation time", importKeepsCreation)
		d.Run(t, "a canceled import is completed by the next", importResumed)
		t.Run("two concurrent imports of one file", importConcurrently(backend))
		d.Run(t, "progress of each pass", importProgress)
	})
}

func importCanonicalFile(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		report := storetest.Import(t, s, storetest.ShopFile)
		want := map[string]int{}
		for _, line := range storetest.ShopLines() {
			want[storetest.LineType(line)]++
		}
		require.Equal(t, want, report.Resources)
		require.Equal(t, storetest.ShopFile, storetest.Export(t, s))
		storetest.RequireStockConsistent(t, d.DB)
	}
}

func importIntegers(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		text := strings.NewReplacer(`"quantity":2`, `"quantity":2.0`, `"sort_order":1`, `"sort_order":1e0`, `"amount":129900`, `"amount":1299e2`,
			`"available":7,"allocated":2`, `"available":7.00,"allocated":20e-1`, `"page_length":25`, `"page_length":25.0`).Replace(storetest.ShopFile)
		require.NotEqual(t, storetest.ShopFile, text)
		storetest.Import(t, s, text)
		require.Equal(t, storetest.ShopFile, storetest.Export(t, s))
	}
}

func importTwice(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		for _, text := range []string{storetest.ShopFile, storetest.GenerateShop(t, 300, 3)} {
			storetest.Import(t, s, text)
			before := storetest.Export(t, s)
			require.Zero(t, storetest.Import(t, s, text).Changed)
			require.Equal(t, before, storetest.Export(t, s))
			require.Zero(t, storetest.Import(t, s, before).Changed, "its own export")
			require.Equal(t, before, storetest.Export(t, s))
			storetest.RequireStockConsistent(t, d.DB)
		}
	}
}

func importCounted(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		for _, c := range []struct {
			name  string
			lines []string
		}{
			{"a product", []string{storetest.ShopLine("product", "anvil")}},
			{"a node with products", []string{storetest.ShopLine("hierarchy", "workshop"), storetest.ShopLine("node", "tools")}},
			{"a settings line that differs", []string{`{"type":"settings","page_length":7,"currency":"EUR","locale":"fr"}`}},
			{"stock of nothing", []string{storetest.ShopLine("stock", "chalk")}},
			{"clients", []string{storetest.ShopLine("api_client", "till")}},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				require.Equal(t, len(c.lines), storetest.Import(t, s, storetest.JoinLines(c.lines...)).Changed, "all lines are new")
			})
		}
		t.Run("one of many", func(t *testing.T) {
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, storetest.ShopFile)
			changed := strings.Replace(storetest.ShopFile, `"name":"Chalk"`, `"name":"Crayon"`, 1)
			require.Equal(t, 1, storetest.Import(t, s, changed).Changed)
			require.Equal(t, changed, storetest.Export(t, s))
		})
	}
}

func importOrder(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		want := slices.Sorted(slices.Values(storetest.ShopLines()))
		rapid.Check(t, func(t *rapid.T) {
			storetest.DeleteAllRows(t, db)
			lines := inLedgerOrder(rapid.Permutation(storetest.ShopLines()).Draw(t, "lines"))
			storetest.Import(t, s, storetest.JoinLines(lines...))
			require.Equal(t, want, sortedLines(storetest.Export(t, s)))
			storetest.RequireStockConsistent(t, db)
		})
	}
}

func sortedLines(text string) []string {
	return slices.Sorted(strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n"))
}

// inLedgerOrder puts the ledger's lines, wherever they are, into their original order.
func inLedgerOrder(lines []string) []string {
	isLedger := func(line string) bool { return storetest.LineType(line) == "stock_transaction" }
	ledger := slices.DeleteFunc(slices.Clone(storetest.ShopLines()), func(line string) bool { return !isLedger(line) })
	for i := range lines {
		if isLedger(lines[i]) {
			lines[i], ledger = ledger[0], ledger[1:]
		}
	}
	return lines
}

// importInBatches imports a file in transactions of 300 lines.
func importInBatches(t require.TestingT, s *shop.Store, text string) {
	_, err := s.Exchange.Import(context.Background(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{Batch: 300})
	require.NoError(t, err)
}

func importShuffled(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		lines := sortedLines(storetest.GenerateShop(t, 400, 5))
		storetest.Import(t, s, storetest.JoinLines(lines...))
		want := sortedLines(withoutLedger(storetest.Export(t, s))) // its entries get new IDs each time
		storetest.DeleteAllRows(t, db)
		importInBatches(t, s, storetest.JoinLines(rapid.Permutation(lines).Example(1)...))
		require.Equal(t, want, sortedLines(withoutLedger(storetest.Export(t, s))))
		storetest.RequireStockConsistent(t, db)
	}
}

// withoutLedger removes stock transactions. An import that has only balances creates new ones
// with random IDs.
func withoutLedger(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if storetest.LineType(line) != "stock_transaction" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func importDuplicates(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		for name, between := range map[string]int{"next to each other": 0, "in one batch": 100, "in different batches": 700} {
			t.Run(name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				lines := storetest.ShopLines()
				for range between {
					lines = append(lines, lines[0])
				}
				for _, later := range storetest.ShopLines() {
					lines = append(lines, strings.ReplaceAll(later, `"name":"Anvil"`, `"name":"Anvil II"`))
				}
				importInBatches(t, s, storetest.JoinLines(lines...))
				require.Equal(t, strings.ReplaceAll(storetest.ShopFile, `"name":"Anvil"`, `"name":"Anvil II"`), storetest.Export(t, s))
				storetest.RequireStockConsistent(t, db)
			})
		}
	}
}

func importFormats(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		for name, text := range map[string]string{
			"CRLF":               strings.ReplaceAll(storetest.ShopFile, "\n", "\r\n"),
			"no last newline":    strings.TrimSuffix(storetest.ShopFile, "\n"),
			"blank lines":        "\n \n\t\r\n" + strings.ReplaceAll(storetest.ShopFile, "\n", "\n\n"),
			"a byte order mark":  "\ufeff" + storetest.ShopFile,
			"spaces around":      "  " + strings.ReplaceAll(storetest.ShopFile, "\n", "  \n\t"),
			"everything at once": "\ufeff\r\n" + strings.TrimSuffix(strings.ReplaceAll(storetest.ShopFile, "\n", "\r\n\r\n"), "\r\n\r\n"),
		} {
			t.Run(name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, text)
				require.Equal(t, storetest.ShopFile, storetest.Export(t, s))
			})
		}
		t.Run("an empty file", func(t *testing.T) {
			for _, text := range []string{"", "\n", "\ufeff"} {
				report := storetest.Import(t, s, text)
				require.Zero(t, report.Changed)
				require.Empty(t, report.Resources)
			}
		})
	}
}

func importCanonical(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		text := strings.ReplaceAll(storetest.ShopFile, storetest.LampID, strings.ToUpper(storetest.LampID))
		text = strings.ReplaceAll(text, `"created_at":"2023-01-04T00:00:00.000Z"`, `"created_at":"2023-01-04T02:00:00.0009+02:00"`)
		text = strings.ReplaceAll(text, `"updated_at":"2024-01-04T00:00:00.000Z"`, `"updated_at":"2024-01-04T00:00:00.000"`)
		require.NotEqual(t, storetest.ShopFile, text)
		storetest.Import(t, s, text)
		require.Equal(t, storetest.ShopFile, storetest.Export(t, s))
	}
}

func importNulls(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		for member, text := range map[string]string{
			"texts and lists": `"description":null,"tags":null,"locales":null,"variations":null,"options":null,"components":null`,
			"custom_inputs":   `"custom_inputs":null`, "extensions": `"extensions":null`, "shopper_attributes": `"shopper_attributes":null`,
		} {
			t.Run(member, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				product := storetest.ShopLine("product", "frame")
				storetest.Import(t, s, storetest.JoinLines(strings.Replace(product, `"slug":"frame"`, `"slug":"frame",`+text, 1)))
				require.Contains(t, storetest.Export(t, s), product)
			})
		}
	}
}

func importEscapes(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		product := strings.Replace(storetest.ShopLine("product", "frame"), `"name":"Frame"`, `"name":"Frame \\u0000 \\\\u0000"`, 1)
		storetest.Import(t, s, storetest.JoinLines(product))
		require.Contains(t, storetest.Export(t, s), product)
	}
}

func importLenient(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		product := storetest.ShopLine("product", "frame")
		text := storetest.JoinLines(`{"type":"customer","id":"bob"}`, strings.Replace(product, `"slug":"frame"`, `"colour":1,"slug":"frame"`, 1))
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
		require.Len(t, storetest.ImportErrors(t, err), 2)
		report, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{Lenient: true})
		require.NoError(t, err)
		require.Equal(t, map[string]int{"product": 1}, report.Resources)
		require.Contains(t, storetest.Export(t, s), product)
		_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"file","id":"f","file_name":5,"link":{"href":"x"},"colour":1}`), exchange.ImportOptions{Lenient: true})
		require.Len(t, storetest.ImportErrors(t, err), 1, "known members must still be valid")
	}
}

func importKeepsCreation(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		catalog := func(id, name string) string {
			return fmt.Sprintf(`{"type":"catalog","id":%q,"attributes":{"name":%q,"hierarchies":[],"pricebook_ids":[]}}`, id, name)
		}
		for _, text := range []string{catalog("older", "A"), catalog("newer", "B"), catalog("older", "A, renamed")} {
			storetest.Import(t, s, storetest.JoinLines(text))
			d.Clock.Advance(time.Second)
		}
		ids, err := s.Releases.CatalogIDs(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"older", "newer"}, ids)
	}
}

func importResumed(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		text := storetest.GenerateShop(t, testkit.QuickOrFull(200, 600), 7) + storetest.ShopFile
		storetest.Import(t, s, text)
		want := withoutLedger(storetest.Export(t, s))
		for percent := 70; percent < 300; percent += 90 {
			storetest.DeleteAllRows(t, db)
			ctx, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex
			seen := int64(0)
			_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(text), exchange.ImportOptions{Batch: testkit.QuickOrFull(170, 500), Progress: func(done int64) {
				mu.Lock()
				defer mu.Unlock()
				if seen += done; seen > int64(len(text)*percent/100) {
					cancel()
				}
			}})
			cancel()
			if err != nil { // the import may have been complete already
				require.ErrorIs(t, err, context.Canceled)
			}
			_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{Settings: true})
			require.NoError(t, err)
			require.Equal(t, want, withoutLedger(storetest.Export(t, s)), "canceled after %d%%", percent)
			storetest.RequireStockConsistent(t, db)
		}
		require.Zero(t, storetest.Import(t, s, text).Changed)
	}
}

func importConcurrently(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		stores := []*shop.Store{backend.Open(t), backend.Open(t), backend.Open(t)}
		failures := make([]error, len(stores))
		var group sync.WaitGroup
		for i, s := range stores {
			group.Go(func() {
				_, failures[i] = s.Exchange.Import(context.Background(), storetest.Actor, storetest.Source(storetest.ShopFile), exchange.ImportOptions{})
			})
		}
		group.Wait()
		for _, failure := range failures {
			require.NoError(t, failure)
		}
		require.Equal(t, storetest.ShopFile, storetest.Export(t, stores[0]))
		storetest.RequireStockConsistent(t, backend.SQL(t))
	}
}

func importProgress(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		for name, c := range map[string]struct {
			text           string
			passes, opened int
		}{
			"a check and a write": {storetest.GenerateShop(t, 200, 1), 2, 2},
			"the ledger is written before balances, and warnings are found between": {storetest.ShopFile, 3, 4},
		} {
			t.Run(name, func(t *testing.T) {
				var mu sync.Mutex
				var seen int64
				opened := 0
				open := func() (io.ReadCloser, error) { opened++; return storetest.Source(c.text)() }
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, open, exchange.ImportOptions{Progress: func(done int64) {
					mu.Lock()
					defer mu.Unlock()
					seen += done
				}})
				require.NoError(t, err)
				require.Equal(t, c.opened, opened)
				require.EqualValues(t, c.passes*len(c.text), seen)
			})
		}
	}
}
