package exchange_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/settings"
	"portico/store/stock"
	"portico/store/storetest"
)

// TestImportIntoRunningShop checks that an import does not overwrite what the service has
// changed since: stock, ledger and settings.
func TestImportIntoRunningShop(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("stock that was sold is kept", importKeepsStock(backend))
		t.Run("ledger lines are skipped with their balance", importKeepsLedger(backend))
		t.Run("a sale during an import is kept", importDuringSales(backend))
		t.Run("an interrupted import is completed by the same file", importLedgerResumed(backend))
		t.Run("settings are kept", importKeepsSettings(backend))
	})
}

func withStock(o *exchange.ImportOptions)    { o.Stock = true }
func withSettings(o *exchange.ImportOptions) { o.Settings = true }

func importKeepsStock(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		text := storetest.JoinLines(`{"type":"stock","id":"sold","available":4560,"allocated":0,"total":4560}`, `{"type":"stock","id":"calm","available":3,"allocated":0,"total":3}`)
		require.Equal(t, 2, storetest.ImportWithOptions(t, s, text).Changed)
		_, err := s.Stock.Create(t.Context(), storetest.Actor, "empty", 0)
		require.NoError(t, err)
		storetest.TransactStock(t, s, stock.Change{ProductID: "sold", Action: stock.StockAllocate, Quantity: 2})
		text += storetest.JoinLines(`{"type":"stock","id":"empty","available":5,"allocated":0,"total":5}`, `{"type":"stock","id":"new","available":1,"allocated":0,"total":1}`)
		before := storetest.Export(t, s)

		report := storetest.ImportWithOptions(t, s, text)
		require.Equal(t, []any{1, map[string]int{"stock": 2}}, []any{report.Changed, report.Skipped})
		require.Equal(t, []int{4558, 2}, storetest.StockUnits(t, s, "sold"))
		require.Equal(t, []int{0, 0}, storetest.StockUnits(t, s, "empty"))
		require.Equal(t, []int{1, 0}, storetest.StockUnits(t, s, "new"))
		report = storetest.ImportWithOptions(t, s, before)
		require.Equal(t, []any{0, map[string]int{}}, []any{report.Changed, report.Skipped}, "its own export")

		report = storetest.ImportWithOptions(t, s, text, withStock)
		require.Equal(t, []any{2, map[string]int{}}, []any{report.Changed, report.Skipped})
		require.Equal(t, []int{4560, 0}, storetest.StockUnits(t, s, "sold"))
		require.Equal(t, []int{5, 0}, storetest.StockUnits(t, s, "empty"))
		storetest.RequireStockConsistent(t, backend.SQL(t))
	}
}

func importKeepsLedger(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		for _, product := range []string{"sold", "calm"} {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, product, 10)
			require.NoError(t, err)
			storetest.TransactStock(t, s, stock.Change{ProductID: product, Action: stock.StockDecrement, Quantity: 1})
		}
		old := storetest.Export(t, s)
		other := storetest.OpenEmpty(t, backend)
		require.Empty(t, storetest.ImportWithOptions(t, other, old).Skipped)
		require.Equal(t, old, storetest.Export(t, other))

		storetest.TransactStock(t, s, stock.Change{ProductID: "sold", Action: stock.StockAllocate, Quantity: 4})
		now := storetest.Export(t, s)
		report := storetest.ImportWithOptions(t, s, old)
		require.Equal(t, []any{0, map[string]int{"stock": 1}}, []any{report.Changed, report.Skipped})
		require.Equal(t, now, storetest.Export(t, s))

		// A file whose balance somebody has changed, and one whose ledger is longer.
		edited := strings.ReplaceAll(old, `"available":9,"allocated":0,"total":9`, `"available":90,"allocated":0,"total":90`)
		require.NotEqual(t, old, edited)
		longer := old + storetest.JoinLines(`{"type":"stock_transaction","id":"more","product_id":"sold","action":"set","quantity":10,"created_at":"2035-01-01T00:00:00.000Z"}`)
		require.Equal(t, map[string]int{"stock": 2}, storetest.ImportWithOptions(t, s, edited).Skipped)
		require.Equal(t, map[string]int{"stock": 1, "stock_transaction": 1}, storetest.ImportWithOptions(t, s, longer).Skipped)
		foreign := `{"type":"stock_transaction","id":"foreign","product_id":"sold","action":"decrement","quantity":8,"created_at":"2035-01-01T00:00:00.000Z"}`
		require.Equal(t, map[string]int{"stock_transaction": 1}, storetest.ImportWithOptions(t, s, foreign).Skipped, "entries that would not add up")
		require.Equal(t, now, storetest.Export(t, s))
		require.Empty(t, storetest.ImportWithOptions(t, s, longer, withStock).Skipped)
		require.Equal(t, []int{9, 0}, storetest.StockUnits(t, s, "sold"))
		storetest.RequireStockConsistent(t, backend.SQL(t))
	}
}

// importDuringSales sells at the start of each pass of an import.
func importDuringSales(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		seller, s := backend.Open(t), backend.Open(t)
		source := storetest.OpenEmpty(t, backend)
		for _, product := range []string{"a", "b"} {
			_, err := source.Stock.Create(t.Context(), storetest.Actor, product, 10)
			require.NoError(t, err)
		}
		storetest.Import(t, source, storetest.JoinLines(product("a", ``, ``), product("b", ``, ``))) // no warnings, for which it would read again
		text := storetest.Export(t, source)
		passes := 0
		open := func() (io.ReadCloser, error) {
			switch passes++; passes {
			case 2: // after validation
				_, err := seller.Stock.Create(t.Context(), storetest.Actor, "b", 7)
				require.NoError(t, err)
			case 3: // the ledger is written, the balances are not
				storetest.TransactStock(t, seller, stock.Change{ProductID: "a", Action: stock.StockAllocate, Quantity: 4})
			}
			return storetest.Source(text)()
		}
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, open, exchange.ImportOptions{})
		require.NoError(t, err)
		require.Equal(t, 3, passes)
		require.Equal(t, []int{6, 4}, storetest.StockUnits(t, seller, "a"))
		storetest.RequireStockConsistent(t, backend.SQL(t))
	}
}

// importLedgerResumed interrupts an import of a ledger after each of its writes.
func importLedgerResumed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		source := storetest.OpenEmpty(t, backend)
		for i := range 4 {
			_, err := source.Stock.Create(t.Context(), storetest.Actor, fmt.Sprint("p", i), 100)
			require.NoError(t, err)
		}
		for i := range 12 {
			storetest.TransactStock(t, source, stock.Change{ProductID: fmt.Sprint("p", i%4), Action: []stock.Action{stock.StockAllocate, stock.StockSet, stock.StockIncrement}[i%3], Quantity: 10 + i})
		}
		want := storetest.Export(t, source)
		s := backend.Open(t)
		lines := strings.Count(want, "\n")
		for stop := lines; stop < 3*lines; stop += 3 { // after validation
			storetest.DeleteAllRows(t, backend.SQL(t))
			left := stop
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, func() (io.ReadCloser, error) {
				return &interruptedFile{lines: strings.SplitAfter(want, "\n"), left: &left}, nil
			}, exchange.ImportOptions{Batch: 2, Settings: true})
			require.ErrorIs(t, err, errInterrupted)
			storetest.ImportWithOptions(t, s, want, withSettings)
			storetest.RequireSameLines(t, want, storetest.Export(t, s))
		}
	}
}

var errInterrupted = errors.New("the file cannot be read any further")

// interruptedFile returns one line per read, and errInterrupted after left lines. Copies share
// left.
type interruptedFile struct {
	lines []string
	left  *int
}

func (f *interruptedFile) Read(into []byte) (int, error) {
	switch {
	case *f.left == 0:
		return 0, errInterrupted
	case len(f.lines) == 0:
		return 0, io.EOF
	}
	n := copy(into, f.lines[0])
	if f.lines[0] = f.lines[0][n:]; f.lines[0] == "" {
		f.lines = f.lines[1:]
		*f.left--
	}
	return n, nil
}

func (f *interruptedFile) Close() error { return nil }

func importKeepsSettings(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		line := `{"type":"settings","page_length":7,"currency":"EUR","locale":"fr"}`
		report := storetest.ImportWithOptions(t, s, line)
		require.Equal(t, []any{1, map[string]int{}}, []any{report.Changed, report.Skipped}, "settings that nobody had changed")
		require.Equal(t, []any{0, map[string]int{}}, []any{storetest.ImportWithOptions(t, s, line).Changed, storetest.ImportWithOptions(t, s, line).Skipped})
		_, err := s.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: new(50)})
		require.NoError(t, err)
		report = storetest.ImportWithOptions(t, s, line)
		require.Equal(t, []any{0, map[string]int{"settings": 1}}, []any{report.Changed, report.Skipped})
		kept, err := s.Settings.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 50, kept.PageLength)
		require.Equal(t, 1, storetest.ImportWithOptions(t, s, line, withSettings).Changed)
		kept, err = s.Settings.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 7, kept.PageLength)
	}
}
