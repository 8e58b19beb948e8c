package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/access"
	"portico/store/exchange"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/stock"
)

// Export is the promise of Store.Export: what it writes is the store, and
// makes the same store again.
func Export(t *testing.T, e Engine) {
	d := newDesk(t, e)
	d.run(t, "an empty store exports its settings", exportEmpty)
	d.run(t, "clients go along only when asked for", exportClients)
	t.Run("an export makes the same store again", exportRoundTrip(e))
	d.run(t, "a ledger makes the same balances again", exportLedger)
	t.Run("a ledger written by many at once makes the same balances again", exportLedgerRaced(e))
	d.run(t, "attachments keep their order", exportAttachments)
	d.run(t, "a writer that fails is told", exportUnwritable)
}

func exportEmpty(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		require.Equal(t, `{"type":"settings","page_length":25,"currency":"USD","locale":"en"}`+"\n", exported(t, d.Store))
	}
}

func exportClients(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		imported(t, s, shopFile)
		var out bytes.Buffer
		lines, err := s.Export(t.Context(), &out, exchange.ExportOptions{})
		require.NoError(t, err)
		require.Equal(t, strings.Count(out.String(), "\n"), lines)
		require.Equal(t, strings.Replace(shopFile, line("api_client", "till")+"\n", "", 1), out.String())
		imported(t, s, out.String())
		require.Equal(t, shopFile, exported(t, s), "an import without clients leaves them alone")
	}
}

// elsewhere is another, empty store of the engine.
func elsewhere(t testing.TB, e Engine) *shop.Store {
	t.Helper()
	s, err := shop.Open(context.Background(), shop.Config{URL: e.Another(t), Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// requireSameElsewhere imports a store's export into an empty store, which
// must export the same.
func requireSameElsewhere(t *testing.T, e Engine, s *shop.Store) {
	t.Helper()
	want := exported(t, s)
	other := elsewhere(t, e)
	imported(t, other, want)
	requireSameFile(t, want, exported(t, other))
}

// requireSameFile tells the first line of two long files that differs.
func requireSameFile(t require.TestingT, want, got string) {
	wanted, found := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(found)) {
		require.Equal(t, wanted[i], found[i], "line %d", i+1)
	}
	require.Equal(t, len(wanted), len(found), "lines")
}

func exportRoundTrip(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := e.Open(t)
		imported(t, s, shopFile+generated(t, 1100, 2)) // more than a page of most things
		_, _, err := s.CreateClient(t.Context(), actor, "A till", access.Scopes())
		require.NoError(t, err)
		_, err = s.UpdateSettings(t.Context(), actor, settings.SettingsChange{PageLength: new(9), Locale: new("de-CH")})
		require.NoError(t, err)
		_, err = s.TransactStock(t.Context(), actor, []stock.StockChange{{ProductID: "anvil", Action: stock.StockAllocate, Quantity: 3, Reason: "<order> & \"co\""}})
		require.NoError(t, err)
		requireSameElsewhere(t, e, s)
	}
}

func exportLedger(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.db // whose clock stands still
		other := elsewhere(t, d.engine)
		imported(t, s, shopFile)
		rapid.Check(t, func(t *rapid.T) {
			for range rapid.IntRange(1, 4).Draw(t, "batches") {
				batch := rapid.SliceOfN(rapid.Custom(drawShopChange), 1, 4).Draw(t, "batch")
				_, _ = s.TransactStock(t.Context(), actor, batch) // some are refused
			}
		})
		want := exported(t, s)
		require.Greater(t, strings.Count(want, `"type":"stock_transaction"`), 20)
		imported(t, other, want)
		requireSameFile(t, want, exported(t, other))
		requireStockKept(t, db)
	}
}

func drawShopChange(t *rapid.T) stock.StockChange {
	return stock.StockChange{
		ProductID: rapid.SampledFrom([]string{"anvil", "brush", "chalk"}).Draw(t, "product"),
		Action:    rapid.SampledFrom(stock.StockActions()).Draw(t, "action"),
		Quantity:  rapid.IntRange(1, 5).Draw(t, "quantity"),
	}
}

func exportLedgerRaced(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		stores := []*shop.Store{e.Open(t), e.Open(t)}
		imported(t, stores[0], shopFile)
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				for i := range 12 {
					change := stock.StockChange{ProductID: "anvil", Action: stock.StockActions()[(n+i)%5], Quantity: 1 + (n*i)%7}
					_, _ = stores[n%2].TransactStock(context.Background(), actor, []stock.StockChange{change})
				}
			})
		}
		group.Wait()
		requireSameElsewhere(t, e, stores[0])
	}
}

func exportAttachments(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		imported(t, s, shopFile)
		rapid.Check(t, func(t *rapid.T) {
			ids := rapid.Permutation([]string{"anvil", "brush", "chalk", "drill-draft", "easel", "frame", "glue"}).Draw(t, "order")
			ids = ids[:rapid.IntRange(0, len(ids)).Draw(t, "length")]
			text := `{"type":"node","id":"sale","attributes":{"name":"Sale"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}}`
			if len(ids) > 0 {
				var refs []string
				for _, id := range ids {
					refs = append(refs, fmt.Sprintf(`{"type":"product","id":%q}`, id))
				}
				text += `,"products":{"data":[` + strings.Join(refs, ",") + `]}`
			}
			text += "}}\n"
			imported(t, s, text)
			require.Contains(t, exported(t, s), text)
		})
	}
}

func exportUnwritable(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, full := d.Store, errors.New("the disk is full")
		imported(t, s, shopFile)
		_, err := s.Export(t.Context(), failingWriter{full}, exchange.ExportOptions{})
		require.ErrorIs(t, err, full)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
