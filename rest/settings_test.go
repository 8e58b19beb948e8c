package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		put := func(name, body string, status int, holds ...string) scenario {
			return scenario{name: name, method: "PUT", path: "/v2/settings", body: body, status: status, holds: holds}
		}
		t.Run("rejected", func(t *testing.T) {
			s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
			before, err := s.store.Settings.Get(t.Context())
			require.NoError(t, err)
			const object = `The body must be a JSON object: {\"data\": {…}}.`
			runScenarios(t, s, []scenario{
				put("no body", "", 400, "The body is not JSON at line 1, column 1: expected a value, and the text is empty."),
				put("malformed", "{\n \"data\":{", 400, "The body is not JSON at line 2, column 10: expected more, since the text ends within a value."),
				put("more after it", `{"data":{}} {}`, 400, "The body is not JSON at line 1, column 13: expected the end"),
				put("a list", `[{"page_length":1}]`, 400, object),
				put("null", `null`, 400, "data must be an object."),
				put("data is a list", `{"data":[]}`, 400, "data must be an object."),
				put("data is null", `{"data":null}`, 400, "data must be an object."),
				put("data is a text", `{"data":"page_length=1"}`, 400, "data must be an object."),
				put("a text for a number", `{"data":{"page_length":"70"}}`, 400, "page_length must be a whole number, got string."),
				put("a fraction", `{"data":{"page_length":1.5}}`, 400, "page_length must be a whole number"),
				put("a number for a text", `{"data":{"currency":840}}`, 400, "currency must be a string, got number."),
				put("under the bound", `{"data":{"page_length":0}}`, 422, "page_length must be between 1 and 100, got 0."),
				put("over the bound", `{"data":{"page_length":101}}`, 422, "page_length must be between 1 and 100, got 101."),
				put("beyond every integer", `{"data":{"page_length":99999999999999999999}}`, 422, "page_length is out of range"),
				put("an unknown currency", `{"data":{"currency":"XYZ"}}`, 422, "currency must be an ISO 4217 code", `\"XYZ\"`),
				put("an empty currency", `{"data":{"currency":""}}`, 422, "currency must be an ISO 4217 code"),
				put("an unknown locale", `{"data":{"locale":"english please"}}`, 422, "locale must be a BCP 47 tag"),
				put("an empty locale", `{"data":{"locale":""}}`, 422, "locale must be a BCP 47 tag"),
				put("several faults at once", `{"data":{"page_length":0,"currency":"XYZ"}}`, 422, "page_length must be", "currency must be"),
				put("a good member beside a bad one", `{"data":{"page_length":50,"currency":"XYZ"}}`, 422, "currency must be"),
				put("too large", `{"data":{"locale":"`+strings.Repeat("x", 4<<20)+`"}}`, 413, "4 MiB"),
			})
			after, err := s.store.Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, before, after, "a rejected update changes nothing")
		})
		t.Run("accepted, in order", func(t *testing.T) {
			s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
			runScenarios(t, s, []scenario{
				put("one member", `{"data":{"type":"settings","page_length":2}}`, 200, `"page_length":2,"currency":"USD","locale":"en"`),
				{name: "the page length applies at once", path: "/v2/inventories", ids: stockedProducts[:2], holds: []string{`"limit":2`}},
				{name: "the page length applies to products", path: productsOf("tools"), ids: toolProducts[:2], holds: []string{`"limit":2`}},
				{name: "a limit overrides it", path: "/v2/inventories?page[limit]=3", ids: stockedProducts[:3]},
				put("unwrapped", `{"page_length":3}`, 200, `"page_length":3`),
				put("members that can only be read, and unknown ones",
					`{"data":{"type":"x","id":"y","page_length_max":1,"page_offset_limit":1,"colour":"red","additional_languages":["fr"]}}`,
					200, `"page_length":3`, `"page_length_max":100`, `"page_offset_limit":10000`),
				put("nothing", `{"data":{}}`, 200, `"page_length":3`),
				put("null", `{"data":{"page_length":null,"currency":null}}`, 422, "page_length must not be null",
					"currency must not be null"),
				put("all of them", `{"data":{"page_length":4,"currency":"EUR","locale":"fr-CA"}}`, 200,
					`"page_length":4,"currency":"EUR","locale":"fr-CA"`),
				{name: "another JSON Content-Type", method: "PUT", path: "/v2/settings/", body: `{"data":{"page_length":25}}`,
					headers: []string{"Content-Type", "application/vnd.shop+json"}},
				{name: "and read back", path: "/v2/settings", holds: []string{`"page_length":25,"currency":"EUR","locale":"fr-CA"`}},
			})
			after, err := s.store.Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, &store.Settings{PageLength: 25, Currency: "EUR", Locale: "fr-CA", LowStockThreshold: 5}, after)
		})
	})
}
