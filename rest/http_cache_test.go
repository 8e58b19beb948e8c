package rest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/httpcache"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// halfHour is a policy with tags that lets caches send a response for half an hour, and a minute longer.
func halfHour(t *testing.T) opctx.CachePolicy {
	t.Helper()
	control, err := httpcache.ParseCacheControl("public, s-maxage=1800, stale-while-revalidate=60")
	require.NoError(t, err)
	return opctx.CachePolicy{Control: control, TagHeader: httpcache.SurrogateKey}
}

// teaNames is a page without stock, by GET in GraphQL.
var teaNames = "/graphql?query=" + url.QueryEscape(`{ catalogNode(by: {id: "all"}) { products { nodes { name price { money { amount } } } } } }`)

// TestCacheControl: caches may send a response without asking only while it is the same for everyone: until a sale or a
// rule's schedule starts or ends, or the token expires.
func TestCacheControl(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		s := openShop(t, e, strings.TrimSpace(freshShop), withClock(clock))
		s = serveCaching(t, s.store, halfHour(t))
		at := func(text string) time.Time {
			parsed, err := time.Parse(time.RFC3339, text)
			require.NoError(t, err)
			return parsed
		}
		of := func(change func(*auth.Principal)) *auth.Principal {
			p := admin()
			change(p)
			return p
		}
		const whole, ask, private, never = "public, s-maxage=1800, stale-while-revalidate=60", "public, no-cache", "private, no-cache", "no-store"
		anyone := admin()
		for _, test := range []struct {
			name    string
			at      string
			who     *auth.Principal
			headers []string
			want    string
		}{
			{"nothing ends", "2024-05-30T22:00:00Z", anyone, nil, whole},
			{"a sale starts in an hour", "2024-05-30T11:00:00Z", anyone, nil, whole},
			{"a sale starts in 31 minutes", "2024-05-30T11:29:00Z", anyone, nil, whole},
			{"a sale starts in less", "2024-05-30T11:29:30Z", anyone, nil, "public, s-maxage=1800, stale-while-revalidate=30"},
			{"a sale starts in a quarter", "2024-05-30T11:45:00Z", anyone, nil, "public, s-maxage=900, stale-while-revalidate=0"},
			{"a sale ends in 10 seconds", "2024-05-30T12:59:50Z", anyone, nil, "public, s-maxage=10, stale-while-revalidate=0"},
			{"a sale ends now", "2024-05-30T12:59:59.999Z", anyone, nil, ask},
			{"a schedule starts in a minute", "2024-05-30T19:59:00Z", anyone, nil, "public, s-maxage=60, stale-while-revalidate=0"},
			{"a schedule ends in a minute", "2024-05-30T20:59:00Z", anyone, nil, "public, s-maxage=60, stale-while-revalidate=0"},
			{"the token expires", "2024-05-30T22:00:00Z", of(func(p *auth.Principal) { p.Expires = at("2024-05-30T22:05:00Z") }), nil,
				"public, s-maxage=300, stale-while-revalidate=0"},
			{"an account", "2024-05-30T22:00:00Z", of(func(p *auth.Principal) { p.AccountID = "acme" }), nil, private},
			{"account tags", "2024-05-30T22:00:00Z", of(func(p *auth.Principal) { p.AccountTags = []string{"gold"} }), nil, private},
			{"a customer", "2024-05-30T22:00:00Z", of(func(p *auth.Principal) { p.CustomerID = "bob" }), nil, private},
			{"a preview", "2024-05-30T22:00:00Z", anyone, []string{"Store-Catalog-Release", "1"}, private},
		} {
			clock.Set(at(test.at))
			for range 2 {
				for _, path := range []string{teaPage, teaNames} {
					w := s.page(test.who, path, test.headers...)
					require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
					require.Equal(t, []string{test.want}, w.Header()["Cache-Control"], "%s: %s", test.name, path)
					again := s.page(test.who, path, append(test.headers, "If-None-Match", w.Header().Get("Etag"))...)
					require.Equal(t, http.StatusNotModified, again.Code)
					require.Equal(t, []string{test.want}, again.Header()["Cache-Control"], "%s: %s", test.name, path)
				}
			}
		}
		require.Equal(t, ask, s.page(anyone, teaPage, "Prefer", "explain").Header().Get("Cache-Control"))
		for _, path := range []string{teaQuery, "/catalog", "/catalog/products/nothing", "/catalog/nowhere", "/v2/inventories", "/v2/settings", "/v2/files", "/v2/currencies",
			"/graphql?query=" + url.QueryEscape(`{ product(by: {id: "tea", slug: "tea"}) { name } }`), "/graphql?query=" + url.QueryEscape(`{ settings { currency } }`),
			"/graphql?query=" + url.QueryEscape(`{ product(by: {id: "tea"}) { name stock { available } } }`), "/graphql?query=" + url.QueryEscape(`{ nothing }`)} {
			require.Equal(t, never, s.page(anyone, path).Header().Get("Cache-Control"), path)
		}
		require.Equal(t, never, s.page(nil, teaPage).Header().Get("Cache-Control"), "401")
		require.Empty(t, s.send(t, http.MethodPost, "/graphql", `{"query":"{ catalogNode(by: {id: \"all\"}) { name } }"}`).Header().Get("Cache-Control"),
			"no cache stores the response to a POST without a lifetime")
	})
}

// TestVaryNamesWhatDecides: Vary names a header of the shopper only if a rule looks at it.
func TestVaryNamesWhatDecides(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		plain := strings.Split(strings.TrimSpace(freshShop), "\n")
		plain = slices.DeleteFunc(plain, func(line string) bool { return strings.Contains(line, `"catalog_rule"`) })
		s := openShop(t, e, strings.Join(plain, "\n"), withClock(testkit.NewClock(noon)))
		rule := func(members string) {
			storetest.Import(t, s.store, `{"type":"catalog_rule","id":"rule","attributes":{"name":"rule","catalog_id":"trade",`+members+`"created_at":"2024-01-01T00:00:00Z"}}`)
		}
		const always, tail = "Accept-Language", ", Store-Catalog-Release, X-Moltin-Currency, X-Moltin-Language"
		for _, test := range []struct {
			members    string
			want, anon string // between always and tail, without and with anonymous shoppers
		}{
			{"", ", Authorization", ""},
			{`"channels":["web"],`, ", Authorization, EP-Channel, Store-Channel", ", EP-Channel, Store-Channel"},
			{`"tags":["new"],`, ", Authorization, EP-Context-Tag, Store-Context-Tag", ", EP-Context-Tag, Store-Context-Tag"},
			{`"account_ids":["acme"],`, ", Authorization", ", Authorization"},
			{`"account_tag_ids":["gold"],`, ", Authorization", ", Authorization"},
			{`"customer_ids":["bob"],`, ", Authorization", ", Authorization"},
		} {
			if test.members != "" {
				rule(test.members)
			}
			for anonymous, want := range map[bool]string{false: test.want, true: test.anon} {
				policy := halfHour(t)
				policy.Anonymous = anonymous
				both := serveCaching(t, s.store, policy)
				require.Equal(t, []string{"Accept-Encoding, Prefer, " + always + want + tail}, both.page(admin(), teaPage).Header()["Vary"], test.members)
				require.Equal(t, []string{"Accept, Accept-Encoding, " + always + want + tail}, both.page(admin(), teaNames).Header()["Vary"], test.members)
				require.Contains(t, both.page(admin(), "/catalog/products/nothing").Header().Get("Vary"), "Authorization", "errors name all")
			}
		}
	})
}

// TestCacheTags: a response names its catalog, the release that it was made for, and what it was made from.
func TestCacheTags(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		s := openShop(t, e, strings.TrimSpace(freshShop), withClock(clock))
		for _, path := range []string{teaPage, teaNames} {
			require.Empty(t, s.page(admin(), path).Header().Get("Surrogate-Key"), "off by default")
		}
		for header, separator := range map[string]string{httpcache.SurrogateKey: " ", httpcache.CacheTag: ","} {
			policy := halfHour(t)
			policy.TagHeader = header
			tagged := serveCaching(t, s.store, policy)
			for _, path := range []string{teaPage, teaNames} {
				for shopper, catalog := range map[string]string{"": "main", "acme": "trade"} {
					p := admin()
					p.AccountID = shopper
					var first []string
					for range 2 {
						w := tagged.page(p, path)
						tags := strings.Split(w.Header().Get(header), separator)
						require.Equal(t, []string{"portico", "catalog-" + catalog}, tags[:2], path)
						require.Regexp(t, `^release-[0-9]+$`, tags[2])
						require.Greater(t, len(tags), 4)
						require.Regexp(t, `^[a-z2-7]{13}$`, tags[4])
						require.True(t, first == nil || slices.Equal(first, tags), "a stored response has the same")
						first = tags
						not := tagged.page(p, path, "If-None-Match", w.Header().Get("Etag"))
						require.Equal(t, http.StatusNotModified, not.Code)
						require.Equal(t, w.Header()[header], not.Header()[header])
					}
				}
			}
			require.Empty(t, tagged.page(admin(), "/catalog/products/nothing").Header().Get(header), "errors")
		}
	})
}

// TestAnonymousReads: with a client for it, requests without a token read catalogs, and nothing else.
func TestAnonymousReads(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, strings.TrimSpace(freshShop), withClock(testkit.NewClock(noon)))
		client, _, err := s.store.Access.CreateClient(t.Context(), storetest.Actor, "anonymous", []string{"catalog:read", "inventory:read"})
		require.NoError(t, err)
		tokens := newTokens(t, s.store)
		require.NoError(t, tokens.AnswerAnonymously(t.Context(), client.ID))
		policy := halfHour(t)
		policy.Anonymous = true
		open := tokens.Middleware(opctx.Middleware(serveCaching(t, s.store, policy).handler))
		send := func(method, path, body string, headers ...string) *httptest.ResponseRecorder {
			w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i+1 < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			open.ServeHTTP(w, r)
			return w
		}
		for _, path := range []string{teaPage, teaNames, "/catalog", "/catalog/products", "/catalog/products/tea", "/v2/files", "/v2/currencies"} {
			require.Equal(t, http.StatusOK, send(http.MethodGet, path, "").Code, path)
			require.Equal(t, s.page(admin(), path).Body.String(), send(http.MethodGet, path, "").Body.String(), path)
			require.Equal(t, http.StatusOK, send(http.MethodHead, path, "").Code, path)
		}
		require.Equal(t, "public, s-maxage=1800, stale-while-revalidate=60", send(http.MethodGet, teaPage, "").Header().Get("Cache-Control"))
		require.Contains(t, send(http.MethodPost, "/graphql", `{"query":"{ product(by: {id: \"tea\"}) { name } }"}`).Body.String(), `{"data":{"product":{"name":"Tea"}}}`)

		refused := serveStore(t, s.store).as(nil)
		for _, request := range [][3]string{
			{"GET", "/v2/inventories", ""}, {"GET", "/v2/settings", ""}, {"GET", "/v2/promotions", ""}, {"GET", "/v2/gateways", ""},
			{"GET", "/v2/inventories/tea", ""}, {"POST", "/v2/inventories/tea", `{"data":{"quantity":1}}`}, {"PUT", "/v2/settings", `{"data":{}}`},
			{"POST", "/catalog/products/tea/configure", `{"data":{"selected_options":{}}}`},
			{"POST", "/graphql", `{"query":"{ stock(productId: \"tea\") { available } }"}`}, {"POST", "/graphql", `{"query":"{ settings { currency } }"}`},
			{"POST", "/graphql", `{"query":"{ product(by: {id: \"tea\"}) { stock { available } } }"}`}, {"POST", "/graphql", `{"query":"{ __schema { types { name } } }"}`},
			{"POST", "/graphql", `{"query":"{ catalogs { nodes { id } } }"}`},
			{"POST", "/graphql", `{"query":"mutation { settingsUpdate(input: {pageLength: 7}) { settings { pageLength } } }"}`},
		} {
			want, r := httptest.NewRecorder(), httptest.NewRequest(request[0], request[1], strings.NewReader(request[2]))
			r.Header.Set("Content-Type", "application/json")
			refused.ServeHTTP(want, r)
			got := send(request[0], request[1], request[2])
			require.Contains(t, got.Body.String(), "Send the header Authorization: Bearer", request)
			require.Equal(t, want.Code, got.Code, request)
			if !strings.Contains(request[2], "product(") { // the product's name is no secret here
				require.Equal(t, want.Body.String(), got.Body.String(), request)
			}
		}
		require.Equal(t, http.StatusUnauthorized, send(http.MethodGet, teaPage, "", "Store-Catalog-Release", "1").Code, "previews")
		require.Equal(t, http.StatusUnauthorized, send(http.MethodGet, teaPage, "", "Authorization", "Bearer x").Code, "an invalid token is not anonymous")

		_, err = s.store.Access.RevokeClient(t.Context(), storetest.Actor, client.ID)
		require.NoError(t, err)
		for _, path := range []string{teaPage, "/catalog"} {
			require.Equal(t, http.StatusUnauthorized, send(http.MethodGet, path, "").Code, "the client was revoked")
		}
		_, err = e.SQL(t).Exec(`DELETE FROM api_client`)
		require.NoError(t, err)
		_, _, err = s.store.Access.CreateClient(t.Context(), storetest.Actor, "another", []string{"catalog:read"}) // announces a change
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, send(http.MethodGet, teaPage, "").Code, "and deleted")
	})
}
