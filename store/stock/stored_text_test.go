package stock_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/stock"
	"portico/store/storetest"
)

// TestStoredText checks that both databases store the same texts, and that the store refuses
// what one of them cannot store.
func TestStoredText(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("text is stored unchanged", textStored(backend))
		t.Run("text that a database cannot store is refused", textRefused(backend))
		t.Run("impossible IDs are not found", textIDs(backend))
		t.Run("IDs are ordered by bytes", textOrder(backend))
	})
}

func textStored(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		for _, text := range []string{"", "plain", " with  spaces ", "tab\tand\nline\r\n", "žluťoučký kůň 🐎", `quotes ' " \ ;--`, "%_*?[", "\x01\x7f",
			"\ufeffmark", "e\u0301 is not \u00e9", "\uffff\U0010ffff", strings.Repeat("x", 255), strings.Repeat("é", 127)} {
			_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{
				{ProductID: "a", Action: stock.StockIncrement, Quantity: 1, Reason: text, Reference: text}})
			require.NoError(t, err, "%q", text)
			ledger, err := s.Stock.TransactionsByProduct(t.Context(), []string{"a"}, 100)
			require.NoError(t, err)
			var kept []string
			for _, line := range ledger["a"] {
				kept = append(kept, line.Reason)
				require.True(t, line.Reason == line.Reference || line.Reason == "seed")
			}
			require.Contains(t, kept, text)
		}
	}
}

func textRefused(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		for _, c := range []struct {
			name, text string
			code       store.Code
			words      string
		}{
			{"NUL", "a\x00b", store.Invalid, "without NUL"},
			{"NUL alone", "\x00", store.Invalid, "without NUL"},
			{"a stray byte", "a\xffb", store.Invalid, "UTF-8"},
			{"half a rune", "\xc3", store.Invalid, "UTF-8"},
			{"a surrogate", "\xed\xa0\x80", store.Invalid, "UTF-8"},
			{"256 bytes", strings.Repeat("é", 128), store.Unprocessable, "at most 255 bytes, got 256"},
		} {
			t.Run(c.name, func(t *testing.T) {
				change := stock.Change{ProductID: "a", Action: stock.StockIncrement, Quantity: 1, Reason: c.text}
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change})
				storetest.RequireError(t, err, c.code, "changes.0.reason", c.words)
				change.Reason, change.Reference = "", c.text
				_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change})
				storetest.RequireError(t, err, c.code, "changes.0.reference", c.words)
			})
		}
		require.Equal(t, 0, storetest.Available(t, s, "a"))
	}
}

// textIDs uses IDs that no record can have. Reads find nothing. Writes may also call the ID
// invalid.
func textIDs(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		for _, id := range []string{"", "a\x00", "\x00", "a\xff", "\xed\xa0\x80", "a b", "é", strings.Repeat("a", 65), strings.Repeat("a", 100_000)} {
			_, err := s.Stock.Get(t.Context(), id)
			storetest.RequireError(t, err, store.NotFound, "")
			stocks, err := s.Stock.ByID(t.Context(), []string{id, "a"})
			require.NoError(t, err, "%.70q", id)
			require.Len(t, stocks, 1)
			ledgers, err := s.Stock.TransactionsByProduct(t.Context(), []string{id, "a"}, 5)
			require.NoError(t, err, "%.70q", id)
			require.Len(t, ledgers, 1)
			_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: id, Action: stock.StockIncrement, Quantity: 1}})
			require.True(t, store.HasCode(err, store.NotFound) || store.HasCode(err, store.Invalid), "%.70q: %v", id, err)
		}
	}
}

func textOrder(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		sortedIDs := []string{"-", "0", "10", "2", "A", "B", "Z", "_", "a", "aA", "a_", "aa", "b", "z"}
		s := storetest.OpenWithStock(t, backend, 0, sortedIDs...)
		slice, err := s.Stock.List(t.Context(), store.ListQuery{})
		require.NoError(t, err)
		require.Equal(t, sortedIDs, stockIDs(slice))
	}
}
