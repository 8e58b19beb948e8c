package release_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
	"portico/store/storetest"
)

// TestUnpricedCatalogs checks which catalogs show no price to shoppers who request no currency, after a whole release and after
// deltas. Doctor and the log of a publication say the same.
func TestUnpricedCatalogs(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		var log bytes.Buffer
		s := backend.Open(t, func(config *shop.Config) { config.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		catalog := func(currency string) string {
			return fmt.Sprintf(`{"type":"catalog","id":"main","attributes":{"name":"M","hierarchies":["h"],"pricebook_ids":[{"id":"b","priority":1}]%s}}`, currency)
		}
		price := func(attributes string) string {
			return fmt.Sprintf(`{"type":"product-price","id":"p","attributes":{"sku":"MUG",%s},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"b"}}}}`, attributes)
		}
		const eur, usd = `{"type":"settings","currency":"EUR"}`, `{"type":"settings","currency":"USD"}`
		const inEUR, sale = `"currencies":{"EUR":{"amount":100}}`, `,"sales":{"s":{"schedule":{},"currencies":{"USD":{"amount":50}}}}`
		storetest.Import(t, s, storetest.JoinLines(usd,
			`{"type":"product","id":"mug","attributes":{"name":"Mug","sku":"MUG","slug":"mug","status":"live"}}`,
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
			`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"mug"}]}}}`,
			`{"type":"pricebook","id":"b","attributes":{"name":"B"}}`,
			`{"type":"catalog","id":"bare","attributes":{"name":"B","hierarchies":["h"]}}`, catalog("")))
		const shops = `main, which has prices in EUR and none in USD: import {"type":"settings","currency":"EUR"} with --settings, or prices in USD`
		const own = `main, which has prices in EUR and none in its own currency: import its line with "currency":"EUR", or such prices`
		for _, c := range []struct{ name, line, want string }{
			{"no price", usd, ""},
			{"prices in another currency", price(inEUR), shops},
			{"the currency of the shop", eur, ""},
			{"another currency of the shop", usd, shops},
			{"a currency of the catalog", catalog(`,"currency":"EUR"`), ""},
			{"another currency of the catalog", catalog(`,"currency":"USD"`), own},
			{"no currency of the catalog", catalog(""), shops},
			{"a sale", price(inEUR + sale), ""},
			{"no sale", price(inEUR), shops},
			{"a price", price(`"currencies":{"EUR":{"amount":100},"USD":{"amount":120}}`), ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.Import(t, s, c.line)
				storetest.Publish(t, s, "bare")
				storetest.Publish(t, s, "main")
				found, err := s.Releases.Unpriced(t.Context())
				require.NoError(t, err)
				if c.want == "" {
					require.Empty(t, found)
				} else {
					require.Equal(t, []string{c.want}, found)
				}
				checks, err := s.Doctor(t.Context())
				require.NoError(t, err)
				for _, check := range checks {
					if check.Rule == "Each catalog that has prices has one in its currency." {
						require.Equal(t, c.want, check.Example)
						require.Equal(t, len(found), check.Count)
					}
				}
			})
		}
		storetest.Import(t, s, price(inEUR))
		task, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		stop := storetest.RunWorker(t, s)
		storetest.WaitForJob(t, s, task.ID)
		stop()
		require.Contains(t, log.String(), "shoppers see no price in a catalog")
		require.Contains(t, log.String(), "prices in EUR and none in USD")
	})
}
