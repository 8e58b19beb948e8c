package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// offers is the shop with the rules of AdventureWorks: a default rule, and one for the mobile
// channel and the tag clearance.
func offers() string {
	return shopFile() + "\n" + `{"type":"catalog_rule","id":"offers","attributes":{"name":"mobile-offers","catalog_id":"outlet","channels":["mobile"],"tags":["clearance"],"created_at":"2023-02-03T00:00:00.000Z"}}`
}

// clearance are the headers that match the second rule.
var clearance = []string{"Store-Channel", "mobile", "Store-Context-Tag", "clearance"}

// explanation is the decoded header Store-Catalog-Resolution.
type explanation struct {
	Reason     string `json:"reason"`
	Catalog    string `json:"catalog"`
	Release    string `json:"release"`
	Rule       string `json:"rule"`
	Candidates []struct {
		Rule    string   `json:"rule"`
		Catalog string   `json:"catalog"`
		Score   int      `json:"score"`
		Matched []string `json:"matched"`
		Missed  []string `json:"missed"`
		Dropped string   `json:"dropped"`
	} `json:"candidates"`
	More int `json:"more"`
}

func explained(t *testing.T, w *httptest.ResponseRecorder) (x explanation) {
	t.Helper()
	require.Equal(t, "explain", w.Header().Get("Preference-Applied"))
	line := w.Header().Get("Store-Catalog-Resolution")
	require.LessOrEqual(t, len(line), 4096)
	require.NoError(t, json.Unmarshal([]byte(line), &x), line)
	return x
}

func TestPreferExplain(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, offers(), withClock(testkit.NewClock(noon)))
		for prefer, want := range map[string]bool{
			"explain": true, "Explain": true, "respond-async, explain; detail=full": true, "explain=yes": true,
			"": false, "explained": false, "return=minimal": false, "return=explain": false,
		} {
			w := s.send(t, http.MethodGet, productsOf("tools"), "", "Prefer", prefer)
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, want, w.Header().Get("Store-Catalog-Resolution") != "", "%q", prefer)
			require.Equal(t, want, w.Header().Get("Preference-Applied") != "", "%q", prefer)
			require.Contains(t, w.Header().Get("Vary"), "Prefer")
		}
		tools := s.send(t, http.MethodGet, productsOf("tools"), "", append(clearance, "Prefer", "explain")...)
		require.Equal(t, http.StatusNotFound, tools.Code, "a node of the main catalog: %s", tools.Body)
		require.Equal(t, "outlet", explained(t, tools).Catalog, "the explanation of the 404")
		require.Empty(t, s.send(t, http.MethodGet, "/v2/inventories", "", "Prefer", "explain").Header().Get("Store-Catalog-Resolution"),
			"stock does not depend on a catalog")
		t.Run("a storefront sees no rules", func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, productsOf("tools"), nil)
			r.Header.Set("Prefer", "explain")
			w := httptest.NewRecorder()
			s.as(&auth.Principal{ClientID: "c", Scopes: []string{"catalog:read"}}).ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code)
			require.Empty(t, w.Header().Get("Store-Catalog-Resolution"))
			require.Empty(t, w.Header().Get("Preference-Applied"))
		})
		t.Run("a client without the scope", func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, productsOf("tools"), nil)
			r.Header.Set("Prefer", "explain")
			w := httptest.NewRecorder()
			s.as(nil).ServeHTTP(w, r)
			require.Equal(t, http.StatusUnauthorized, w.Code)
			require.Empty(t, w.Header().Get("Store-Catalog-Resolution"))
		})
	})
}

// TestExplainMatchesCatalogResolution compares the header with GraphQL's catalogResolution.
func TestExplainMatchesCatalogResolution(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, offers(), withClock(testkit.NewClock(noon)))
		for _, headers := range [][]string{nil, clearance, {"EP-Channel", "mobile"}, {"EP-Channel", "web", "EP-Context-Tag", "clearance"}} {
			x := explained(t, s.send(t, http.MethodGet, productsOf("sale"), "", append(headers, "Prefer", "explain")...))
			w := s.send(t, http.MethodPost, "/graphql",
				`{"query":"{ catalogResolution { reason release { uuid catalogUuid } rule { uuid } candidates { rule { uuid catalog { uuid } } score missed dropped } } }"}`,
				headers...)
			var answer struct {
				Data struct {
					CatalogResolution struct {
						Reason     string
						Release    struct{ UUID, CatalogUUID string }
						Rule       struct{ UUID string }
						Candidates []struct {
							Rule struct {
								UUID    string
								Catalog struct{ UUID string }
							}
							Score, Missed int
							Dropped       string
						}
					}
				}
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), "%s", w.Body)
			q := answer.Data.CatalogResolution
			require.Equal(t, []string{q.Reason, q.Release.CatalogUUID, q.Release.UUID, q.Rule.UUID},
				[]string{strings.ToUpper(x.Reason), x.Catalog, x.Release, x.Rule})
			require.Len(t, x.Candidates, len(q.Candidates))
			for i, c := range x.Candidates {
				require.Equal(t, fmt.Sprint(q.Candidates[i].Rule.UUID, q.Candidates[i].Rule.Catalog.UUID, q.Candidates[i].Score, q.Candidates[i].Dropped),
					fmt.Sprint(c.Rule, c.Catalog, c.Score, strings.ToUpper(c.Dropped)))
			}
		}
	})
}

// TestExplainHeaderIsBounded requires a header that proxies accept, with any number of rules.
func TestExplainHeaderIsBounded(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		lines := []string{offers()}
		for i := range 300 {
			lines = append(lines, fmt.Sprintf(`{"type":"catalog_rule","id":"rule-%03d-%s","attributes":{"name":"R","catalog_id":"main","channels":["c%d"]}}`, i, strings.Repeat("x", 40), i))
		}
		s := openShop(t, e, strings.Join(lines, "\n"), withClock(testkit.NewClock(noon)))
		x := explained(t, s.send(t, http.MethodGet, productsOf("sale"), "", append(clearance, "Prefer", "explain")...))
		require.Equal(t, "offers", x.Rule)
		require.Greater(t, len(x.Candidates), 20)
		require.Equal(t, 303, len(x.Candidates)+x.More)
	})
}
