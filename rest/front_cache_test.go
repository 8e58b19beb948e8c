package rest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/internal/web/frontcache"
	"portico/internal/web/middleware"
	"portico/store"
	"portico/store/release"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// principalHeader has the index of the principal of a request in these tests. User-Agent is a header
// that decides nothing.
const principalHeader = "User-Agent"

// behindFront serves a server behind a front cache. hits
// counts what the front cache answered.
func behindFront(s *testServer, principals []*auth.Principal, hits *int) http.Handler {
	callerOf := func(r *http.Request) any {
		if i := int(r.Header.Get(principalHeader)[0] - '0'); principals[i] != nil {
			return principals[i]
		}
		return nil
	}
	handler := web.Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		principal, _ := callerOf(r).(*auth.Principal)
		s.as(principal).ServeHTTP(w, r)
	}), middleware.NoSniff, middleware.RequestID, middleware.CORS([]string{"https://shop.example"}, slog.New(slog.DiscardHandler)), middleware.Compress)
	front := frontcache.New(frontcache.Config{Responses: s.responses, OnRequest: func(context.Context) {}, CallerOf: callerOf,
		OnAnswer: func(*reqctx.Request, *http.Request, *web.Recorder) { *hits++ }})
	return front.Middleware(handler)
}

// frontTargets returns requests for all that can be candidates, and for some that cannot.
func frontTargets() []string {
	targets := []string{"/catalog/products/brush", productsOf("tools"), "/v2/settings", "/v2/inventories", "/v2/inventories?page[limit]=2", "/v2/inventories?page[limit]=2&page[offset]=1", "/v2/inventories?sort=-updated_at",
		"/v2/inventories/anvil", "/v2/inventories/none", "/v2/promotions", "/catalog", "/v2/inventories/locations", "/none"}
	for _, query := range []string{
		`{ product(by: {id: "brush"}) { price { money { amount } } stock { available } } }`, `{ product(by: {id: "brush"}) { price { money { amount } } } }`,
		`{ __typename }`, `{ settings { pageLength currency locale } }`, `{ stock(productId: "anvil") { available total updatedAt } }`, `{ stock(productId: "none") { available } }`,
		`{ stocks(first: 2) { totalCount nodes { uuid available } pageInfo { hasNextPage endCursor } } }`,
		`{ stocks(first: 3) { nodes { available product { name } } } settings { pageLength } }`, `{ stocksById(productIds: ["anvil", "none", "chalk"]) { available } }`,
		`{ catalogNode(by: {id: "tools"}) { name products(first: 3) { nodes { name sku stock { available allocated } } } } }`,
		`{ products(first: 4) { nodes { ...parts } } } fragment parts on Product { name stock { uuid available } price { money { amount } } }`,
		`{ catalogNode(by: {id: "tools"}) { products(includeDescendants: true) { nodes { sku availability availableForSale priceRange { min { money { amount } } } } } } }`,
		`{ products(variants: PARENTS, filter: {inStock: true}) { totalCount nodes { sku } } settings { lowStockThreshold } }`,
		`{ stock(productId: "anvil") { available transactions(first: 2) { quantity } } }`, `{ promotions { totalCount } }`, `{ nothing }`,
	} {
		targets = append(targets, "/graphql?query="+url.QueryEscape(query), "POST "+query)
	}
	return append(targets, changingTargets()...)
}

// frontRequest returns a request for a target. The seed decides its headers, of all kinds.
func frontRequest(t *testing.T, seed uint64, target, etag string, principal int) *http.Request {
	random := rand.New(rand.NewPCG(seed, 1))
	var r *http.Request
	if query, isPost := strings.CutPrefix(target, "POST "); isPost {
		r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(fmt.Sprintf(`{"query":%q}`, query)))
		r.Header.Set("Content-Type", "application/json")
	} else {
		r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	}
	r.Header.Set(principalHeader, fmt.Sprint(principal))
	for _, header := range [][2]string{{"Accept-Language", "fr"}, {"X-Moltin-Currency", "EUR"}, {"Accept-Encoding", "gzip"}, {"Origin", "https://shop.example"}, {"Origin", "https://other.example"},
		{"Accept", "application/graphql-response+json"}, {"If-None-Match", etag}, {"Prefer", "graphql"}, {"Store-Context-Tag", "vip"}, {"EP-Inventories-Multi-Location", "true"},
		{"Unlisted", "value"}, {"Sec-Fetch-Mode", "cors"}} {
		if random.IntN(9) == 0 && header[1] != "" {
			r.Header.Add(header[0], header[1])
		}
	}
	return r
}

// plainBody returns the body of a response without compression.
func plainBody(t *testing.T, w *httptest.ResponseRecorder) string {
	if w.Header().Get("Content-Encoding") == "" {
		return w.Body.String()
	}
	reader, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
	require.NoError(t, err)
	body, err := io.ReadAll(reader)
	require.NoError(t, err)
	return string(body)
}

// comparedHeader returns the header of a response, without what belongs to one request or depends on how the
// body was compressed.
func comparedHeader(w *httptest.ResponseRecorder) http.Header {
	header := w.Header().Clone()
	ignored := []string{middleware.RequestIDHeader, "Content-Length"}
	for _, name := range ignored {
		header.Del(name)
	}
	return header
}

// TestFrontCache changes stock, settings, the catalog and the time at random, sends requests with random headers of
// several principals, and compares each response of a server behind a front cache with that of a server
// without caches.
func TestFrontCache(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		server := openShop(t, e.WithStockCache(), shopFile(), withClock(clock))
		storetest.Import(t, server.store, hourlySales())
		_, err := server.store.Publisher.Publish(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		plain := serveWithoutCache(t, e.Open(t, withClock(clock), func(config *shop.Config) { config.NoCache = true }))
		principals := []*auth.Principal{nil, admin(), {ClientID: "storefront", Grant: auth.GrantImplicit, Scopes: []string{"catalog:read"}},
			{ClientID: "reader", Grant: auth.GrantClientCredentials, Scopes: []string{"catalog:read", "inventory:read", "settings:read"}},
			{ClientID: "other", Grant: auth.GrantClientCredentials, Scopes: []string{"catalog:read", "inventory:read", "settings:read"}},
			{ClientID: "shopper", Grant: auth.GrantShopper, Scopes: []string{"catalog:read"}, AccountID: "acme", AccountTags: []string{"wholesale"}}}
		var hits, ignored int
		front, bare := behindFront(server, principals, &hits), behindFront(plain, principals, &ignored)
		seed := testkit.Seed(t)
		random := rand.New(rand.NewPCG(seed, 1))
		c, targets, tags := newChangingShop(t, seed), frontTargets(), map[string]string{}
		type repeated struct {
			target string
			seed   uint64
		}
		asked := make([]repeated, 10)
		draw := func() repeated {
			if other := asked[random.IntN(len(asked))]; other.target != "" && random.IntN(2) == 0 {
				return repeated{other.target, random.Uint64()} // the same with other headers
			}
			return repeated{targets[min(random.IntN(len(targets)), random.IntN(len(targets)))], random.Uint64()}
		}
		for i := range asked {
			asked[i] = draw()
		}
		for step := range testkit.QuickOrFull(1000, 5_000) {
			what := ""
			switch random.IntN(120) {
			case 0, 13:
				line, changed := c.change()
				storetest.Import(t, server.store, line)
				_, err := server.store.Publisher.Publish(t.Context(), "test", "main", nil)
				require.NoError(t, err)
				what = changed
			case 1, 2:
				id := []string{"anvil", "brush"}[random.IntN(2)]
				require.NoError(t, storetest.Increment(t.Context(), server.store, id))
				what = "stock of " + id
			case 3:
				length := 2 + random.IntN(5)
				_, err := server.store.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: &length})
				require.NoError(t, err)
				what = "settings"
			case 4, 11, 12:
				clock.Advance(time.Duration(random.IntN(60)) * time.Minute)
				what = "time"
			case 5, 6, 7, 8, 9, 10:
				asked[random.IntN(len(asked))] = draw()
			}
			if what != "" {
				await(t, server, plain)
			}
			repeat, principal := asked[random.IntN(len(asked))], random.IntN(len(principals))
			target, key := repeat.target, fmt.Sprint(repeat.target, principal)
			r := frontRequest(t, repeat.seed, target, tags[key], principal)
			got, want := httptest.NewRecorder(), httptest.NewRecorder()
			sent := r.Clone(t.Context())
			if r.Method == http.MethodPost {
				body, _ := io.ReadAll(r.Body)
				r.Body, sent.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
			}
			bare.ServeHTTP(want, r)
			front.ServeHTTP(got, sent)
			message := fmt.Sprintf("PORTICO_TEST_SEED=%d, step %d: %s %v", seed, step, target, r.Header)
			require.Equal(t, want.Code, got.Code, message)
			require.Equal(t, plainBody(t, want), plainBody(t, got), message)
			require.Equal(t, comparedHeader(want), comparedHeader(got), message)
			tags[key] = got.Header().Get("Etag")
		}
		t.Logf("%d were answered in front", hits)
		if responseCacheBytes() == 0 {
			require.Zero(t, hits)
			return
		}
		require.Positive(t, hits)
		require.Zero(t, ignored, "there is nothing to compare with")
	})
}

// hourlySales returns a price list line with a sale in every second hour after noon, for two days.
func hourlySales() string {
	sales := map[string]any{}
	for hour := 1; hour < 48; hour += 2 {
		from := noon.Add(time.Duration(hour) * time.Hour)
		sales[fmt.Sprint("h", hour)] = map[string]any{"schedule": map[string]any{"valid_from": from, "valid_to": from.Add(time.Hour)},
			"currencies": map[string]any{"USD": map[string]any{"amount": 100 + hour, "includes_tax": true}}}
	}
	return string(store.Encode(map[string]any{"type": "product-price", "id": "standard-brush", "attributes": map[string]any{"sku": "BRUSH",
		"currencies": map[string]any{"USD": map[string]any{"amount": 500, "includes_tax": true}}, "sales": sales},
		"relationships": map[string]any{"pricebook": map[string]any{"data": map[string]any{"type": "pricebook", "id": "standard"}}}}))
}

// await waits until two servers have seen the same.
func await(t *testing.T, servers ...*testServer) {
	t.Helper()
	state := func(s *testServer) string {
		current, err := s.store.Settings.Get(t.Context())
		require.NoError(t, err)
		return fmt.Sprint(storetest.View(t, s.store, release.ShopperContext{}).Release.UUID(), current.PageLength)
	}
	testkit.Eventually(t, state(servers[0]), func() string { return state(servers[1]) })
}

// TestFrontCacheKeepsOtherStock requires that a page of stock stays in front when only other stock
// changes, and shows the time of the change.
func TestFrontCacheKeepsOtherStock(t *testing.T) {
	t.Parallel()
	if responseCacheBytes() == 0 {
		t.Skip("without the response cache there is nothing in front")
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		server := openShop(t, e.WithStockCache(), shopFile(), withClock(clock))
		storetest.RefreshStock(t, server.store)
		awaitPoll(t, server.store)
		hits := 0
		front := behindFront(server, []*auth.Principal{admin()}, &hits)
		send := func(target string) string {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
			r.Header.Set(principalHeader, "0")
			front.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code)
			return w.Body.String()
		}
		first, second := "/v2/inventories?page[limit]=1", "/v2/inventories?page[limit]=1&page[offset]=1"
		for range 3 {
			send(first)
			send(second)
		}
		require.Equal(t, 2, hits)
		clock.Advance(time.Minute)
		require.NoError(t, storetest.Increment(t.Context(), server.store, "anvil")) // the first
		for range 2 {
			require.Contains(t, send(second), `"updated_at":"`+store.FormatTime(clock.Now())+`"`)
		}
		require.Equal(t, 4, hits)
		require.Contains(t, send(first), `"updated_at":"`+store.FormatTime(clock.Now())+`"`)
		require.Equal(t, 4, hits, "it shows the stock that changed")
	})
}

// awaitPoll waits until a poll has seen all writes so far. Settings and routes are then read once more, and
// the requests until then are not answered in front.
func awaitPoll(t *testing.T, s *shop.Store) {
	t.Helper()
	require.Error(t, s.Await(t.Context(), store.ConsistencyToken{"nowhere": store.Micros(time.Now())}), "no poll finds it")
}

// TestFrontCacheSurvivesPublications requires that after a publication the responses in front still hold that
// show nothing of what it changed, with stock or without, whether or not the cache behind had them, and that
// no response holds once a rule or a catalog changed.
func TestFrontCacheSurvivesPublications(t *testing.T) {
	t.Parallel()
	if responseCacheBytes() == 0 {
		t.Skip("without the response cache there is nothing in front")
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		server := openShop(t, e.WithStockCache(), shopFile())
		hits := 0
		front := behindFront(server, []*auth.Principal{admin()}, &hits)
		ask := func(target string) (answer string, answeredInFront bool) {
			storetest.View(t, server.store, release.ShopperContext{}) // reads what a poll found changed
			w, before := httptest.NewRecorder(), hits
			r := frontRequest(t, 0, target, "", 0)
			r.Header = http.Header{principalHeader: r.Header[principalHeader], "Content-Type": {"application/json"}}
			front.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, target)
			return w.Body.String(), hits > before
		}
		publish := func(line string) {
			storetest.Import(t, server.store, line)
			_, err := server.store.Publisher.Publish(t.Context(), "test", "main", nil)
			require.NoError(t, err)
			awaitPoll(t, server.store)
		}
		const shown = `{ name stock { available } price { money { amount } } }`
		targets := func(id string) []string {
			return []string{"/catalog/products/" + id, `POST { product(by: {id: "` + id + `"}) { name sku } }`, `POST { product(by: {id: "` + id + `"}) ` + shown + ` }`,
				`POST { stocksById(productIds: ["` + id + `"]) { available product ` + shown + ` } }`}
		}
		heat := func(targets []string) (answers []string) {
			for _, target := range targets {
				for range 3 { // the second request leaves a candidate
					_, _ = ask(target)
				}
				answer, inFront := ask(target)
				require.True(t, inFront, target)
				answers = append(answers, answer)
			}
			return answers
		}
		const chalk = `{"type":"product","id":"chalk","attributes":{"name":%q,"sku":"CHALK","slug":"chalk","status":"live","created_at":"2024-01-01T00:00:00.000Z"}}`
		publish(fmt.Sprintf(chalk, "Chalk"))
		for i, name := range []string{"White chalk", "Blue chalk"} {
			changed, others := heat(targets("chalk")), heat(targets("anvil"))
			publish(fmt.Sprintf(chalk, name))
			for i, target := range targets("anvil") {
				answer, inFront := ask(target)
				require.True(t, inFront, "%s shows nothing that changed", target)
				require.Equal(t, others[i], answer, target)
			}
			for i, target := range targets("chalk") {
				answer, inFront := ask(target)
				require.False(t, inFront, target)
				require.NotEqual(t, changed[i], answer, target)
				require.Contains(t, answer, name, target)
			}
			heat(targets("chalk"))
			heat(targets("anvil"))
			storetest.Import(t, server.store, []string{
				`{"type":"catalog_rule","id":"vip","attributes":{"name":"vip","catalog_id":"main","tags":["vip"]}}`,
				`{"type":"catalog_rule","id":"vip","attributes":{"name":"vip","catalog_id":"main","tags":["other"]}}`}[i])
			for _, target := range append(targets("chalk"), targets("anvil")...) {
				_, inFront := ask(target)
				require.False(t, inFront, "%s: another catalog may be chosen", target)
			}
		}
	})
}

// TestFrontCacheEndsWithSales requires that responses in front end when a sale begins, whether or not the
// cache behind had them.
func TestFrontCacheEndsWithSales(t *testing.T) {
	t.Parallel()
	if responseCacheBytes() == 0 {
		t.Skip("without the response cache there is nothing in front")
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		server := openShop(t, e, shopFile(), withClock(clock))
		storetest.Import(t, server.store, hourlySales())
		_, err := server.store.Publisher.Publish(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		awaitPoll(t, server.store)
		hits := 0
		front := behindFront(server, []*auth.Principal{admin()}, &hits)
		for _, target := range frontTargets() {
			if !strings.HasSuffix(target, "/products/brush") && !strings.Contains(target, "brush%22%7D%29+%7B+price") && !strings.Contains(target, "priceRange") {
				continue
			}
			send := func() string {
				w := httptest.NewRecorder()
				r := frontRequest(t, 0, target, "", 0)
				r.Header = http.Header{principalHeader: r.Header[principalHeader], "Content-Type": {"application/json"}}
				front.ServeHTTP(w, r)
				require.Equal(t, http.StatusOK, w.Code)
				return w.Body.String()
			}
			clock.Set(noon)
			before, answered := send(), hits
			for range 2 {
				require.Equal(t, before, send())
			}
			require.Greater(t, hits, answered, target)
			clock.Set(noon.Add(time.Hour - time.Millisecond))
			require.Equal(t, before, send(), target)
			clock.Set(noon.Add(time.Hour))
			require.NotEqual(t, before, send(), target)
		}
	})
}
