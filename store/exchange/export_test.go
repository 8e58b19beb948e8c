package exchange_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/access"
	"portico/store/exchange"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestExport checks that Service.Export writes the whole store, so that an import makes the same
// store.
func TestExport(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		d := storetest.NewSharedStore(t, backend)
		d.Run(t, "an empty store exports its settings", exportEmpty)
		d.Run(t, "clients are exported only on request", exportClients)
		t.Run("importing an export makes the same store", exportRoundTrip(backend))
		t.Run("nodes and hierarchies keep the time of their last change", exportTimes(backend))
		d.Run(t, "an exported ledger makes the same balances", exportLedger)
		t.Run("a ledger of concurrent writes makes the same balances", exportLedgerRaced(backend))
		d.Run(t, "attachments keep their order", exportAttachments)
		d.Run(t, "an error of the writer is returned", exportWriteError)
	})
}

func exportEmpty(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		require.Equal(t, `{"type":"settings","page_length":25,"currency":"USD","locale":"en","low_stock_threshold":5,"codes_ignore_case":false}`+"\n", storetest.Export(t, d.Store))
	}
}

func exportClients(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.ShopFile)
		var out bytes.Buffer
		lines, err := s.Exchange.Export(t.Context(), &out, exchange.ExportOptions{})
		require.NoError(t, err)
		require.Equal(t, strings.Count(out.String(), "\n"), lines)
		require.Equal(t, strings.Replace(storetest.ShopFile, storetest.ShopLine("api_client", "till")+"\n", "", 1), out.String())
		storetest.Import(t, s, out.String())
		require.Equal(t, storetest.ShopFile, storetest.Export(t, s), "an import without clients keeps them")
	}
}

func exportRoundTrip(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile+storetest.GenerateShop(t, 1100, 2)) // more than one page of most types
		_, _, err := s.Access.CreateClient(t.Context(), storetest.Actor, "A till", access.Scopes())
		require.NoError(t, err)
		_, err = s.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: new(9), Locale: new("de-CH")})
		require.NoError(t, err)
		_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "anvil", Action: stock.StockAllocate, Quantity: 3, Reason: "<order> & \"co\""}})
		require.NoError(t, err)
		storetest.RequireSameAfterImport(t, backend, s)
	}
}

// exportTimes changes nodes and hierarchies in each way. The time of the change is in the export, and in the store that imports it
// later.
func exportTimes(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.JoinLines(storetest.ShopFile, `{"type":"hierarchy","id":"new","attributes":{"name":"New","created_at":"2024-02-01T00:00:00Z"}}`))
		times := func(s *shop.Store) (list []string) {
			for _, id := range []string{"workshop", "seasons", "new"} {
				h, err := s.Catalogs.AuthoredHierarchy(t.Context(), id)
				require.NoError(t, err)
				list = append(list, h.UpdatedAt.Format("Jan 2"))
			}
			for _, id := range []string{"tools", "paints", "sale"} {
				n, err := s.Catalogs.AuthoredNode(t.Context(), id)
				require.NoError(t, err)
				list = append(list, n.UpdatedAt.Format("Jan 2"))
			}
			return list
		}
		require.Equal(t, []string{"May 30", "May 30", "Feb 1", "May 30", "May 30", "May 30"}, times(s))
		clock.Advance(24 * time.Hour)
		_, err := s.Exchange.UpsertHierarchies(t.Context(), storetest.Actor, []*exchange.HierarchyItemInput{{ID: new("workshop"), Name: new("Other")}}, nil, false)
		require.NoError(t, err)
		_, err = s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "tools", []string{"anvil"}, nil)
		require.NoError(t, err)
		clock.Advance(24 * time.Hour)
		_, err = s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "tools", []string{"anvil"}, nil)
		require.NoError(t, err, "changes nothing")
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("node", "sale", `,"updated_at":"2024-05-30T12:00:00.000Z"`, ``),
			strings.Replace(storetest.ChangedShopLine("node", "paints", `"Paints"`, `"Colours"`), `,"updated_at":"2024-05-30T12:00:00.000Z"`, ``, 1)))
		want := []string{"May 31", "May 30", "Feb 1", "May 31", "Jun 1", "May 30"}
		require.Equal(t, want, times(s))
		clock.Advance(24 * time.Hour)
		export := storetest.Export(t, s)
		other := storetest.OpenEmpty(t, backend) // whose clock is far ahead
		storetest.Import(t, other, export)
		require.Equal(t, want, times(other))
	}
}

func exportLedger(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB // all times are equal
		other := storetest.OpenEmpty(t, d.Backend)
		storetest.Import(t, s, storetest.ShopFile)
		_, err := s.Stock.Transact(t.Context(), storetest.Actor, slices.Repeat([]stock.Change{{ProductID: "anvil", Action: stock.StockIncrement, Quantity: 1}}, 20))
		require.NoError(t, err)
		rapid.Check(t, func(t *rapid.T) {
			for range rapid.IntRange(1, 4).Draw(t, "batches") {
				batch := rapid.SliceOfN(rapid.Custom(drawShopChange), 1, 4).Draw(t, "batch")
				_, _ = s.Stock.Transact(t.Context(), storetest.Actor, batch) // some changes are refused
			}
		})
		want := storetest.Export(t, s)
		require.GreaterOrEqual(t, strings.Count(want, `"type":"stock_transaction"`), 20)
		storetest.Import(t, other, want)
		storetest.RequireSameLines(t, want, storetest.Export(t, other))
		storetest.RequireStockConsistent(t, db)
	}
}

func drawShopChange(t *rapid.T) stock.Change {
	return stock.Change{
		ProductID: rapid.SampledFrom([]string{"anvil", "brush", "chalk"}).Draw(t, "product"),
		Action:    rapid.SampledFrom(stock.Actions()).Draw(t, "action"),
		Quantity:  rapid.IntRange(1, 5).Draw(t, "quantity"),
	}
}

func exportLedgerRaced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		stores := []*shop.Store{backend.Open(t), backend.Open(t)}
		storetest.Import(t, stores[0], storetest.ShopFile)
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				for i := range 12 {
					change := stock.Change{ProductID: "anvil", Action: stock.Actions()[(n+i)%5], Quantity: 1 + (n*i)%7}
					_, _ = stores[n%2].Stock.Transact(context.Background(), storetest.Actor, []stock.Change{change})
				}
			})
		}
		group.Wait()
		storetest.RequireSameAfterImport(t, backend, stores[0])
	}
}

func exportAttachments(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.ShopFile)
		rapid.Check(t, func(t *rapid.T) {
			ids := rapid.Permutation([]string{"anvil", "brush", "chalk", "drill-draft", "easel", "frame", "glue"}).Draw(t, "order")
			ids = ids[:rapid.IntRange(0, len(ids)).Draw(t, "length")]
			text := `{"type":"node","id":"sale","attributes":{"name":"Sale","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-01-07T08:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}}`
			if len(ids) > 0 {
				var refs []string
				for _, id := range ids {
					refs = append(refs, fmt.Sprintf(`{"type":"product","id":%q}`, id))
				}
				text += `,"products":{"data":[` + strings.Join(refs, ",") + `]}`
			}
			text += "}}\n"
			storetest.Import(t, s, text)
			require.Contains(t, storetest.Export(t, s), text)
		})
	}
}

func exportWriteError(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, full := d.Store, errors.New("the disk is full")
		storetest.Import(t, s, storetest.ShopFile)
		_, err := s.Exchange.Export(t.Context(), failingWriter{full}, exchange.ExportOptions{})
		require.ErrorIs(t, err, full)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
