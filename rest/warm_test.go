package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/opctx"
	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/internal/web/frontcache"
	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// warmedServer is a server behind a front cache, which builds responses again before a release is served.
type warmedServer struct {
	*testServer
	front http.Handler
	built atomic.Int64 // responses built ahead, so far
}

func warmedShop(t *testing.T, s *testServer) *warmedServer {
	w := &warmedServer{testServer: s}
	cache := frontcache.New(frontcache.Config{Responses: s.responses, OnRequest: func(context.Context) {}, CallerOf: func(*http.Request) any { return admin() },
		OnAnswer: func(*reqctx.Request, *http.Request, *web.Recorder) {}})
	w.front = cache.Middleware(s.as(admin()))
	s.store.SetWarmer(time.Minute, func(ctx context.Context) {
		w.built.Add(int64(cache.Warm(ctx, opctx.Middleware(s.handler), s.store.Pause)))
	})
	return w
}

// ask sends a request, and counts its statements.
func (s *warmedServer) ask(t *testing.T, target string) (body string, statements []string) {
	t.Helper()
	storetest.View(t, s.store, release.ShopperContext{}) // reads the routing table if it has changed
	r := frontRequest(t, 0, target, "", 0)
	r.Header = http.Header{"Content-Type": {"application/json"}}
	ctx, counter := store.CountStatements(r.Context())
	w := httptest.NewRecorder()
	s.front.ServeHTTP(w, r.WithContext(ctx))
	require.Equal(t, http.StatusOK, w.Code, "%s: %s", target, w.Body)
	return w.Body.String(), counter.Queries()
}

const chalkLine = `{"type":"product","id":"chalk","attributes":{"name":%q,"sku":"CHALK","slug":"chalk","status":"live","created_at":"2024-01-01T00:00:00.000Z"}}`

// chalkPages are pages that show the chalk. The last one is not cached as a whole.
func chalkPages() []string {
	const shown = `{ name stock { available } displayPrice { withTax { amount } } publishedAt }`
	return []string{"/catalog/products/chalk", productsOf("tools") + "?include=files,main_image", `POST { product(by: {id: "chalk"}) { name sku publishedAt } }`, `POST { product(by: {id: "chalk"}) ` + shown + ` }`,
		`POST { catalogNode(by: {id: "tools"}) { products(first: 10) { nodes ` + shown + ` } } }`,
		`POST { stocksById(productIds: ["chalk"]) { available product ` + shown + ` } }`}
}

// TestChangedPagesAreBuiltBeforeTheyAreServed requires that the first request of a hot page after a publication, a served preview
// or a roll-back that changed it costs no statement, on the server that published and on another one, and is what a server
// without caches answers.
func TestChangedPagesAreBuiltBeforeTheyAreServed(t *testing.T) {
	t.Parallel()
	if responseCacheBytes() == 0 {
		t.Skip("without the response cache nothing is built ahead")
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e = e.WithStockCache()
		publisher := warmedShop(t, openShop(t, e, shopFile()))
		other := warmedShop(t, serveStore(t, e.Open(t)))
		plain := &warmedServer{testServer: serveWithoutCache(t, e.Open(t, func(config *shop.Config) { config.NoCache = true }))}
		plain.front = plain.as(admin())
		for _, s := range []*warmedServer{publisher, other} {
			require.NoError(t, s.store.WarmStock(t.Context()))
			awaitPoll(t, s.store)
		}
		served := func(s *warmedServer) string {
			return storetest.View(t, s.store, release.ShopperContext{}).Release.UUID()
		}
		change := func(name string) {
			storetest.Import(t, publisher.store, fmt.Sprintf(chalkLine, name))
		}
		change("Chalk")
		_, err := publisher.store.Publish(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		first := served(publisher)
		var preview string
		for _, step := range []struct {
			name, shows string
			run         func() error
		}{
			{"delta", "White chalk", func() error {
				change("White chalk")
				_, err := publisher.store.Publish(t.Context(), "test", "main", nil)
				return err
			}},
			{"preview", "Blue chalk", func() error {
				change("Blue chalk")
				made, err := publisher.store.Preview(t.Context(), "test", "main", nil)
				if err != nil {
					return err
				}
				preview = made.UUID()
				// The preview is a change of the catalog too. A server without requests reads its table late, and might find the
				// next release there, for which it did not build.
				awaitPoll(t, other.store)
				served(other)
				_, err = publisher.store.ServeRelease(t.Context(), "test", preview)
				return err
			}},
			{"roll-back by two", `"Chalk"`, func() error {
				_, err := publisher.store.ServeRelease(t.Context(), "test", first)
				return err
			}},
			{"forward again", "Blue chalk", func() error {
				_, err := publisher.store.ServeRelease(t.Context(), "test", preview)
				return err
			}},
		} {
			servers := []*warmedServer{publisher, other}
			for _, s := range servers {
				for _, page := range chalkPages() {
					for range 3 {
						_, _ = s.ask(t, page)
					}
				}
				s.built.Store(0)
			}
			before := served(publisher)
			require.NoError(t, step.run(), step.name)
			require.NotEqual(t, before, served(publisher), step.name)
			for _, s := range append(servers, plain) {
				storetest.Eventually(t, served(publisher), func() string { return served(s) })
			}
			for _, s := range servers {
				require.GreaterOrEqual(t, int(s.built.Load()), len(chalkPages())-1, step.name)
				for _, page := range chalkPages() {
					body, statements := s.ask(t, page)
					require.Empty(t, statements, "%s: %s", step.name, page)
					require.Contains(t, body, step.shows, "%s: %s", step.name, page)
					want, _ := plain.ask(t, page)
					require.Equal(t, want, body, "%s: %s", step.name, page)
				}
			}
		}
	})
}

// TestAbandonedRelease requires that nothing is shown of a release for which responses were built and that is not
// served after all, and that a later one is served as it is.
func TestAbandonedRelease(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		server := warmedShop(t, openShop(t, e.WithStockCache(), shopFile()))
		publish := func(name string) {
			storetest.Import(t, server.store, fmt.Sprintf(chalkLine, name))
			_, err := server.store.Publish(t.Context(), "test", "main", nil)
			require.NoError(t, err)
		}
		shows := func(name string) {
			t.Helper()
			for _, page := range chalkPages() {
				for range 3 {
					body, _ := server.ask(t, page)
					require.Contains(t, body, name, page)
				}
			}
		}
		publish("Chalk")
		shows(`"Chalk"`)
		storetest.Import(t, server.store, fmt.Sprintf(chalkLine, "Red chalk"))
		abandoned, err := server.store.Preview(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		server.store.WarmRelease(t.Context(), abandoned, nil)
		shows(`"Chalk"`)
		// A release without the chalk's change is served instead.
		storetest.Import(t, server.store, fmt.Sprintf(chalkLine, "Chalk"))
		storetest.Import(t, server.store, `{"type":"product","id":"anvil","attributes":{"name":"Great anvil","sku":"ANVIL","slug":"anvil","status":"live","created_at":"2024-01-01T00:00:00.000Z"}}`)
		_, err = server.store.Publish(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		shows(`"Chalk"`)
		publish("Green chalk")
		shows("Green chalk")
	})
}

// TestSlowWarmUpEndsInTime requires that a warm-up that does not end by itself ends at its limit, and on a server that
// did not publish as soon as a request waits for the release.
func TestSlowWarmUpEndsInTime(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		publisher, other := openShop(t, e, shopFile()), e.Open(t)
		storetest.View(t, other, release.ShopperContext{})
		awaitPoll(t, other)
		var ended, waiting atomic.Int64
		publisher.store.SetWarmer(20*time.Millisecond, func(ctx context.Context) {
			<-ctx.Done()
			ended.Add(1)
		})
		other.SetWarmer(time.Hour, func(ctx context.Context) {
			waiting.Add(1)
			<-ctx.Done()
			ended.Add(1)
		})
		storetest.Import(t, publisher.store, fmt.Sprintf(chalkLine, "White chalk"))
		written := store.ConsistencyToken{}
		ctx := store.WithWriteCallback(t.Context(), written.Merge)
		made, err := publisher.store.Publish(ctx, "test", "main", nil)
		require.NoError(t, err)
		require.EqualValues(t, 1, ended.Load())
		require.Equal(t, made.ID, storetest.View(t, publisher.store, release.ShopperContext{}).Release.ID)
		storetest.Eventually(t, 1, func() int { return int(waiting.Load()) })
		require.NotEqual(t, made.ID, storetest.View(t, other, release.ShopperContext{}).Release.ID)
		require.NoError(t, other.Await(t.Context(), written))
		require.Equal(t, made.ID, storetest.View(t, other, release.ShopperContext{}).Release.ID)
		require.EqualValues(t, 2, ended.Load())
	})
}
