package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// TestCopiedDatabaseServesTheSame copies a shop from SQLite to each database: servers on both answer
// the same on both APIs, to the same token.
func TestCopiedDatabaseServesTheSame(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		storetest.FullTestsOnlyOnPostgres(t, e)
		flags, path := database(t)
		key := []string{"--key-file", strings.TrimSuffix(path, ".db") + ".key"}
		mustRun(t, append([]string{"import", demoShop}, flags...)...)
		first := startServer(t, append(append(flags, key...), unlimited...)...)
		_, token := first.client(t, flags...)
		response, answer := first.send(t, "PUT", "/v2/gateways/card_processor",
			`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"secret"}}`, "Authorization", "Bearer "+token)
		require.Equal(t, 200, response.StatusCode, answer)
		response, answer = first.send(t, "POST", "/v2/inventories/prod-espresso/transactions",
			`{"data":{"type":"stock-transaction","action":"allocate","quantity":2}}`, "Authorization", "Bearer "+token)
		require.Equal(t, 201, response.StatusCode, answer)
		target := e.URL(t)
		if e.Name == "sqlite" {
			target = "file:" + strings.TrimSuffix(path, ".db") + "-copy.db"
		}
		require.Contains(t, mustRun(t, append([]string{"copy", "--to", target}, flags...)...), "copied SQLite ")
		second := startServer(t, append(append([]string{"--database-url", target}, key...), unlimited...)...)
		for _, request := range []struct{ method, path, body string }{
			{"GET", "/catalog/products?include=main_image,files,component_products&page[limit]=100", ""},
			{"GET", "/catalog/nodes", ""},
			{"GET", "/v2/inventories", ""},
			{"GET", "/v2/inventories/prod-espresso", ""},
			{"GET", "/v2/inventories/prod-espresso/transactions", ""},
			{"GET", "/v2/promotions", ""},
			{"GET", "/v2/promotions/promo-early-bird/codes", ""},
			{"GET", "/v2/gateways/card_processor", ""},
			{"GET", "/v2/settings", ""},
			{"POST", "/graphql", `{"query":"{ products(first: 100) { totalCount nodes { id name price { money { amount } } stock { available allocated } } facets { groups { key values { label count } } } } }"}`},
			{"POST", "/graphql", `{"query":"{ jobs(first: 10) { id state } settings { pageLength } promotions(first: 10) { nodes { id name codes(first: 100) { nodes { code } } } } catalogs(first: 10) { nodes { id name } } }"}`},
		} {
			headers := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
			a, want := first.send(t, request.method, request.path, request.body, headers...)
			b, got := second.send(t, request.method, request.path, request.body, headers...)
			require.Equal(t, []int{200, 200}, []int{a.StatusCode, b.StatusCode}, want)
			require.NotContains(t, want, `"errors"`)
			require.Equal(t, strings.ReplaceAll(want, first.url, ""), strings.ReplaceAll(got, second.url, ""), request.path)
		}
		require.Zero(t, first.stop())
		require.Zero(t, second.stop())
		require.Contains(t, mustRun(t, "doctor", "--database-url", target), "0 errors, 0 warnings")
	})
}
