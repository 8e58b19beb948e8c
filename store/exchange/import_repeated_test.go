package exchange_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
)

// TestRepeatedImport checks that lines whose resources have not changed take no writes.
func TestRepeatedImport(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("unchanged resources take no writes, whatever the size", importUnchanged(backend))
		t.Run("the later of two lines with one ID wins", importLastLineWins(backend))
		t.Run("a balance is set again after new ledger lines", importBalanceAgain(backend))
		t.Run("an error names the line of a duplicate reference", importDuplicateReference(backend))
	})
}

// importUnchanged counts the statements of an import that changes nothing.
func importUnchanged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		wrote := map[int]int{}
		for _, products := range []int{30, 300} {
			s := backend.Open(t, func(config *shop.Config) { config.URL = backend.OtherURL(t) })
			var lines []string
			for line := range strings.Lines(storetest.GenerateShop(t, products, 3)) {
				switch storetest.LineType(line) {
				case "product", "file", "pricebook", "product-price", "stock":
					lines = append(lines, line)
				}
			}
			for i := range products {
				lines = append(lines, fmt.Sprintf(`{"type":"stock_transaction","id":"line-%d","product_id":"p","action":"increment","quantity":1,"created_at":"2025-01-01T00:00:00.000Z"}`+"\n", i))
			}
			text := strings.Join(lines, "")
			require.Equal(t, len(lines), storetest.Import(t, s, text).Changed)
			ctx, counter := store.CountStatements(t.Context())
			report, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
			require.NoError(t, err)
			require.Zero(t, report.Changed)
			for _, query := range counter.Queries() {
				if strings.Contains(query, "INTO pricebook") || strings.Contains(query, "'sequence'") {
					continue // of the only price book
				}
				switch verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); verb {
				case "SELECT", "SET":
				default:
					wrote[products]++
				}
			}
		}
		require.Equal(t, map[int]int{}, wrote, "writing statements, by number of products")
	}
}

func importLastLineWins(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		there := storetest.ShopLine("product", "anvil") + "\n"
		other := strings.Replace(there, `"name":"`, `"name":"Other `, 1)
		third := strings.Replace(there, `"name":"`, `"name":"Third `, 1)
		for _, c := range []struct{ file, want string }{
			{there, there}, {other + there, there}, {there + other, other}, {there + other + there, there},
			{there + there, there}, {third + other + third, third}, {third + there + third, third}, {other + third + there, there},
		} {
			storetest.Import(t, s, there)
			storetest.Import(t, s, c.file)
			require.Equal(t, storetest.Import(t, s, c.want).Changed, 0, "after %s", c.file)
		}
	}
}

func importBalanceAgain(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		balance := `{"type":"stock","id":"anvil","available":7,"allocated":0,"total":7}` + "\n"
		storetest.Import(t, s, balance)
		ledger := `{"type":"stock_transaction","id":"more","product_id":"anvil","action":"increment","quantity":5,"created_at":"2025-01-01T00:00:00.000Z"}` + "\n"
		for _, text := range []string{balance + ledger, ledger + balance} {
			text = strings.Replace(text, `"more"`, fmt.Sprintf(`"more-%d"`, len(text)+strings.Index(text, "more")), 1)
			storetest.Import(t, s, text)
			stock, err := s.Stock.Get(t.Context(), "anvil")
			require.NoError(t, err)
			require.Equal(t, 7, stock.Available, "the balance of its line")
		}
	}
}

func importDuplicateReference(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		lines := []string{`{"type":"promotion","id":"p","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`,
			`{"type":"promotion_code","id":"c","promotion_id":"p","code":"CODE"}`}
		for i := range 150 {
			lines = append(lines, fmt.Sprintf(`{"type":"code_usage","id":"use-%d","promotion_id":"p","code":"CODE","units":1,"reference":"order-%d","created_at":"2025-01-01T00:00:00.000Z"}`, i, min(i, 100)))
		}
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(strings.Join(lines, "\n")), exchange.ImportOptions{})
		var errs *exchange.ImportErrors
		require.ErrorAs(t, err, &errs)
		require.Equal(t, 104, errs.Errors[0].Line)
		require.Equal(t, []string{"reference"}, errs.Errors[0].Err.Path)
	}
}
