package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		put := func(name, body string, status int, holds ...string) scenario {
			return scenario{name: name, method: "PUT", path: "/v2/settings", body: body, status: status, holds: holds}
		}
		t.Run("rejected", func(t *testing.T) {
			s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
			before, err := s.store.Settings.Get(t.Context())
			require.NoError(t, err)
			const object = `The body must be a JSON object: {\"data\": {…}}.`
			runScenarios(t, s, []scenario{
				put("no body", "", 400, "The body is not JSON at line 1, column 1: expected a value, and the text is empty."),
				put("a list", `[{"page_length":1}]`, 400, object),
				put("null", `null`, 400, "data must be an object."),
				put("data is a list", `{"data":[]}`, 400, "data must be an object."),
				put("data is null", `{"data":null}`, 400, "data must be an object."),
				put("data is a text", `{"data":"page_length=1"}`, 400, "data must be an object."),
				put("a number for a text", `{"data":{"currency":840}}`, 400, "currency must be a string, got number."),
				put("a good member beside a bad one", `{"data":{"page_length":50,"currency":"XYZ"}}`, 422, "currency must be"),
			})
			after, err := s.store.Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, before, after, "a rejected update changes nothing")
		})
		t.Run("accepted, in order", func(t *testing.T) {
			s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
			runScenarios(t, s, []scenario{
				put("one member", `{"data":{"type":"settings","page_length":2}}`, 200, `"page_length":2,"currency":"USD","locale":"en"`),
				{name: "the page length applies at once", path: "/v2/inventories", ids: stockedProducts[:2], holds: []string{`"limit":2`}},
				{name: "the page length applies to products", path: productsOf("tools"), ids: toolProducts[:2], holds: []string{`"limit":2`}},
				put("all of them", `{"data":{"page_length":4,"currency":"EUR","locale":"fr-CA"}}`, 200,
					`"page_length":4,"currency":"EUR","locale":"fr-CA"`),
				{name: "and read back", path: "/v2/settings", holds: []string{`"page_length":4,"currency":"EUR","locale":"fr-CA"`}},
			})
			after, err := s.store.Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, &store.Settings{PageLength: 4, Currency: "EUR", Locale: "fr-CA", LowStockThreshold: 5}, after)
		})
	})
}
