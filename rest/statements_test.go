package rest_test

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// manyProducts is a shop with more than a hundred of each object: nodes with curated products,
// children and components with files, stock, and a ledger.
func manyProducts() string {
	var lines []string
	add := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	const times, rows = `"created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"`, 120
	product := func(id, attributes, relationships string) {
		add(`{"type":"product","id":%q,"attributes":{"name":%q,"sku":%q,"slug":%q,"status":"live",%s%s},"relationships":{%s}}`, id, id,
			id, id, times, attributes, relationships)
	}
	var components, attached []string
	product("parent", `,"base_product":true`, "")
	for i := range rows {
		file, part, child := fmt.Sprintf("file-%03d", i), fmt.Sprintf("part-%03d", i), fmt.Sprintf("child-%03d", i)
		add(`{"type":"file","id":%q,"file_name":"a.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/a.jpg"},"meta":{"timestamps":{"created_at":"2024-01-01T00:00:00.000Z"}}}`, file)
		files := fmt.Sprintf(`"main_image":{"data":{"type":"main_image","id":%q}},"files":{"data":[{"type":"file","id":%q}]}`, file, file)
		bundle := fmt.Sprintf(`,"components":{"part":{"name":"Part","min":1,"max":1,"sort_order":1,"options":[{"id":"part-%03d","type":"product","quantity":1}]}}`, (i+1)%rows)
		product(part, bundle, files)
		product(child, bundle, `"parent":{"data":{"type":"product","id":"parent"}},`+files)
		components = append(components, fmt.Sprintf(`{"id":%q,"type":"product","quantity":1}`, part))
		attached = append(attached, fmt.Sprintf(`{"type":"product","id":%q}`, part))
		add(`{"type":"stock","id":%q,"available":5,"allocated":1,"total":6,%s}`, part, times)
		add(`{"type":"hierarchy","id":"h-%03d","attributes":{"name":"H %d"}}`, i, i)
		add(`{"type":"node","id":"top-%03d","attributes":{"name":"T %d"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h-%03d"}}}}`, i, i, i)
		add(`{"type":"node","id":"n-%03d","attributes":{"name":"N %d","curated_products":[%q]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h-000"}},"parent":{"data":{"type":"node","id":"top-000"}},"products":{"data":[{"type":"product","id":%q}]}}}`, i, i, part, part)
	}
	product("bundle", `,"components":{"parts":{"name":"Parts","min":1,"max":9,"sort_order":1,"options":[`+
		strings.Join(components, ",")+`]}}`, `"main_image":{"data":{"type":"main_image","id":"file-000"}},"files":{"data":[{"type":"file","id":"file-001"}]}`)
	add(`{"type":"node","id":"all","attributes":{"name":"All","curated_products":["part-007"]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h-000"}},"products":{"data":[{"type":"product","id":"bundle"},{"type":"product","id":"parent"},%s]}}}`, strings.Join(attached, ","))
	var hierarchies []string
	for i := range rows {
		hierarchies = append(hierarchies, fmt.Sprintf("%q", fmt.Sprintf("h-%03d", i)))
	}
	add(`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":[%s]}}`, strings.Join(hierarchies, ","))
	return strings.Join(lines, "\n")
}

// cachedTables are tables that the store caches and reads again after a change.
var cachedTables = regexp.MustCompile(`FROM (settings|catalog|catalog_rule|release)\s`)

// statementCount counts the SQL statements of a request.
func statementCount(t *testing.T, s *testServer, method, target, body string, headers ...string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	ctx, counter := store.CountStatements(r.Context())
	w := httptest.NewRecorder()
	s.as(admin()).ServeHTTP(w, r.WithContext(ctx))
	require.Equal(t, 200, w.Code, "%s: %s", target, w.Body)
	return len(slices.DeleteFunc(counter.Queries(), cachedTables.MatchString))
}

func TestStatementsDoNotGrowWithThePage(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, manyProducts(), withClock(testkit.NewClock(noon)), func(c *shop.Config) { c.NoCache = true })
		for range 110 {
			_, err := s.store.Stock.Transact(t.Context(), "test",
				[]stock.Change{{ProductID: "part-000", Action: stock.StockIncrement, Quantity: 1}})
			require.NoError(t, err)
		}
		const include = "&include=" + allIncludes
		for _, path := range []string{
			"/catalog/hierarchies?", "/catalog/hierarchies?sort=-updated_at", "/catalog/hierarchies/h-000/children?",
			"/catalog/hierarchies/h-000/nodes?", "/catalog/hierarchies/h-000/products?" + include,
			"/catalog/nodes?", "/catalog/nodes?filter=gt(id,a)&sort=id", "/catalog/nodes/top-000/relationships/children?",
			"/catalog/nodes/all/relationships/products?sort=id" + include,
			"/catalog/products?sort=-id" + include, "/catalog/products?filter=ge(id,part-)" + include,
			"/catalog/products/parent/relationships/children?" + include,
			"/catalog/products/parent/relationships/children?sort=-created_at&filter=gt(id,a)" + include,
			"/catalog/products/bundle/relationships/component_products?" + include,
			"/v2/inventories?", "/v2/inventories/part-000/transactions?", "/v2/inventories/part-000/transactions?sort=created_at",
		} {
			one, hundred := statementCount(t, s, "GET", path+"&page[limit]=1", ""), statementCount(t, s, "GET", path+"&page[limit]=100", "")
			t.Logf("%d statements: %s", hundred, path)
			require.Equal(t, one, hundred, path)
		}
		ids := func(n int) string {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf(`{"id":"part-%03d"}`, i))
			}
			return `{"data":[` + strings.Join(list, ",") + `]}`
		}
		require.Equal(t, statementCount(t, s, "POST", "/v2/inventories/multiple", ids(1)),
			statementCount(t, s, "POST", "/v2/inventories/multiple", ids(100)))
	})
}
