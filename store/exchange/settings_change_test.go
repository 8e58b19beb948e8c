package exchange_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/storetest"
)

// TestFirstPricesSetTheCurrency checks that a shop takes over the currency of its first prices, if they have only one and nobody
// has set another.
func TestFirstPricesSetTheCurrency(t *testing.T) {
	t.Parallel()
	const book = `{"type":"pricebook","id":"book","attributes":{"name":"B"}}`
	for _, c := range []struct {
		name   string
		before func(*testing.T, *shop.Store)
		lines  []string
		taken  string // empty if the shop keeps its currency
	}{
		{"one currency", nil, []string{book, priceOf("A", "EUR"), priceOf("B", "EUR")}, "EUR"},
		{"the currency of a new shop", nil, []string{book, priceOf("A", "USD")}, ""},
		{"two currencies", nil, []string{book, priceOf("A", "EUR"), priceOf("B", "GBP")}, ""},
		{"a currency that ISO 4217 does not have", nil, []string{book, priceOf("A", "XAB")}, ""},
		{"no prices", nil, []string{book}, ""},
		{"a line that sets the currency", nil, []string{book, priceOf("A", "EUR"), `{"type":"settings","currency":"USD"}`}, ""},
		{"a line that sets other settings", nil, []string{book, priceOf("A", "EUR"), `{"type":"settings","page_length":50}`}, "EUR"},
		{"products before", func(t *testing.T, s *shop.Store) { storetest.Import(t, s, product("mug", ``, ``)) }, []string{book, priceOf("A", "EUR")}, "EUR"},
		{"prices before", func(t *testing.T, s *shop.Store) {
			storetest.Import(t, s, storetest.JoinLines(book, priceOf("C", "USD")))
		}, []string{book, priceOf("A", "EUR")}, ""},
		{"settings that somebody changed", func(t *testing.T, s *shop.Store) {
			_, err := s.Settings.Update(t.Context(), storetest.Actor, settings.Change{Locale: new("de")})
			require.NoError(t, err)
		}, []string{book, priceOf("A", "EUR")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
				s := backend.Open(t)
				if c.before != nil {
					c.before(t, s)
				}
				want, text := "USD", storetest.JoinLines(c.lines...)
				_, plan := planned(t, s, text, exchange.ImportOptions{})
				report := storetest.ImportWithOptions(t, s, text)
				require.Equal(t, plan.Currency, report.Currency)
				if c.taken != "" {
					want = c.taken
					require.Equal(t, &want, report.Currency)
				} else {
					require.Nil(t, report.Currency)
				}
				is, err := s.Settings.Get(t.Context())
				require.NoError(t, err)
				require.Equal(t, want, is.Currency)
				require.Nil(t, storetest.ImportWithOptions(t, s, text).Currency, "the next import keeps it")
			})
		})
	}
}

// TestSettingsLinesMayBePartial checks that a settings line keeps what it leaves out, and that a plan and a repeated import
// show that.
func TestSettingsLinesMayBePartial(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		overwrite := func(o *exchange.ImportOptions) { o.Settings = true }
		for _, c := range []struct{ line, change, want string }{
			{`{"type":"settings","currency":"EUR"}`, `currency:"USD"->"EUR"`, `"page_length":25,"currency":"EUR","locale":"en"`},
			{`{"type":"settings","page_length":9}`, `page_length:25->9`, `"page_length":9,"currency":"EUR","locale":"en"`},
			{`{"type":"settings","locale":"de"}`, `locale:"en"->"de"`, `"page_length":9,"currency":"EUR","locale":"de"`},
		} {
			changes, _ := planned(t, s, c.line, exchange.ImportOptions{Settings: true})
			require.Equal(t, []string{"1 settings settings created=false " + c.change}, changes)
			require.Equal(t, 1, storetest.ImportWithOptions(t, s, c.line, overwrite).Changed)
			require.Contains(t, storetest.Export(t, s), c.want)
			_, plan := planned(t, s, c.line, exchange.ImportOptions{Settings: true})
			require.Equal(t, 1, plan.Unchanged["settings"])
			require.Zero(t, storetest.ImportWithOptions(t, s, c.line, overwrite).Changed)
		}
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"settings","page_length":0,"currency":"","locale":"?"}`), exchange.ImportOptions{})
		require.Len(t, storetest.ImportErrors(t, err), 3)
	})
}
