package graph_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// bikeShop is a shop with a category, two levels below it, and two parents. The sale of the large frame is on at
// graphtest.Noon.
func bikeShop() string {
	var lines []string
	add := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	product := func(id, parent string, day, amount int, more string) {
		relationships := ""
		if parent != "" {
			relationships = fmt.Sprintf(`"parent":{"data":{"type":"product","id":%q}}`, parent)
		}
		add(`{"type":"product","id":%q,"attributes":{"name":%[1]q,"sku":%q,"slug":%[1]q,"status":"live","base_product_id":%[3]q,"tags":["%.1[1]s"],"created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-%02[4]dT00:00:00Z"},"relationships":{%[5]s}}`,
			id, strings.ToUpper(id), parent, day, relationships)
		if amount > 0 {
			add(`{"type":"product-price","id":"price-%s","attributes":{"sku":%q,"currencies":{"USD":{"amount":%d,"includes_tax":true}}%s},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"retail"}}}}`, id, strings.ToUpper(id), amount, more)
		}
	}
	node := func(id, parent, attributes string, products ...string) {
		up := ""
		if parent != "" {
			up = fmt.Sprintf(`"parent":{"data":{"type":"node","id":%q}},`, parent)
		}
		for i, id := range products {
			products[i] = fmt.Sprintf(`{"type":"product","id":%q}`, id)
		}
		add(`{"type":"node","id":%q,"attributes":{"name":%[1]q%s},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"all"}},%s"products":{"data":[%s]}}}`, id, attributes, up, strings.Join(products, ","))
	}
	stock := func(id string, units int) {
		add(`{"type":"stock","id":%q,"available":%d,"allocated":0,"total":%[2]d,"created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"}`, id, units)
	}
	add(`{"type":"pricebook","id":"retail","attributes":{"name":"Retail"}}`)
	product("bell", "", 1, 500, "")
	product("tyre", "", 9, 3000, "")
	product("frame", "", 5, 99000, "")
	product("frame-s", "frame", 2, 10000, "")
	product("frame-l", "frame", 3, 12000, `,"sales":{"autumn":{"schedule":{"valid_from":"2020-01-01T00:00:00Z","valid_to":"2100-01-01T00:00:00Z"},"currencies":{"USD":{"amount":9000,"includes_tax":true}}}}`)
	product("jersey", "", 7, 0, "")
	product("jersey-m", "jersey", 4, 4000, "")
	product("guide", "", 6, 0, "")
	stock("bell", 3)
	stock("tyre", 0)
	stock("frame-s", 0)
	stock("frame-l", 6)
	stock("jersey-m", 0)
	add(`{"type":"hierarchy","id":"all","attributes":{"name":"All"}}`)
	node("bikes", "", `,"curated_products":["bell"]`, "bell")
	node("road", "bikes", `,"curated_products":["frame"]`, "frame", "tyre")
	node("parts", "road", "", "tyre", "frame-s", "guide")
	node("clothes", "", "", "jersey")
	add(`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["all"],"pricebook_ids":[{"id":"retail","priority":1}],"created_at":"2024-01-01T00:00:00Z"}}`)
	return strings.Join(lines, "\n")
}

// rowsOf is the data of a list of products of a node.
func rowsOf(list string, total int, uuids ...string) string {
	for i, id := range uuids {
		uuids[i] = `{"uuid":"` + id + `"}`
	}
	return fmt.Sprintf(`{%q:{"products":{"totalCount":%d,"nodes":[%s]}}}`, list, total, strings.Join(uuids, ","))
}

func TestListings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, bikeShop(), storetest.WithClock(testkit.NewClock(graphtest.Noon)))
		of := func(node, arguments string) string {
			return fmt.Sprintf(`{ catalogNode(by: {id: %q}) { products(%s) { totalCount nodes { uuid } } } }`, node, arguments)
		}
		const all = "includeDescendants: true"
		runScenarios(t, s, []scenario{
			{name: "a node alone", query: of("bikes", "first: 9"), data: rowsOf("catalogNode", 1, "bell")},
			{name: "and with what is below it, each once, its curated ones first", query: of("bikes", all), data: rowsOf("catalogNode", 5, "bell", "tyre", "guide", "frame", "frame-s")},
			{name: "below it", query: of("road", all), data: rowsOf("catalogNode", 4, "frame", "tyre", "guide", "frame-s")},
			{name: "a node without any below", query: of("clothes", all), data: rowsOf("catalogNode", 1, "jersey")},
			{name: "an offset", query: of("bikes", all+", first: 2, offset: 3"), data: rowsOf("catalogNode", 5, "frame", "frame-s")},
			{name: "by name", query: of("bikes", all+", orderBy: {field: NAME, direction: DESC}"), data: rowsOf("catalogNode", 5, "tyre", "guide", "frame-s", "frame", "bell")},
			{name: "by price: a parent's is that of its cheapest child in the sale", query: of("bikes", all+", orderBy: {field: PRICE}"), data: rowsOf("catalogNode", 5, "bell", "tyre", "frame", "frame-s", "guide")},
			{name: "filtered", query: of("bikes", all+`, filter: {tags: {in: ["f", "b"]}}`), data: rowsOf("catalogNode", 3, "bell", "frame", "frame-s")},
			{name: "searched", query: of("bikes", all+`, filter: {search: "fra"}`), data: rowsOf("catalogNode", 2, "frame", "frame-s")},
			{name: "facets", query: `{ catalogNode(by: {id: "bikes"}) { products(includeDescendants: true) { facets { groups(keys: ["tags"]) { values { value count } } } } } }`,
				data: `{"catalogNode":{"products":{"facets":{"groups":[{"values":[{"value":"f","count":2},{"value":"b","count":1},{"value":"g","count":1},{"value":"t","count":1}]}]}}}}`},
			{name: "parents in place of their children", query: of("bikes", all+", variants: PARENTS"), data: rowsOf("catalogNode", 4, "bell", "tyre", "guide", "frame")},
			{name: "children in place of their parents", query: of("bikes", all+", variants: CHILDREN"), data: rowsOf("catalogNode", 5, "bell", "tyre", "guide", "frame-l", "frame-s")},
			{name: "a curated parent's children come first", query: of("road", "variants: CHILDREN"), data: rowsOf("catalogNode", 3, "frame-l", "frame-s", "tyre")},
			{name: "filters look at what is listed", query: of("bikes", all+`, variants: CHILDREN, filter: {sku: {eq: "FRAME"}}`), data: rowsOf("catalogNode", 0)},
			{name: "and of parents at their children too", query: of("bikes", all+`, variants: PARENTS, filter: {sku: {eq: "FRAME-S"}}`), data: rowsOf("catalogNode", 1, "frame")},
			{name: "a search finds a parent once by itself and its children", query: of("bikes", all+`, variants: PARENTS, filter: {search: "frame"}`), data: rowsOf("catalogNode", 1, "frame")},
			{name: "and by what only a child has", query: of("bikes", all+`, variants: PARENTS, filter: {search: "frame l"}`), data: rowsOf("catalogNode", 1, "frame")},
			{name: "facets too", query: `{ products(variants: CHILDREN) { totalCount facets { groups(keys: ["tags"]) { values { value count } } } } }`,
				data: `{"products":{"totalCount":6,"facets":{"groups":[{"values":[{"value":"f","count":2},{"value":"b","count":1},{"value":"g","count":1},{"value":"j","count":1},{"value":"t","count":1}]}]}}}`},
			{name: "of a hierarchy", query: `{ hierarchy(id: "all") { products(variants: PARENTS) { totalCount nodes { uuid } } } }`, data: rowsOf("hierarchy", 5, "tyre", "jersey", "guide", "frame", "bell")},
			{name: "in stock now", query: of("bikes", all+", filter: {inStock: true}"), data: rowsOf("catalogNode", 3, "bell", "guide", "frame")},
			{name: "out of stock now", query: of("bikes", all+", filter: {inStock: false}"), data: rowsOf("catalogNode", 2, "tyre", "frame-s")},
			{name: "in stock, with another filter", query: of("bikes", all+`, filter: {and: [{inStock: true}, {tags: {eq: "f"}}]}`), data: rowsOf("catalogNode", 1, "frame")},
			{name: "facets of what is in stock", query: `{ products(filter: {inStock: true}) { facets { groups(keys: ["tags"]) { values { value count } } } } }`,
				data: `{"products":{"facets":{"groups":[{"values":[{"value":"b","count":1},{"value":"f","count":1},{"value":"g","count":1}]}]}}}`},
			{name: "in and out of stock at once", query: of("bikes", "filter: {inStock: true, and: [{inStock: false}]}"), codes: []store.Code{store.Invalid}, argument: "filter.and.0.inStock"},
			{name: "prices of parents and others", query: `{ products(orderBy: {field: ID}) { nodes { uuid onSale ...prices } } } fragment prices on Product {
				priceRange { min { money { amount formatted } } max { money { amount } } } originalPriceRange { min { money { amount } } max { money { amount } } } }`,
				data: `{"products":{"nodes":[
				{"uuid":"bell","onSale":false,"priceRange":{"min":{"money":{"amount":"500","formatted":"$5.00"}},"max":{"money":{"amount":"500"}}},"originalPriceRange":null},
				{"uuid":"frame","onSale":true,"priceRange":{"min":{"money":{"amount":"9000","formatted":"$90.00"}},"max":{"money":{"amount":"10000"}}},"originalPriceRange":{"min":{"money":{"amount":"10000"}},"max":{"money":{"amount":"12000"}}}},
				{"uuid":"frame-s","onSale":false,"priceRange":{"min":{"money":{"amount":"10000","formatted":"$100.00"}},"max":{"money":{"amount":"10000"}}},"originalPriceRange":null},
				{"uuid":"guide","onSale":false,"priceRange":null,"originalPriceRange":null},
				{"uuid":"jersey","onSale":false,"priceRange":{"min":{"money":{"amount":"4000","formatted":"$40.00"}},"max":{"money":{"amount":"4000"}}},"originalPriceRange":null},
				{"uuid":"tyre","onSale":false,"priceRange":{"min":{"money":{"amount":"3000","formatted":"$30.00"}},"max":{"money":{"amount":"3000"}}},"originalPriceRange":null}]}}`},
			{name: "availability", query: `{ products(orderBy: {field: ID}) { nodes { uuid availability availableForSale } } }`, data: `{"products":{"nodes":[
				{"uuid":"bell","availability":"LOW","availableForSale":true},{"uuid":"frame","availability":"IN_STOCK","availableForSale":true},{"uuid":"frame-s","availability":"OUT","availableForSale":false},
				{"uuid":"guide","availability":"UNTRACKED","availableForSale":true},{"uuid":"jersey","availability":"OUT","availableForSale":false},{"uuid":"tyre","availability":"OUT","availableForSale":false}]}}`},
			{name: "another threshold", query: `mutation { settingsUpdate(input: {lowStockThreshold: 2}) { settings { lowStockThreshold } userErrors { code } } }`,
				data: `{"settingsUpdate":{"settings":{"lowStockThreshold":2},"userErrors":[]}}`},
			{name: "applies at once", query: `{ product(by: {id: "bell"}) { availability } }`, data: `{"product":{"availability":"IN_STOCK"}}`},
			{name: "a threshold below nothing", query: `mutation { settingsUpdate(input: {lowStockThreshold: -1}) { userErrors { field } } }`,
				data: `{"settingsUpdate":{"userErrors":[{"field":["input","lowStockThreshold"]}]}}`},
		})
		t.Run("sales of stock show in the next response", func(t *testing.T) {
			const query = `{ catalogNode(by: {id: "road"}) { products(filter: {inStock: true}) { nodes { uuid } } } product(by: {id: "frame"}) { availability availableForSale } }`
			page := func(want string) {
				for range 3 { // also from the cache
					require.JSONEq(t, want, string(s.Post(t, query, nil).Data))
				}
			}
			page(`{"catalogNode":{"products":{"nodes":[{"uuid":"frame"}]}},"product":{"availability":"IN_STOCK","availableForSale":true}}`)
			change := func(action string, quantity int) {
				s.Post(t, fmt.Sprintf(`mutation { stockTransact(input: {changes: [{productId: "frame-l", action: %s, quantity: %d}]}) { userErrors { message } } }`, action, quantity), nil)
			}
			change("DECREMENT", 6)
			page(`{"catalogNode":{"products":{"nodes":[]}},"product":{"availability":"OUT","availableForSale":false}}`)
			change("INCREMENT", 2)
			page(`{"catalogNode":{"products":{"nodes":[{"uuid":"frame"}]}},"product":{"availability":"LOW","availableForSale":true}}`)
		})
		t.Run("stock needs its scope", func(t *testing.T) {
			reader := graphtest.Client("catalog:read")
			for query, want := range map[string]string{
				`{ product(by: {id: "bell"}) { uuid availability availableForSale } }`: `{"product":{"uuid":"bell","availability":null,"availableForSale":null}}`,
				`{ products(filter: {inStock: true}) { totalCount } }`:                 ``,
			} {
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), reader))
				require.Contains(t, a.Codes(), store.Forbidden, "%s", a.Body)
				if want != "" {
					require.JSONEq(t, want, string(a.Data))
				}
			}
		})
		require.Empty(t, s.Log.String())
	})
}

// adventureWorks is the sample shop, which lies beside the repository; a test that wants it is skipped where it is not.
func adventureWorks(t *testing.T) string {
	t.Helper()
	const path = "../../shared/data/adventureworks.ndjson"
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("skipped for want of %s", path)
	}
	require.NoError(t, err)
	return string(file)
}

// TestCategoryPageOfAdventureWorks requires that the page of "Bikes", which lists no products of its own, is one operation
// with all that a storefront shows, in as many statements for one product as for a hundred.
func TestCategoryPageOfAdventureWorks(t *testing.T) {
	t.Parallel()
	lines := adventureWorks(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, lines, func(c *shop.Config) { c.NoCache = true })
		const page = `query($first: Int, $offset: Int) { catalogNode(by: {path: "bikes"}) { name children { nodes { name } }
			own: products { totalCount }
			products(includeDescendants: true, variants: PARENTS, first: $first, offset: $offset, orderBy: {field: PRICE}) { totalCount facets { groups(keys: ["tags"]) { values { value count } } }
				nodes { name onSale priceRange { min { money { amount } } } availability availableForSale mainImage { href } } } } }`
		const stored = `query($first: Int, $offset: Int) { catalogNode(by: {path: "bikes"}) { products(includeDescendants: true, first: $first, offset: $offset, orderBy: {field: UPDATED_AT}) {
			totalCount nodes { uuid priceRange { max { money { amount } } } } } } }`
		type row struct {
			Name             string
			AvailableForSale *bool
			Availability     *string
			PriceRange       *struct {
				Min struct{ WithTax, WithoutTax *store.Money }
			}
		}
		var data struct {
			CatalogNode struct {
				Own      struct{ TotalCount int }
				Products struct {
					TotalCount int
					Nodes      []row
				}
			}
		}
		s.Post(t, page, graphtest.Variables{"first": 100}).Read(t, &data)
		require.Zero(t, data.CatalogNode.Own.TotalCount, "the node lists none itself")
		require.Equal(t, 15, data.CatalogNode.Products.TotalCount)
		for _, product := range data.CatalogNode.Products.Nodes {
			require.NotNil(t, product.AvailableForSale, product.Name)
			require.Equal(t, *product.AvailableForSale, product.PriceRange != nil, "%s: the variants of some are all drafts", product.Name)
		}
		for _, query := range []string{page, stored} {
			small, full := cost(t, s, query, graphtest.Variables{"first": 1}), cost(t, s, query, graphtest.Variables{"first": 100})
			far := cost(t, s, query, graphtest.Variables{"first": 1, "offset": 14})
			t.Logf("%d statements for one product, %d for all, %d for the last", small, full, far)
			require.Equal(t, full, max(small, far), "one of these two products has children")
		}
	})
}
