package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/rest"
	"portico/store/settings"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// writeCase is a write, another valid one, and the mutation that equals the first. The mutation is
// empty if its input has members that differ from REST's.
type writeCase struct {
	path, body           string
	otherPath, otherBody string
	mutation             string
}

// writeCases has an entry for every route that writes.
func writeCases() map[string]writeCase {
	const promotions, spring = "/v2/promotions", "/v2/promotions/spring"
	create := func(name string) string {
		return `{"data":{"type":"promotion","name":"` + name +
			`","description":"","promotion_type":"fixed_discount","enabled":true,"automatic":false,"start":"2024-01-01","end":"2100-01-01",` +
			`"schema":{"currencies":[{"currency":"USD","amount":100}]},"max_applications_per_cart":3}}`
	}
	codes := func(code string) string {
		return `{"data":{"type":"promotion_codes","codes":[{"code":"` + code + `","uses":2,"user":["u1","u2"]},{"user":"u1"}]}}`
	}
	return map[string]writeCase{
		"POST /v2/inventories": {"/v2/inventories", `{"data":{"type":"stock","id":"new","attributes":{"available":5}}}`,
			"/v2/inventories", `{"data":{"id":"newer","attributes":{"available":5}}}`,
			`mutation { stockCreate(input: {productId: "new", quantity: 5}) { stock { total } userErrors { message } } }`},
		"POST /v2/inventories/:id": {"/v2/inventories/new", `{"data":{"quantity":5}}`, "/v2/inventories/new", `{"data":{"quantity":6}}`,
			`mutation { stockCreate(input: {productId: "new", quantity: 5}) { stock { total } userErrors { message } } }`},
		"DELETE /v2/inventories/:id": {"/v2/inventories/chalk", "", "/v2/inventories/drill-draft", "",
			`mutation { stockDelete(input: {productId: "chalk"}) { deletedId userErrors { message } } }`},
		"POST /v2/inventories/:id/transactions": {"/v2/inventories/anvil/transactions", `{"data":{"action":"decrement","quantity":5}}`,
			"/v2/inventories/anvil/transactions", `{"data":{"action":"decrement","quantity":1}}`,
			`mutation { stockTransact(input: {changes: [{productId: "anvil", action: DECREMENT, quantity: 5}]}) { transactions { uuid } userErrors { message } } }`},
		"PUT /v2/settings": {"/v2/settings", `{"data":{"page_length":7}}`, "/v2/settings", `{"data":{"page_length":8}}`,
			`mutation { settingsUpdate(input: {pageLength: 7}) { settings { pageLength } userErrors { message } } }`},
		"POST /v2/shopper-tokens": {"/v2/shopper-tokens", `{"data":{"type":"shopper_token","customer_id":"u1"}}`, "/v2/shopper-tokens",
			`{"data":{"customer_id":"u2"}}`,
			`mutation { shopperTokenCreate(input: {customerId: "u1"}) { token expiresAt scopes userErrors { message } } }`},
		"PUT /v2/gateways/:slug": {"/v2/gateways/card_processor", `{"data":{"password":"one"}}`, "/v2/gateways/card_processor",
			`{"data":{"password":"two"}}`,
			`mutation ($secret: Secret) { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: $secret}) { gateway { passwordSet } userErrors { message } } }`},
		"POST /v2/promotions":    {promotions, create("A"), promotions, create("B"), ""},
		"PUT /v2/promotions/:id": {spring, `{"data":{"name":"A"}}`, spring, `{"data":{"name":"B"}}`, ""},
		"DELETE /v2/promotions/:id": {spring, "", "/v2/promotions/none", "",
			`mutation { promotionDelete(input: {id: "spring"}) { deletedId userErrors { message } } }`},
		"POST /v2/promotions/:id/codes": {spring + "/codes", codes("NEW"), spring + "/codes", codes("NEWER"), ""},
		"DELETE /v2/promotions/:id/codes": {spring + "/codes", `{"data":{"type":"promotion_codes","codes":[{"code":"HI"}]}}`,
			spring + "/codes", `{"data":{"type":"promotion_codes","codes":[{"code":"A+B ü"}]}}`, ""},
		"DELETE /v2/promotions/:id/codes/:code": {spring + "/codes/HI", "", spring + "/codes/NONE", "",
			`mutation { promotionCodesDelete(input: {promotionId: "spring", codes: ["HI"]}) { deleted userErrors { message } } }`},
	}
}

func TestEveryWriteTakesAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		for _, coordinate := range rest.Routes {
			method, _, _ := strings.Cut(coordinate, " ")
			if scope, _ := auth.Scope(coordinate); method == "GET" || strings.HasSuffix(scope, ":read") {
				continue
			}
			t.Run(coordinate, func(t *testing.T) {
				w, known := writeCases()[coordinate]
				require.True(t, known, "say how %s is written to", coordinate)
				s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
				redeemCode(t, s)
				const key, header = "key-1", "Idempotent-Replay"
				first := s.send(t, method, w.path, w.body, "Idempotency-Key", key)
				require.Less(t, first.Code, 300, "%s", first.Body)
				require.Empty(t, first.Header().Get(header))
				oneMore := 50 // another write happens in between
				_, err := s.store.Settings.Update(t.Context(), "test", settings.Change{PageLength: &oneMore})
				require.NoError(t, err)

				again := s.send(t, method, w.path, w.body, "Idempotency-Key", key)
				require.Equal(t, first.Code, again.Code)
				require.Equal(t, first.Body.String(), again.Body.String())
				require.Equal(t, "true", again.Header().Get(header))

				other := s.send(t, method, w.otherPath, w.otherBody, "Idempotency-Key", key)
				require.Equal(t, 409, other.Code, "%s", other.Body)
				require.Contains(t, other.Body.String(), `Idempotency-Key was used with another input: \"key-1\"`)
				require.Empty(t, other.Header().Get(header))

				for _, bad := range []string{"", "a b", strings.Repeat("k", 256)} {
					refused := s.send(t, method, w.path, w.body, "Idempotency-Key", bad)
					require.Equal(t, 400, refused.Code, "%s", refused.Body)
					require.Contains(t, refused.Body.String(), "Idempotency-Key must have")
				}

				if w.mutation == "" {
					return
				}
				text, err := json.Marshal(map[string]any{"query": w.mutation, "variables": map[string]string{"secret": "one"}})
				require.NoError(t, err)
				across := s.send(t, "POST", "/graphql", string(text), "Idempotency-Key", key)
				require.Equal(t, "true", across.Header().Get(header), "the same operation on the other API: %s", across.Body)
				require.Contains(t, across.Body.String(), "idempotentReplay")
				require.NotContains(t, across.Body.String(), `"message"`, fmt.Sprint(across.Code))
			})
		}
	})
}
