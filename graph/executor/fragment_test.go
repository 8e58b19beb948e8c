package executor_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/store/storetest"
)

// Cached fragments of products stay valid over publications as long as the product shows the same,
// for each caller. Each step says how many products missed the cache.
func TestFragmentsSurviveAPublication(t *testing.T) {
	t.Parallel()
	const page = `query ($n: Int) { products(first: $n, orderBy: {field: NAME}) { nodes { id uuid sku name slug tags publishedAt saleId displayPrice { withTax { formatted } withoutTax { formatted } }
		files { attachedAt file { href } } mainImage { href } breadcrumbs { node { name hasChildren } ancestors { name } } children { name } stock { available transactions(first: 1) { quantity } } } } }`
	const tools = `{ catalogNode(id: "tools") { products { edges { curated node { uuid sku name slug status publishedAt nodes { name } } } } } }`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := storetest.NewClock(graphtest.Noon)
		s := graphtest.Open(t, e, graphtest.Shop(), storetest.WithClock(clock))
		x := newExecutors(t, s)
		made := func(query string, values graphtest.Variables, reader *auth.Principal, header ...string) (made, errors int) {
			t.Helper()
			before := x.fragments.Stats().FragmentMisses
			errors = x.same(t, query, values, func(r *http.Request) *http.Request {
				for i := 0; i < len(header); i += 2 {
					r.Header.Set(header[i], header[i+1])
				}
				return graphtest.As(r, reader)
			})
			return int(x.fragments.Stats().FragmentMisses - before), errors
		}
		all := graphtest.Variables{"n": 50}
		step := func(what string, want int, header ...string) {
			t.Helper()
			made, errors := made(page, all, graphtest.Admin(), header...)
			require.Zero(t, errors, what)
			require.Equal(t, want, made, what)
		}
		publish := func(change ...string) { // of lines of the shop: what they have, and what they shall have
			t.Helper()
			clock.Advance(time.Minute)
			for _, line := range storetest.ShopLines() {
				if strings.Contains(line, change[0]) && strings.Contains(line, change[1]) {
					graphtest.Load(t, s.Store, strings.ReplaceAll(line, change[1], change[2]))
					return
				}
			}
			t.Fatal("no line has ", change)
		}

		products, _ := made(page, all, graphtest.Admin())
		require.Greater(t, products, 6)
		step("the same again", 0)
		few, _ := made(page, graphtest.Variables{"n": 3}, graphtest.Admin())
		require.Zero(t, few, "another page of the same products")
		for _, reader := range []*auth.Principal{graphtest.Client("catalog:read"), graphtest.Client("catalog:read", "inventory:read"), graphtest.Admin()} {
			made, errors := made(page, all, reader)
			require.Zero(t, made, "stock is each caller's own")
			require.Equal(t, reader.Scopes == nil || !contains(reader.Scopes, "inventory:write"), errors > 0)
		}
		step("another language", products, "Accept-Language", "fr")
		step("another currency", products, "X-Moltin-Currency", "EUR")
		step("the first again", 0)
		shopper := graphtest.Admin()
		shopper.AccountID, shopper.AccountTags, shopper.CustomerID = "acme", []string{"gold"}, "bob"
		theirs, _ := made(page, all, shopper, "Store-Channel", "web")
		require.Positive(t, theirs, "another catalog")
		step("the first once more", 0)

		publish(`"id":"chalk"`, `"name":"Chalk"`, `"name":"Chalks"`)
		step("a product with another name", 1)
		publish(`"id":"paints"`, `"name":"Paints"`, `"name":"Colours"`)
		step("a node with another name, which two products show", 2)
		publish(`"id":"photo-1"`, "cdn.example", "cdn.other.example")
		step("a file elsewhere, which one product shows", 1)
		publish(`"id":"standard-brush"`, `2010-03-01T00:00:00.000Z","valid_to":"2010-06-01T00:00:00.000Z`, `2024-05-30T13:00:00.000Z","valid_to":"2024-05-30T14:00:00.000Z`)
		step("a sale to come", 0)
		clock.Set(graphtest.Noon.Add(time.Hour))
		step("it begins", 1)
		clock.Set(graphtest.Noon.Add(2 * time.Hour))
		step("it has ended", 0)

		curated, errors := made(tools, nil, graphtest.Admin())
		require.Positive(t, curated)
		require.Zero(t, errors)
		publish(`"id":"tools"`, `["chalk","drill-draft","frame","anvil"]`, `["brush"]`)
		curated, errors = made(tools, nil, graphtest.Admin())
		require.Zero(t, curated+errors, "curation is the list's")
	})
}

// Cached fragments cost their rows too, so an operation over its limit fails with the same errors
// with and without them.
func TestCachedFragmentsCostTheirRows(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		const query = `query ($n: Int, $more: Boolean!) { products(first: $n) { nodes { sku name slug uuid files { file { href } } breadcrumbs { node { name slug uuid } ancestors { name } }
			stock { available } parent @include(if: $more) { children { files { file { href } } breadcrumbs { node { name } } } } children { sku breadcrumbs { node { uuid name } } files { attachedAt } } } } }`
		failed := 0
		for _, cost := range []int{100, 200, 400, 800, 1600} {
			bounds := limits.Defaults()
			bounds.Cost = cost
			x := newExecutors(t, s, transport.WithLimits(bounds))
			for n := 1; n < 14; n += 3 {
				for _, more := range []bool{true, false} {
					if x.same(t, query, graphtest.Variables{"n": n, "more": more}, func(r *http.Request) *http.Request { return graphtest.As(r, graphtest.Admin()) }) > 0 {
						failed++
					}
				}
			}
		}
		t.Logf("%d failed", failed)
		require.Positive(t, failed)
	})
}
