package transport_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/graph/transport"
	"portico/internal/responsecache"
	"portico/store/storetest"
)

// The response has the cost only if the request asks for it: cached responses, with and without
// stock, mutations, introspection, refused operations and streams.
func TestCostExtension(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, costExtension)
}

func costExtension(t *testing.T, e storetest.Backend) {
	s := graphtest.Open(t, e, graphtest.Shop())
	for name, options := range map[string][]transport.Option{
		"kept": {transport.WithResponseCache(responsecache.NewCache(1 << 20))}, "not kept": nil, "gqlgen": {transport.WithoutPlans()},
	} {
		t.Run(name, func(t *testing.T) {
			bounds := limits.Defaults()
			bounds.Cost = 1000
			handler := graphtest.NewHandler(s.Store, append(options, transport.WithLimits(bounds))...)
			ask := func(method, query string, extensions, accept string) *httptest.ResponseRecorder {
				body, at := io.Reader(nil), "/graphql"
				if method == http.MethodPost {
					body = strings.NewReader(strings.TrimSuffix(postBody(query), "}") + `, "extensions": ` + extensions + `}`)
				} else {
					at += "?query=" + url.QueryEscape(query) + "&extensions=" + url.QueryEscape(extensions)
				}
				r, w := httptest.NewRequest(method, at, body), httptest.NewRecorder()
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", accept)
				handler.ServeHTTP(w, graphtest.As(r, graphtest.Admin()))
				return w
			}
			for _, test := range []struct {
				query string
				cost  int // about
			}{
				{`{ products(first: 7) { nodes { id name } } }`, 20},
				{`{ products(first: 7) { nodes { id stock { available } } } }`, 63},
				{`{ products(first: 7) { nodes { id } } settings { pageLength } gone: product(by: {id: "nonsense"}) { id } }`, 28},
				{`{ __schema { queryType { name } } }`, 35},
				{`mutation { settingsUpdate(input: {pageLength: 26}) { settings { pageLength } } }`, 25},
				{`{ catalogNodes(first: 100) { nodes { products(first: 100) { nodes { id } } } } }`, 21_306},
			} {
				methods := []string{http.MethodPost, http.MethodGet}
				if strings.HasPrefix(test.query, "mutation") {
					methods = methods[:1]
				}
				for _, method := range methods {
					var without, with string
					for i := range 4 { // in turns, so that each could find the other's
						if i%2 == 0 {
							without = ask(method, test.query, `{}`, "").Body.String()
							require.NotContains(t, without, `"extensions":{"cost"`, test.query)
							continue
						}
						w := ask(method, test.query, `{"cost": true}`, "")
						with = w.Body.String()
						var answer struct {
							Data       any
							Extensions struct{ Cost limits.Cost }
						}
						require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), with)
						require.InDelta(t, test.cost, answer.Extensions.Cost.Requested, float64(test.cost)/2+3, "%s: %s", test.query, with)
						require.Equal(t, 1000, answer.Extensions.Cost.Limit)
						require.Equal(t, test.cost < 1000, answer.Data != nil)
					}
					require.NotEqual(t, without, with)
				}
			}
			for _, other := range []string{`{"cost": false}`, `{"cost": "true"}`, `{"cost": 1}`} {
				require.NotContains(t, ask(http.MethodPost, `{ products(first: 7) { nodes { id name } } }`, other, "").Body.String(), `"extensions"`)
			}
			require.Contains(t, ask(http.MethodPost, `{ products(first: 7) { nodes { id name } } }`, `{"cost": true}`, "text/event-stream").Body.String(), `"extensions":{"cost":{"requested":`)
		})
	}
}

// Other extensions of a response remain, with and without the cost.
func TestCostExtensionKeepsOtherExtensions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		const query = `mutation { settingsUpdate(input: {pageLength: 26}) { settings { pageLength } } }`
		for i, extensions := range []string{`{}`, `{"cost": true}`, `{}`, `{"cost": true}`} {
			body := strings.TrimSuffix(postBody(query), "}") + `, "extensions": ` + extensions + `}`
			r, w := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body)), httptest.NewRecorder()
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", "once")
			s.Handler.ServeHTTP(w, graphtest.As(r, graphtest.Admin()))
			require.Equal(t, extensions != `{}`, strings.Contains(w.Body.String(), `"cost":{"requested":`), "%s", w.Body)
			require.Equal(t, i > 0, strings.Contains(w.Body.String(), `"idempotentReplay":["settingsUpdate"]`), "%s", w.Body)
		}
	})
}

// A response to a shopper in whose currency the catalog has no prices says so: cached, with the cost, with errors, and over streams.
func TestResponsesSayThatACurrencyHasNoPrices(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for name, options := range map[string][]transport.Option{
			"kept": {transport.WithResponseCache(responsecache.NewCache(1 << 20))}, "not kept": nil, "gqlgen": {transport.WithoutPlans()},
		} {
			t.Run(name, func(t *testing.T) {
				handler := graphtest.NewHandler(s.Store, options...)
				ask := func(query, extensions, currency, accept string) string {
					r, w := httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(query)+"&extensions="+url.QueryEscape(extensions), nil), httptest.NewRecorder()
					r.Header.Set("X-Moltin-Currency", currency)
					r.Header.Set("Accept", accept)
					handler.ServeHTTP(w, graphtest.As(r, graphtest.Admin()))
					require.Equal(t, http.StatusOK, w.Code, w.Body)
					return w.Body.String()
				}
				const query, warning = `{ product(by: {id: "anvil"}) { uuid price { money { amount } } stock { total } } }`, "The catalog has no prices in the currency of X-Moltin-Currency."
				plain := ask(query, `{}`, "USD", "")
				require.NotContains(t, plain, "extensions")
				for range 3 {
					for _, currency := range []string{"QQQ", "ZZZ"} {
						require.Regexp(t, `^\{"data":\{"product":\{"uuid":"anvil","price":null,"stock":.*\}\},"extensions":\{"warnings":\[\{"message":"The catalog has no .*"\}\]\}\n?\}\n?$`,
							ask(query, `{}`, currency, ""))
						var answer struct {
							Data       struct{ Product *struct{ UUID string } }
							Errors     []any
							Extensions struct {
								Cost     *limits.Cost
								Warnings []struct{ Message string }
							}
						}
						require.NoError(t, json.Unmarshal([]byte(ask(query, `{"cost": true}`, currency, "")), &answer))
						require.NotNil(t, answer.Extensions.Cost)
						require.Contains(t, answer.Extensions.Warnings[0].Message, warning)
						require.Equal(t, "anvil", answer.Data.Product.UUID)
						failing := ask(`{ product(by: {id: "anvil"}) { uuid } products(first: -1) { totalCount } }`, `{}`, currency, "application/json")
						require.Contains(t, failing, `"errors"`)
						require.Contains(t, ask(query, `{}`, currency, "text/event-stream"), warning)
					}
					require.Equal(t, plain, ask(query, `{}`, "USD", ""), "another shopper")
				}
				require.NotContains(t, ask(`{ __typename }`, `{}`, "QQQ", ""), "extensions", "it reads no catalog")
			})
		}
	})
}
