package rest_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestConsistencyToken requires that another server shows a write to a client that sends the token
// of the write, whichever API wrote.
func TestConsistencyToken(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		both := serveTwice(t, e.WithStockCache())
		write := func(method, path, body string, headers ...string) (token string) {
			t.Helper()
			w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			both.writer.as(admin()).ServeHTTP(w, r)
			require.Less(t, w.Code, 300, "%s", w.Body)
			require.NotContains(t, w.Body.String(), `"errors"`)
			return w.Header().Get(store.ConsistencyHeader)
		}
		shown := func(token, path, want string) {
			t.Helper()
			named, err := store.ParseConsistencyToken([]string{token})
			require.NoError(t, err)
			require.NotEmpty(t, named, "the token contains what was written")
			require.NoError(t, both.other.store.Await(t.Context(), named))
			require.Contains(t, both.other.page(admin(), path).Body.String(), want)
		}
		graphql := func(mutation string) string { return fmt.Sprintf(`{"query":%q}`, "mutation { "+mutation+" }") }
		const settings, stock = "/v2/settings", "/v2/inventories/tea"
		for n := 1; n < testkit.QuickOrFull(5, 30); n++ {
			shown(write("PUT", settings, fmt.Sprintf(`{"data":{"type":"settings","page_length":%d}}`, 2*n)), settings,
				fmt.Sprintf(`"page_length":%d`, 2*n))
			shown(write("POST", "/graphql", graphql(fmt.Sprintf(`settingsUpdate(input: {pageLength: %d}) { settings { pageLength } }`,
				2*n+1))), settings, fmt.Sprintf(`"page_length":%d`, 2*n+1))
		}
		shown(write("POST", "/v2/inventories", `{"data":{"type":"stock","id":"tea","quantity":3}}`), stock, `"available":3`)
		key := []string{"Idempotency-Key", "once"}
		line := `{"data":{"type":"stock-transaction","action":"increment","quantity":1}}`
		shown(write("POST", stock+"/transactions", line), stock, `"available":4`)
		shown(write("POST", stock+"/transactions", line, key...), stock, `"available":5`)
		shown(write("POST", stock+"/transactions", line, key...), stock, `"available":5`) // replayed
		shown(write("POST", "/graphql", graphql(`stockTransact(input: {changes: [{productId: "tea", action: INCREMENT, quantity: 1}]}) { userErrors { message } }`)), stock, `"available":6`)
		first, second := graphql(`a: settingsUpdate(input: {pageLength: 3}) { settings { pageLength } } b: stockTransact(input: {changes: [{productId: "tea", action: INCREMENT, quantity: 1}]}) { userErrors { message } }`), `"available":7`
		token := write("POST", "/graphql", first)
		shown(token, stock, second)
		shown(token, settings, `"page_length":3`)
		require.Equal(t, "0", write("PUT", "/v2/gateways/manual", `{"data":{"enabled":true}}`), "servers do not cache gateways")
		require.Empty(t, both.writer.page(admin(), settings).Header().Get(store.ConsistencyHeader), "a read")
	})
}
