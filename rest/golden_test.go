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
	"portico/rest/resttest"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

var updateGolden = flag.Bool("update", false, "rewrite testdata/*.golden.json with the responses")

// goldenCase is a documented example. testdata/name.golden.json is its response, byte for byte
// except for the indentation and for cursors.
type goldenCase struct {
	name, method, path, body string
	headers                  []string // alternating names and values
	status                   int
}

func (g goldenCase) run(t *testing.T, s *testServer) {
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
	got := resttest.SignedCursor.ReplaceAllString(indented.String(), "${1}CURSOR")
	path := filepath.Join("testdata", name+".golden.json")
	if *updateGolden {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to create it")
	require.Equal(t, string(want), got, "run the test with -update if the change is intended")
}

const allIncludes = "component_products,main_image,files"

func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, g := range []goldenCase{
			{"node_products", "GET", productsOf("hand-tools"), "", nil, 200},
			{"node_products_page", "GET", productsOf("tools") + "?page[limit]=2&page[offset]=2", "", nil, 200},
			{"node_products_curated", "GET", productsOf("tools") + "?page[limit]=3", "", nil, 200},
			{"node_products_include", "GET", productsOf("tools") + "?include=" + allIncludes, "", nil, 200},
			{"node_products_empty", "GET", productsOf("empty"), "", nil, 200},
			{"node_products_empty_include", "GET", productsOf("empty") + "?include=" + allIncludes, "", nil, 200},
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
			{"gateway_put", "PUT", "/v2/gateways/card_processor",
				`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"p","test":true}}`, nil, 200},
			{"gateway_put_partial", "PUT", "/v2/gateways/card_processor", `{"data":{"type":"gateway","name":"","slug":"","enabled":false}}`,
				nil, 200},
			{"settings_put", "PUT", "/v2/settings", `{"data":{"type":"settings","page_length":70}}`, nil, 200},
		} {
			g.run(t, s)
		}
	})
}

func TestUnknownCatalogPaths(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, g := range []goldenCase{
			{"catalog", "GET", "/catalog", "", nil, 200},
			{"hierarchies", "GET", "/catalog/hierarchies", "", nil, 200},
			{"hierarchies_none", "GET", "/catalog/hierarchies?filter=eq(name,Nobody)", "", nil, 200},
			{"hierarchy", "GET", "/catalog/hierarchies/workshop", "", nil, 200},
			{"hierarchy_children", "GET", "/catalog/hierarchies/workshop/children?page[limit]=1", "", nil, 200},
			{"hierarchy_nodes", "GET", "/catalog/hierarchies/workshop/nodes/", "", nil, 200},
			{"hierarchy_products", "GET", "/catalog/hierarchies/seasons/products", "", nil, 200},
			{"nodes", "GET", "/catalog/nodes?page%5Blimit%5D=2&page%5Boffset%5D=1", "", nil, 200},
			{"nodes_filter_ids", "GET", "/catalog/nodes?filter=in(id,tools,nowhere,workshop)", "", nil, 200},
			{"nodes_sorted", "GET", "/catalog/nodes?sort=-name&page[limit]=1", "", nil, 200},
			{"node", "GET", "/catalog/nodes/hand-tools", "", nil, 200},
			{"node_children", "GET", "/catalog/nodes/tools/relationships/children", "", nil, 200},
			{"node_children_none", "GET", "/catalog/nodes/empty/relationships/children", "", nil, 200},
			{"products", "GET", "/catalog/products?page[limit]=2", "", nil, 200},
			{"product", "GET", "/catalog/products/kit?include=component_products,main_image,files", "", nil, 200},
			{"product_children", "GET", "/catalog/products/easel/relationships/children", "", nil, 200},
			{"product_children_none", "GET", "/catalog/products/anvil/relationships/children?include=files", "", nil, 200},
			{"product_component_products", "GET", "/catalog/products/kit/relationships/component_products", "", nil, 200},
			{"error_catalog_400_nodes", "GET", "/catalog/nodes?filter=eq(sku,A)", "", nil, 400},
			{"error_catalog_400_nodes_sort", "GET", "/catalog/nodes?sort=sku", "", nil, 400},
			{"error_catalog_404_hierarchy", "GET", "/catalog/hierarchies/tools", "", nil, 404},
			{"error_catalog_404_product", "GET", "/catalog/products/drill-draft", "", nil, 404},
			{"product_configured", "POST", "/catalog/products/kit/configure?include=component_products",
				`{"data":{"selected_options":{"wood":{"frame":3}}}}`, nil, 200},
			{"files", "GET", "/v2/files?page[limit]=1", "", nil, 200},
			{"files_by_id", "GET", "/v2/files?filter=in(id,photo-2,nobody,photo-1)", "", nil, 200},
			{"files_none", "GET", "/v2/files?filter=in(id,nobody)", "", nil, 200},
			{"file", "GET", "/v2/files/photo-1", "", nil, 200},
			{"currencies", "GET", "/v2/currencies", "", nil, 200},
			{"currencies_french", "GET", "/v2/currencies", "", []string{"Accept-Language", "fr"}, 200},
			{"currency", "GET", "/v2/currencies/EUR/", "", nil, 200},
			{"error_400_files", "GET", "/v2/files?filter=eq(file_name,a)", "", nil, 400},
			{"error_404_file", "GET", "/v2/files/nobody", "", nil, 404},
			{"error_404_currency", "GET", "/v2/currencies/usd", "", nil, 404},
			{"error_catalog_422_configure_none", "POST", "/catalog/products/kit/configure", `{"data":{}}`, nil, 422},
			{"error_catalog_404_configure", "POST", "/catalog/products/nobody/configure", `{"data":{"selected_options":{}}}`, nil, 404},
			{"error_catalog_422_configure", "POST", "/catalog/products/kit/configure",
				`{"data":{"selected_options":{"wood":{"anvil":1},"metal":{}}}}`, nil, 422},
			{"error_catalog_405_products", "DELETE", "/catalog/products/kit", "", nil, 405},
			{"error_catalog_422_nodes", "GET", "/catalog/nodes?page[limit]=0", "", nil, 422},
		} {
			g.run(t, s)
		}
	})
}

func TestUnknownStockPaths(t *testing.T) {
	t.Parallel()
	locations := []string{"EP-Inventories-Multi-Location", "true"}
	const anvil = "/v2/inventories/anvil"
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, g := range []goldenCase{
			{"stock", "GET", anvil + "/", "", nil, 200},
			{"stock_locations", "GET", anvil, "", locations, 200},
			{"stocks_locations", "GET", "/v2/inventories?page[limit]=2", "", locations, 200},
			{"locations", "GET", "/v2/inventories/locations", "", nil, 200},
			{"error_404_post_to_a_name", "POST", "/v2/inventories/transactions", `{"data":{"quantity":1}}`, nil, 404},
			{"error_405_locations", "POST", "/v2/inventories/locations",
				`{"data":{"type":"inventory_location","attributes":{"name":"Berlin"}}}`, nil, 405},
			{"error_422_stock_of_a_name", "POST", "/v2/inventories", `{"data":{"id":"locations","quantity":1}}`, nil, 422},
			{"stocks_multiple", "POST", "/v2/inventories/multiple",
				`{"data":[{"id":"chalk"},{"id":"nobody"},{"id":"anvil"},{"id":"chalk"}]}`, nil, 200},
			{"stocks_multiple_locations", "POST", "/v2/inventories/multiple", `{"data":[{"id":"brush"}]}`, locations, 200},
			{"stocks_multiple_none", "POST", "/v2/inventories/multiple", `{"data":[]}`, nil, 200},
			{"stock_post", "POST", "/v2/inventories/glue", `{"data":{"quantity":10}}`, nil, 201},
			{"stock_post_locations", "POST", "/v2/inventories",
				`{"data":{"type":"stock","id":"nails","attributes":{"locations":{"default":{"available":10}}}}}`, locations, 201},
			{"stock_transactions", "GET", anvil + "/transactions?page[limit]=2", "", nil, 200},
			{"stock_transactions_locations", "GET", anvil + "/transactions?page[limit]=1&sort=created_at", "", locations, 200},
			{"stock_transactions_none", "GET", "/v2/inventories/chalk/transactions?filter=gt(created_at,2100-01-01)", "", nil, 200},
			{"stock_transaction", "GET", anvil + "/transactions/ledger-5", "", nil, 200},
			{"error_400_multiple", "POST", "/v2/inventories/multiple", `{"data":{"id":"anvil"}}`, nil, 400},
			{"error_400_transaction", "POST", anvil + "/transactions", `{"data":{"action":"eat","quantity":1}}`, nil, 400},
			{"error_422_transaction_quantity", "POST", anvil + "/transactions", `{"data":{"action":"set"}}`, nil, 422},
			{"error_404_stock", "GET", "/v2/inventories/nobody", "", nil, 404},
			{"error_404_transactions", "GET", "/v2/inventories/nobody/transactions", "", nil, 404},
			{"error_404_transaction", "GET", anvil + "/transactions/none", "", nil, 404},
			{"error_404_transact", "POST", "/v2/inventories/nobody/transactions", `{"data":{"action":"increment","quantity":1}}`, nil, 404},
			{"error_405_stock", "PUT", anvil, "", nil, 405},
			{"error_409_stock", "POST", anvil, `{"data":{"quantity":10}}`, nil, 409},
			{"error_422_stock", "POST", "/v2/inventories/screws", `{"data":{"quantity":-1}}`, nil, 422},
			{"error_422_transaction", "POST", anvil + "/transactions",
				`{"data":{"type":"stock-transaction","action":"decrement","quantity":1000}}`, nil, 422},
			{"error_422_transaction_location", "POST", anvil + "/transactions",
				`{"data":{"attributes":{"action":"increment","quantity":1,"location":"attic"}}}`, locations, 422},
			{"error_422_multiple", "POST", "/v2/inventories/multiple",
				`{"data":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a"},`, 101), ",") + `]}`, nil, 422},
		} {
			g.run(t, s)
		}
	})
}

// TestStockTransactionResponses compares members, because the ids are random.
func TestStockTransactionResponses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		var plain, located struct{ Data map[string]any }
		w := s.send(t, "POST", "/v2/inventories/anvil/transactions",
			`{"data":{"type":"stock-transaction","action":"allocate","quantity":5,"reference":"order-1"}}`)
		require.Equal(t, 201, w.Code, "%s", w.Body)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &plain))
		require.NotEmpty(t, plain.Data["id"])
		delete(plain.Data, "id")
		require.Equal(t, map[string]any{"type": "stock-transaction", "action": "allocate", "product_id": "anvil", "quantity": 5.0,
			"reason": "", "reference": "order-1",
			"timestamps": map[string]any{"created_at": "2024-05-30T12:00:00.000Z"}}, plain.Data)

		w = s.send(t, "POST", "/v2/inventories/anvil/transactions",
			`{"data":{"attributes":{"type":"stock-transaction","action":"set","quantity":0,"product_id":"anvil","location":"default"}}}`,
			"EP-Inventories-Multi-Location", "true")
		require.Equal(t, 201, w.Code, "%s", w.Body)
		require.Contains(t, w.Header().Values("Vary"), "EP-Inventories-Multi-Location")
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &located))
		delete(located.Data, "id")
		require.Equal(t, map[string]any{"type": "stock-transaction",
			"attributes": map[string]any{"action": "set", "product_id": "anvil", "quantity": 0.0, "reason": "", "reference": "",
				"location": "default"},
			"meta": map[string]any{"timestamps": map[string]any{"created_at": "2024-05-30T12:00:00.000Z"}}}, located.Data)
		stock, err := s.store.Stock.Get(t.Context(), "anvil")
		require.NoError(t, err)
		require.Equal(t, []int{0, 7}, []int{stock.Available, stock.Allocated})
	})
}

func TestEmptyStockList(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, "", withClock(testkit.NewClock(noon)))
		goldenCase{"stocks_empty", "GET", "/v2/inventories", "", nil, 200}.run(t, s)
		goldenCase{"error_catalog_404_nothing_published", "GET", productsOf("tools"), "", nil, 404}.run(t, s)
	})
}

func TestClientErrors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		tools := productsOf("tools")
		for _, g := range []goldenCase{
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
			{"error_422_shopper_token", "POST", "/v2/shopper-tokens",
				`{"data":{"type":"shopper_token","account_tags":["a","\u0000"],"expires_in":86401}}`, nil, 422},
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
				w := sendRequest(s.as(refused.who), http.MethodGet, refused.path)
				require.Equal(t, refused.status, w.Code, "%s", w.Body)
				requireJSON(t, refused.path, w)
				requireGolden(t, refused.name, w.Body.Bytes())
			})
		}
	})
}

// TestServerErrors requires that errors of the server reveal nothing about its internals.
func TestServerErrors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		t.Run("a damaged database", func(t *testing.T) {
			noStockCache := func(c *shop.Config) { c.StockBytes = 0 } // so that each request reads the database
			s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)), noStockCache)
			for table, column := range map[string]string{"release_list": "total", "stock_transaction": "action", "stock": "available"} {
				_, err := e.SQL(t).Exec("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO damaged")
				require.NoError(t, err)
			}
			if e.Name == "postgres" { // it may be in a restore
				for _, path := range []string{productsOf("tools"), "/v2/inventories"} {
					w := s.send(t, "GET", path, "")
					require.Equal(t, 503, w.Code, "%s", w.Body)
					require.Contains(t, w.Body.String(), "The database is being replaced or restored. Retry in a moment.")
				}
				return
			}
			goldenCase{"error_catalog_500", "GET", productsOf("tools"), "", nil, 500}.run(t, s)
			goldenCase{"error_500", "GET", "/v2/inventories", "", nil, 500}.run(t, s)
		})
		t.Run("a server that shuts down", func(t *testing.T) {
			s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
			require.NoError(t, s.store.Close())
			goldenCase{"error_catalog_503", "GET", productsOf("tools"), "", nil, 503}.run(t, s)
			goldenCase{"error_503", "GET", "/v2/inventories", "", nil, 503}.run(t, s)
			w := s.send(t, http.MethodGet, "/v2/inventories", "")
			require.NotEmpty(t, w.Header().Get("Retry-After"), "retry time")
		})
	})
}
