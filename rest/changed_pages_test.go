package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/internal/web/frontcache"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// frontedServer is a server behind a front cache.
type frontedServer struct {
	*testServer
	front http.Handler
}

func frontedShop(s *testServer) *frontedServer {
	cache := frontcache.New(frontcache.Config{Responses: s.responses, OnRequest: func(context.Context) {}, CallerOf: func(*http.Request) any { return admin() },
		OnAnswer: func(*reqctx.Request, *http.Request, *web.Recorder) {}})
	return &frontedServer{s, cache.Middleware(s.as(admin()))}
}

// ask returns the body of a page.
func (s *frontedServer) ask(t *testing.T, target string) string {
	t.Helper()
	r := frontRequest(t, 0, target, "", 0)
	r.Header = http.Header{"Content-Type": {"application/json"}}
	w := httptest.NewRecorder()
	s.front.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, "%s: %s", target, w.Body)
	return w.Body.String()
}

const chalkLine = `{"type":"product","id":"chalk","attributes":{"name":%q,"sku":"CHALK","slug":"chalk","status":"live","created_at":"2024-01-01T00:00:00.000Z"}}`

// chalkPages are pages that show the chalk. The last one is not cached as a whole.
func chalkPages() []string {
	const shown = `{ name stock { available } price { money { amount } } publishedAt }`
	return []string{"/catalog/products/chalk", productsOf("tools") + "?include=files,main_image", `POST { product(by: {id: "chalk"}) { name sku publishedAt } }`, `POST { product(by: {id: "chalk"}) ` + shown + ` }`,
		`POST { catalogNode(by: {id: "tools"}) { products(first: 10) { nodes ` + shown + ` } } }`,
		`POST { stocksById(productIds: ["chalk"]) { available product ` + shown + ` } }`}
}

// TestChangedPagesEqualThoseWithoutCaches requires that pages that were cached show, after a publication, a served preview or a
// roll-back that changed them, what a server without caches answers, on the server that published and on another one.
func TestChangedPagesEqualThoseWithoutCaches(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e = e.WithStockCache()
		publisher, other := frontedShop(openShop(t, e, shopFile())), frontedShop(serveStore(t, e.Open(t)))
		plain := &frontedServer{testServer: serveWithoutCache(t, e.Open(t, func(config *shop.Config) { config.NoCache = true }))}
		plain.front = plain.as(admin())
		servers := []*frontedServer{publisher, other}
		for _, s := range servers {
			require.NoError(t, s.store.Stock.Warm(t.Context()))
		}
		served := func(s *frontedServer) string {
			return storetest.View(t, s.store, release.ShopperContext{}).Release.UUID()
		}
		publish := func(name string) {
			storetest.Import(t, publisher.store, fmt.Sprintf(chalkLine, name))
			_, err := publisher.store.Publisher.Publish(t.Context(), "test", "main", nil)
			require.NoError(t, err)
		}
		serve := func(id string) {
			_, err := publisher.store.Releases.Serve(t.Context(), "test", id)
			require.NoError(t, err)
		}
		publish("Chalk")
		first := served(publisher)
		var preview string
		for _, step := range []struct {
			name, shows string
			run         func()
		}{
			{"delta", "White chalk", func() { publish("White chalk") }},
			{"preview", "Blue chalk", func() {
				storetest.Import(t, publisher.store, fmt.Sprintf(chalkLine, "Blue chalk"))
				made, err := publisher.store.Publisher.Preview(t.Context(), "test", "main", nil)
				require.NoError(t, err)
				preview = made.UUID()
				serve(preview)
			}},
			{"roll-back by two", `"Chalk"`, func() { serve(first) }},
			{"forward again", "Blue chalk", func() { serve(preview) }},
		} {
			for _, s := range servers {
				for _, page := range chalkPages() {
					for range 3 {
						s.ask(t, page)
					}
				}
			}
			before := served(publisher)
			step.run()
			require.NotEqual(t, before, served(publisher), step.name)
			for _, s := range append(servers, plain) {
				testkit.Eventually(t, served(publisher), func() string { return served(s) })
			}
			for _, s := range servers {
				for _, page := range chalkPages() {
					body := s.ask(t, page)
					require.Contains(t, body, step.shows, "%s: %s", step.name, page)
					require.Equal(t, plain.ask(t, page), body, "%s: %s", step.name, page)
				}
			}
		}
	})
}
