package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// separators are texts that keys were, or might be, joined with. The quick tests take the first ones.
var separators = []string{" ", ",", `" "`, `"]):in(sku,["`, "):lt(id,", "=", ":", "\x1f", "", ";", "?", "@", "~", "/", "|", "+", ".", "*", "·", "(", ")", "\t",
	"\n", "\u00a0", `"`, `\`, "):", "search(", "%00", "$USD", "?in(tags,[", "\x02", "\x03"}

// hostilePair is a request of a public token, and one of another that must not get its response.
type hostilePair struct{ hostile, honest string }

// hostilePairs returns requests whose texts join to the same as those of honest ones.
func hostilePairs(separators []string) (pairs []hostilePair) {
	post := func(query string, values ...any) string {
		return fmt.Sprintf(`{"query":%q,"variables":%s}`, query, store.Encode(map[string]any{"v": values}))
	}
	lists := map[string][2]string{ // of texts; $v is the list
		`($v: [ID!]!) { products(filter: {catalogNodeIds: $v}) { totalCount nodes { uuid } facets { groups(keys: ["tags"]) { values { value count } } } } }`: {"paints", "tools"},
		`($v: [ID!]!) { products(filter: {catalogNodeIds: $v, tags: {in: ["paint"]}}) { totalCount nodes { uuid } } }`:                                       {"paints", "tools"},
		`($v: [String!]!) { products(filter: {tags: {in: $v}}) { totalCount nodes { uuid } facets { minPrice { amount } } } }`:                               {"paint", "heavy"},
		`($v: [String!]!) { products(filter: {sku: {in: $v}}, orderBy: {field: PRICE}) { totalCount nodes { uuid } } }`:                                      {"GLUE", "ANVIL"},
		`($v: [ID!]!) { products(filter: {ids: $v}, orderBy: {field: NAME}) { totalCount nodes { uuid } pageInfo { endCursor } } }`:                          {"anvil", "brush"},
		`($v: [String!]!) { products(filter: {or: [{tags: {in: $v}}, {not: {tags: {in: $v}}, sku: {in: $v}}]}) { totalCount nodes { uuid } } }`:              {"paint", "heavy"},
		`($v: [ID!]!) { catalogNodes(filter: {ids: $v}) { totalCount nodes { uuid } pageInfo { endCursor } } }`:                                              {"paints", "tools"},
		`($v: [String!]!) { product(by: {id: "anvil"}) { attributes(keys: $v) { key } same: attributes(keys: ["a", "b"]) { key } } }`:                        {"a", "b"},
	}
	for query, honest := range lists {
		for _, separator := range separators {
			for _, texts := range [][]any{{honest[0] + separator + honest[1]}, {honest[0] + separator, honest[1]}, {honest[0], separator + honest[1]}, {honest[0], separator, honest[1]}} {
				pairs = append(pairs, hostilePair{post("query"+query, texts...), post("query"+query, honest[0], honest[1])})
			}
		}
	}
	bounds := func(bounds string) string {
		return post(fmt.Sprintf(`{ products(filter: {bounds: {id: {%s}}}, orderBy: {field: ID}) { totalCount nodes { uuid } } }`, bounds))
	}
	for _, operator := range []string{"gt", "ge", "lt", "le"} {
		for _, other := range []string{"gt", "ge", "lt", "le"} {
			for _, mark := range []string{"=", ">", "<", ">=", " ", ","} {
				pairs = append(pairs, hostilePair{bounds(operator + `: "` + mark + `chalk"`), bounds(other + `: "chalk"`)})
			}
		}
	}
	for _, operator := range []string{"gt", "ge"} {
		for _, separator := range separators {
			for _, second := range []string{"lt", "le"} {
				quoted := strings.Trim(string(store.Encode("anvil"+separator+"glue")), `"`)
				pairs = append(pairs, hostilePair{bounds(operator + `: "` + quoted + `"`), bounds(operator + `: "anvil", ` + second + `: "glue"`)},
					hostilePair{bounds(fmt.Sprintf(`%s: "anvil):%s(id,glue"`, operator, second)), bounds(operator + `: "anvil", ` + second + `: "glue"`)})
			}
		}
	}
	filter := func(filter string) string {
		return post(fmt.Sprintf(`{ products(filter: {%s}) { totalCount nodes { uuid } facets { groups(keys: ["tags"]) { values { value count } } } } }`, filter))
	}
	const paint, heavy = `{tags: {eq: "paint"}}`, `{tags: {eq: "heavy"}}`
	shapes := []string{`not: ` + paint, `or: [` + paint + `]`, `or: [` + paint + `, ` + heavy + `]`, `not: {or: [` + paint + `, ` + heavy + `]}`, `or: [{not: ` + paint + `}, ` + heavy + `]`,
		`or: [` + paint + `, {not: ` + heavy + `}]`, `and: [{or: [` + paint + `]}, {or: [` + heavy + `]}]`, `not: {and: [` + paint + `, ` + heavy + `]}`, `not: ` + paint + `, and: [{not: ` + heavy + `}]`,
		`onSale: true`, `onSale: false`, `tags: {eq: "on_sale"}`, `not: {not: ` + paint + `}`, `not: {}`, `or: [{}]`, `onSale: true, tags: {eq: "true"}`}
	for _, hostile := range shapes {
		for _, honest := range shapes {
			pairs = append(pairs, hostilePair{filter(hostile), filter(honest)})
		}
	}
	search := func(text string) string {
		return post(fmt.Sprintf(`{ products(filter: {search: %q}) { totalCount correctedTo nodes { uuid } } searchSuggestions(text: %q) { didYouMean } }`, text, text))
	}
	for _, word := range []string{"brsh", "anvl", "glue"} {
		for _, hostile := range []string{word + " " + word, word + " " + word + " " + word, word + "*", word + "|" + word, word + " the " + word, strings.ToUpper(word) + " " + word} {
			pairs = append(pairs, hostilePair{search(hostile), search(word)}, hostilePair{search(hostile + " " + word), search(hostile)})
		}
	}
	for _, separator := range separators {
		rest := func(text string) string { return "/catalog/products?filter=" + url.QueryEscape(text) }
		pairs = append(pairs, hostilePair{rest("in(tags,paint" + separator + "heavy)"), rest("in(tags,paint,heavy)")},
			hostilePair{rest(`in(tags,"paint` + separator + `heavy")`), rest("in(tags,paint,heavy)")},
			hostilePair{rest(`gt(id,"=` + separator + `chalk")`), rest("lt(id,chalk)")},
			hostilePair{"/catalog/products?" + separator + "filter=eq(tags,paint)", "/catalog/products?filter=eq(tags,paint)"})
	}
	return pairs
}

// TestHostileTextsShareNoCacheEntry sends requests with texts that contain separators, operators, quotes, brackets and
// spaces by one public token, then honest ones by another, and compares each response of a server with caches with that
// of a server without any.
func TestHostileTextsShareNoCacheEntry(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		cached := openShop(t, e, shopFile(), withClock(clock))
		plain := serveWithoutCache(t, e.Open(t, withClock(clock), func(config *shop.Config) { config.NoCache = true }))
		send := func(s *testServer, client, request string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(request))
			r.Header.Set("Content-Type", "application/json")
			if !strings.HasPrefix(request, "{") {
				r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
				r.URL.Path, r.URL.RawQuery, _ = strings.Cut(request, "?")
				r.RequestURI = request
			}
			w := httptest.NewRecorder()
			s.as(&auth.Principal{ClientID: client, Grant: auth.GrantImplicit, Scopes: []string{"catalog:read"}}).ServeHTTP(w, r)
			return w
		}
		answered, found := map[string]*httptest.ResponseRecorder{}, 0
		for _, pair := range hostilePairs(separators[:testkit.QuickOrFull(8, len(separators))]) {
			hostile := send(cached, "hostile", pair.hostile)
			require.Equal(t, send(plain, "hostile", pair.hostile).Body.String(), hostile.Body.String(), pair.hostile)
			want := answered[pair.honest]
			if want == nil {
				want = send(plain, "honest", pair.honest)
				answered[pair.honest] = want
				require.NotContains(t, want.Body.String(), `"errors"`, pair.honest)
				if strings.Contains(want.Body.String(), "uuid") || strings.Contains(want.Body.String(), `"id"`) {
					found++
				}
			}
			got := send(cached, "honest", pair.honest)
			require.Equal(t, want.Code, got.Code, "%s after %s", pair.honest, pair.hostile)
			require.Equal(t, want.Body.String(), got.Body.String(), "%s after %s", pair.honest, pair.hostile)
		}
		require.Greater(t, found, len(answered)/2, "the honest requests find something")
		for request := range answered { // and once more by the one who poisoned
			require.Equal(t, answered[request].Body.String(), send(cached, "hostile", request).Body.String(), request)
		}
	})
}
