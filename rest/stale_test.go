package rest_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// freshShop is a shop with one of everything that changes a response: a sale, two catalogs with
// their own prices, a rule for an account, and a scheduled rule.
const freshShop = `
{"type":"hierarchy","id":"shop","attributes":{"name":"Shop"}}
{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"shop"}},"products":{"data":[{"type":"product","id":"tea"},{"type":"product","id":"cup"}]}}}
{"type":"product","id":"tea","attributes":{"name":"Tea","sku":"TEA","slug":"tea","status":"live","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-02T00:00:00Z"}}
{"type":"product","id":"cup","attributes":{"name":"Cup","sku":"CUP","slug":"cup","status":"live","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"}}
{"type":"pricebook","id":"public","attributes":{"name":"Public"}}
{"type":"pricebook","id":"trade","attributes":{"name":"Trade"}}
{"type":"product-price","id":"tea-public","attributes":{"sku":"TEA","currencies":{"USD":{"amount":1000,"includes_tax":false},"EUR":{"amount":900,"includes_tax":true}},"sales":{"noon":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T13:00:00Z"},"currencies":{"USD":{"amount":700,"includes_tax":false}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"public"}}}}
{"type":"product-price","id":"tea-trade","attributes":{"sku":"TEA","currencies":{"USD":{"amount":500,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"trade"}}}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["shop"],"pricebook_ids":[{"id":"public","priority":1}],"created_at":"2024-01-01T00:00:00Z"}}
{"type":"catalog","id":"trade","attributes":{"name":"Trade","hierarchies":["shop"],"pricebook_ids":[{"id":"trade","priority":1}],"created_at":"2024-01-02T00:00:00Z"}}
{"type":"catalog_rule","id":"r-trade","attributes":{"name":"trade","catalog_id":"trade","account_ids":["acme"],"created_at":"2024-01-01T00:00:00Z"}}
{"type":"catalog_rule","id":"r-night","attributes":{"name":"night","catalog_id":"trade","channels":["night"],"schedules":[{"valid_from":"2024-05-30T20:00:00Z","valid_to":"2024-05-30T21:00:00Z"}],"created_at":"2024-01-01T00:00:00Z"}}
`

// teaPage is a page with the tea's price.
var teaPage = productsOf("all") + "?include=" + allIncludes

// teaQuery is the same page in GraphQL.
var teaQuery = "/graphql?query=" + url.QueryEscape(`{ catalogNode(by: {id: "all"}) { products { nodes { name price { money { amount } } stock { available } } } } }`)

// twoServers are two servers over one database.
type twoServers struct {
	writer, other *testServer
	clock         *testkit.Clock
}

// serveTwice opens the shop at eleven o'clock. Both servers have already cached the page.
func serveTwice(t *testing.T, e storetest.Backend) *twoServers {
	t.Helper()
	clock := testkit.NewClock(time.Date(2024, 5, 30, 11, 0, 0, 0, time.UTC))
	s := openShop(t, e, strings.TrimSpace(freshShop), withClock(clock))
	both := &twoServers{s, serveStore(t, e.Open(t, withClock(clock))), clock}
	both.require(t, "Tea", "1000")
	return both
}

// page sends a shopper's request.
func (s *testServer) page(shopper *auth.Principal, path string, headers ...string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	s.as(shopper).ServeHTTP(w, r)
	return w
}

// responseShows reports whether a page has a product with a name and a price. It repeats the
// request, so that it sees the cached response too.
func responseShows(s *testServer, shopper *auth.Principal, name, amount string, headers ...string) bool {
	for range 3 {
		body := s.page(shopper, teaPage, headers...).Body.String()
		if !strings.Contains(body, `"name":"`+name+`"`) || !strings.Contains(body, `{"amount":`+amount+`,`) {
			return false
		}
		body = s.page(shopper, teaQuery, headers...).Body.String()
		if !strings.Contains(body, `"name":"`+name+`"`) || !strings.Contains(body, `{"amount":"`+amount+`"}`) {
			return false
		}
	}
	return true
}

// require checks the page of both servers: at once on the server that wrote, soon on the other.
func (b *twoServers) require(t *testing.T, name, amount string, headers ...string) {
	t.Helper()
	require.True(t, responseShows(b.writer, admin(), name, amount, headers...), "the writer shows %s",
		b.writer.page(admin(), teaPage, headers...).Body)
	testkit.Eventually(t, true, func() bool { return responseShows(b.other, admin(), name, amount, headers...) })
}

// TestNoStaleResponses requires that no server returns a response from before a change.
func TestNoStaleResponses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		both := serveTwice(t, e)
		s, ctx := both.writer.store, t.Context()
		tag := both.writer.page(admin(), teaPage).Header().Get("Etag")
		first := both.writer.page(admin(), "/catalog/nodes").Header().Get("Etag")

		both.clock.Set(time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)) // a sale begins
		both.require(t, "Tea", "700")
		both.clock.Advance(time.Hour - time.Microsecond) // the last instant of the sale
		both.require(t, "Tea", "700")
		both.clock.Advance(time.Microsecond)
		both.require(t, "Tea", "1000")
		require.Equal(t, 304, both.writer.page(admin(), teaPage, "If-None-Match", tag).Code, "as before the sale")

		both.clock.Set(time.Date(2024, 5, 30, 19, 59, 59, 0, time.UTC)) // a rule's schedule
		both.require(t, "Tea", "1000", "Store-Channel", "night")
		both.clock.Advance(time.Second)
		both.require(t, "Tea", "500", "Store-Channel", "night")
		both.clock.Advance(time.Hour)
		both.require(t, "Tea", "1000", "Store-Channel", "night")

		served, err := s.Releases.View(ctx, release.ShopperContext{}) // published
		require.NoError(t, err)
		importLines(t, s, strings.ReplaceAll(strings.TrimSpace(freshShop), `"name":"Tea"`, `"name":"Green Tea"`))
		both.require(t, "Green Tea", "1000")
		require.Equal(t, 200, both.writer.page(admin(), teaPage, "If-None-Match", tag).Code, "another page")
		_, err = s.Releases.Serve(ctx, "test", served.Release.UUID()) // rolled back
		require.NoError(t, err)
		both.require(t, "Tea", "1000")
		require.Equal(t, 304, both.writer.page(admin(), teaPage, "If-None-Match", tag).Code, "the page of before")
		require.Equal(t, 304, both.writer.page(admin(), "/catalog/nodes", "If-None-Match", first).Code)

		trade, usd, eur, one := "trade", "USD", "EUR", 1
		_, err = s.Catalogs.CreateRule(ctx, "test", "r-all", catalog.RuleChange{Name: &trade, CatalogID: &trade}) // a rule
		require.NoError(t, err)
		both.require(t, "Green Tea", "500") // whose release was not rolled back
		require.NoError(t, s.Catalogs.DeleteRule(ctx, "test", "r-all"))
		both.require(t, "Tea", "1000")

		_, err = s.Settings.Update(ctx, "test", settings.Change{Currency: &eur}) // settings
		require.NoError(t, err)
		both.require(t, "Tea", "900")
		_, err = s.Settings.Update(ctx, "test", settings.Change{Currency: &usd, PageLength: &one})
		require.NoError(t, err)
		both.require(t, "Tea", "1000")
		require.Len(t, readListBody(t, both.writer.page(admin(), teaPage)).ids(), 1)
		testkit.Eventually(t, true, func() bool { return len(readListBody(t, both.other.page(admin(), teaPage)).ids()) == 1 })
	})
}

// TestDatabaseRestoredWhileServing requires that servers notice a restored database, in which
// releases have the same numbers but other content, and stock and settings differ.
func TestDatabaseRestoredWhileServing(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name != "postgres" {
			t.Skip("see TestFileReplacedWhileServing")
		}
		both := serveTwice(t, e)
		servers := []*testServer{both.writer, both.other}
		sold := func(s *shop.Store, available, pageLength int) {
			_, err := s.Stock.Create(t.Context(), "test", "tea", available)
			require.NoError(t, err)
			_, err = s.Settings.Update(t.Context(), "test", settings.Change{PageLength: &pageLength})
			require.NoError(t, err)
		}
		say := func(available, pageLength int) {
			for _, s := range servers {
				testkit.Eventually(t, true, func() bool {
					return strings.Contains(s.page(admin(), "/v2/inventories/tea").Body.String(), fmt.Sprintf(`"available":%d`, available)) &&
						strings.Contains(s.page(admin(), "/v2/settings").Body.String(), fmt.Sprintf(`"page_length":%d`, pageLength))
				})
			}
		}
		sold(both.writer.store, 4, 3)
		say(4, 3)
		before := both.clock.Advance(time.Minute) // the restored releases are newer
		another := e.OtherURL(t)
		restored := e.Open(t, withClock(testkit.NewClock(before)), func(c *shop.Config) { c.URL = another })
		importLines(t, restored, strings.ReplaceAll(strings.TrimSpace(freshShop), `"name":"Tea"`, `"name":"Mate"`))
		sold(restored, 9, 7)
		require.NoError(t, restored.Close())
		e.ReplaceDatabase(t, another)
		for _, s := range servers {
			testkit.Eventually(t, true, func() bool { return responseShows(s, admin(), "Mate", "1000") })
		}
		say(9, 7)
	})
}

// TestFileReplacedWhileServing requires that servers with the former SQLite file open report
// that they must be restarted, also for cached responses.
func TestFileReplacedWhileServing(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name != "sqlite" {
			t.Skip("see TestDatabaseRestoredWhileServing")
		}
		both := serveTwice(t, e)
		restored, _ := shop.SQLiteFile(e.OtherURL(t))
		path, _ := shop.SQLiteFile(e.URL(t))
		require.NoError(t, os.Rename(restored, path))
		written := both.writer.as(admin())
		for path, body := range map[string]string{
			"/v2/settings": `{"data":{"type":"settings","page_length":7}}`,
			"/graphql":     `{"query":"mutation { settingsUpdate(input: { pageLength: 7 }) { settings { pageLength } } }"}`,
		} {
			method := map[bool]string{true: "POST", false: "PUT"}[path == "/graphql"]
			w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			written.ServeHTTP(w, r)
			require.Contains(t, w.Body.String(), "must be restarted", "a write must fail: %s", path)
		}
		for _, s := range []*testServer{both.writer, both.other} {
			for _, path := range []string{teaPage, teaQuery, "/v2/inventories", "/v2/settings", "/graphql?query={settings{pageLength}}",
				"/graphql?query={stocks{nodes{available}}}", "/readyz"} {
				testkit.Eventually(t, true, func() bool {
					return strings.Contains(s.page(admin(), path).Body.String(), "must be restarted")
				}, path)
			}
			require.Equal(t, 503, s.page(admin(), teaPage).Code)
			require.Equal(t, 503, s.page(admin(), "/readyz").Code)
			require.Contains(t, s.page(admin(), teaQuery).Body.String(), `"code":"UNAVAILABLE"`)
		}
	})
}

// TestShoppersDoNotShareResponses alternates two shoppers, one with its own catalog and prices.
func TestShoppersDoNotShareResponses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := serveTwice(t, e).writer
		anyone := &auth.Principal{ClientID: "storefront", Scopes: []string{"catalog:read"}}
		acme := &auth.Principal{ClientID: "storefront", Scopes: []string{"catalog:read"}, AccountID: "acme"}
		for range 3 {
			for shopper, amount := range map[*auth.Principal]string{anyone: "1000", acme: "500"} {
				require.True(t, responseShows(s, shopper, "Tea", amount))
				require.True(t, responseShows(s, shopper, "Tea", amount, "X-Moltin-Currency", "usd"))
			}
			require.Equal(t, "public, no-cache", s.page(anyone, teaPage).Header().Get("Cache-Control"))
			require.Equal(t, "private, no-cache", s.page(acme, teaPage).Header().Get("Cache-Control"))
			require.Equal(t, 401, s.page(nil, teaPage).Code)
			require.Equal(t, 403, s.page(&auth.Principal{ClientID: "x", Scopes: []string{"inventory:read"}}, teaPage).Code)
			require.Empty(t, s.page(nil, teaPage).Header().Get("Etag"))
		}
	})
}
