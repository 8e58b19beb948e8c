package rest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store/storetest"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden.json with what is answered")

// golden is a documented example: its answer is testdata/name.golden.json,
// byte for byte but for the indentation.
type golden struct {
	name, method, path, body string
	headers                  []string // in pairs
	status                   int
}

func (g golden) run(t *testing.T, s *surface) {
	t.Run(g.name, func(t *testing.T) {
		w := s.send(t, g.method, g.path, g.body, g.headers...)
		require.Equal(t, g.status, w.Code, "%s", w.Body)
		requireJSON(t, g.path, w)
		requireGolden(t, g.name, w.Body.Bytes())
	})
}

func requireGolden(t *testing.T, name string, body []byte) {
	t.Helper()
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, body, "", "  "))
	indented.WriteByte('\n')
	path := filepath.Join("testdata", name+".golden.json")
	if *update {
		require.NoError(t, os.WriteFile(path, indented.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	require.Equal(t, string(want), indented.String(), "run the test with -update if this is how it should be")
}

const everything = "component_products,main_image,files"

func TestTheDocumentedExamples(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		s := open(t, e, shop(), at(storetest.NewClock(noon)))
		for _, g := range []golden{
			{"node_products", "GET", productsOf("hand-tools"), "", nil, 200},
			{"node_products_page", "GET", productsOf("tools") + "?page[limit]=2&page[offset]=2", "", nil, 200},
			{"node_products_curated", "GET", productsOf("tools") + "?page[limit]=3", "", nil, 200},
			{"node_products_include", "GET", productsOf("tools") + "?include=" + everything, "", nil, 200},
			{"node_products_empty", "GET", productsOf("empty"), "", nil, 200},
			{"node_products_empty_include", "GET", productsOf("empty") + "?include=" + everything, "", nil, 200},
			{"node_products_hierarchy", "GET", productsOf("workshop"), "", nil, 200},
			{"node_products_filter_eq", "GET", productsOf("tools") + "?filter=eq(sku,ANVIL)", "", nil, 200},
			{"node_products_filter_ids", "GET", productsOf("tools") + "?filter=in(id,jar,chalk,kit)&include=component_products", "", nil, 200},
			{"node_products_sorted", "GET", productsOf("tools") + "?sort=-updated_at&page[limit]=1", "", nil, 200},
			{"node_products_french", "GET", productsOf("hand-tools") + "?filter=eq(sku,BRUSH)", "", []string{"Accept-Language", "fr"}, 200},
			{"node_products_euro", "GET", productsOf("tools") + "?filter=eq(sku,ANVIL)", "", []string{"X-Moltin-Currency", "EUR"}, 200},
			{"stocks", "GET", "/v2/inventories", "", nil, 200},
			{"stocks_page", "GET", "/v2/inventories?page[limit]=1&page[offset]=1", "", nil, 200},
			{"stocks_sorted", "GET", "/v2/inventories?sort=updated_at&page[limit]=1", "", nil, 200},
			{"settings", "GET", "/v2/settings", "", nil, 200},
			{"gateways", "GET", "/v2/gateways", "", nil, 200},
			{"gateway", "GET", "/v2/gateways/manual", "", nil, 200},
			{"gateway_put", "PUT", "/v2/gateways/card_processor", `{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"p","test":true}}`, nil, 200},
			{"gateway_put_partial", "PUT", "/v2/gateways/card_processor", `{"data":{"type":"gateway","name":"","slug":"","enabled":false}}`, nil, 200},
			{"settings_put", "PUT", "/v2/settings", `{"data":{"type":"settings","page_length":70}}`, nil, 200},
		} {
			g.run(t, s)
		}
	})
}

func TestAStoreWithoutStockListsNone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		s := open(t, e, "", at(storetest.NewClock(noon)))
		golden{"stocks_empty", "GET", "/v2/inventories", "", nil, 200}.run(t, s)
		golden{"error_catalog_404_nothing_published", "GET", productsOf("tools"), "", nil, 404}.run(t, s)
	})
}

func TestTheErrorsOfEachFamily(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		s := open(t, e, shop(), at(storetest.NewClock(noon)))
		tools := productsOf("tools")
		for _, g := range []golden{
			{"error_catalog_400_filter", "GET", tools + "?filter=eq(sku", "", nil, 400},
			{"error_catalog_400_limit", "GET", tools + "?page[limit]=abc", "", nil, 400},
			{"error_catalog_404_node", "GET", productsOf("nowhere"), "", nil, 404},
			{"error_catalog_404_path", "GET", "/catalog/nowhere", "", nil, 404},
			{"error_catalog_405", "POST", tools, "{}", nil, 405},
			{"error_catalog_422_limit", "GET", tools + "?page[limit]=101", "", nil, 422},
			{"error_catalog_422_offset", "GET", tools + "?page[offset]=10001", "", nil, 422},
			{"error_400_filter", "GET", "/v2/inventories?filter=gt(id", "", nil, 400},
			{"error_400_limit", "GET", "/v2/inventories?page[limit]=abc", "", nil, 400},
			{"error_404_gateway", "GET", "/v2/gateways/stripe", "", nil, 404},
			{"error_422_gateway", "PUT", "/v2/gateways/card_processor", `{"data":{"merchant_id":"","password":""}}`, nil, 422},
			{"error_400_body", "PUT", "/v2/settings", "{", nil, 400},
			{"error_404_path", "GET", "/v2/nowhere", "", nil, 404},
			{"error_405", "DELETE", "/v2/inventories", "", nil, 405},
			{"error_413", "PUT", "/v2/settings", strings.Repeat(" ", 4<<20) + "{}", nil, 413},
			{"error_422_limit", "GET", "/v2/inventories?page[limit]=101", "", nil, 422},
			{"error_422_offset", "GET", "/v2/inventories?page[offset]=10001", "", nil, 422},
			{"error_422_shopper_token", "POST", "/v2/shopper-tokens", `{"data":{"type":"shopper_token","account_tags":["a","\u0000"],"expires_in":86401}}`, nil, 422},
			{"error_422_settings", "PUT", "/v2/settings", `{"data":{"page_length":0,"currency":"dollars","locale":"!"}}`, nil, 422},
		} {
			g.run(t, s)
		}
		poor := &auth.Principal{ClientID: "poor", Scopes: []string{"checkout:write"}}
		for _, refused := range []struct {
			name, path string
			who        *auth.Principal
			status     int
		}{
			{"error_catalog_401", tools, nil, 401},
			{"error_catalog_403", tools, poor, 403},
			{"error_401", "/v2/inventories", nil, 401},
			{"error_403", "/v2/inventories", poor, 403},
		} {
			t.Run(refused.name, func(t *testing.T) {
				w := ask(s.as(refused.who), http.MethodGet, refused.path)
				require.Equal(t, refused.status, w.Code, "%s", w.Body)
				requireJSON(t, refused.path, w)
				requireGolden(t, refused.name, w.Body.Bytes())
			})
		}
	})
}

// What the caller cannot mend says nothing of the inside.
func TestTheErrorsOfTheServer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Run("a damaged database", func(t *testing.T) {
			s := open(t, e, shop(), at(storetest.NewClock(noon)))
			for _, table := range []string{"release_list", "stock_transaction", "stock"} {
				_, err := e.SQL(t).Exec("DROP TABLE " + table)
				require.NoError(t, err)
			}
			golden{"error_catalog_500", "GET", productsOf("tools"), "", nil, 500}.run(t, s)
			golden{"error_500", "GET", "/v2/inventories", "", nil, 500}.run(t, s)
		})
		t.Run("a server that shuts down", func(t *testing.T) {
			s := open(t, e, shop(), at(storetest.NewClock(noon)))
			require.NoError(t, s.store.Close())
			golden{"error_catalog_503", "GET", productsOf("tools"), "", nil, 503}.run(t, s)
			golden{"error_503", "GET", "/v2/inventories", "", nil, 503}.run(t, s)
			w := s.send(t, http.MethodGet, "/v2/inventories", "")
			require.NotEmpty(t, w.Header().Get("Retry-After"), "when to try again")
		})
	})
}
