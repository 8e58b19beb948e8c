package graph_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
)

// cost returns the number of statements of an operation, which must be the same each time.
func cost(t *testing.T, s *graphtest.Service, query string, values graphtest.Variables) int {
	t.Helper()
	const times = 3
	least, most := 1<<30, 0
	var queries []string
	for range times {
		r := graphtest.As(graphtest.NewPost(t, query, values), graphtest.Admin())
		ctx, counter := store.CountStatements(r.Context())
		a := s.Send(t, r.WithContext(ctx))
		require.Empty(t, a.Errors, "%s", a.Body)
		queries = slices.DeleteFunc(counter.Queries(), isCachedStatement)
		least, most = min(least, len(queries)), max(most, len(queries))
	}
	require.Equal(t, least, most, "the same operation cost between %d and %d statements; the last time\n%s", least, most, strings.Join(queries, "\n"))
	return most
}

// isCachedStatement reports whether a statement reads what the store caches: settings, catalogs, rules and
// releases.
func isCachedStatement(query string) bool {
	return regexp.MustCompile(`FROM (settings|catalog|catalog_rule|release)\s`).MatchString(query)
}

func TestStatementsDoNotDependOnPageSize(t *testing.T) {
	t.Parallel()
	lines := graphtest.BigShop(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, lines, func(c *shop.Config) { c.NoCache = true })
		requireEveryEdge(t, s)
		for _, c := range []struct {
			name, query string
			small, full int
		}{
			{"products alone", `query($n: Int) { products(first: $n) { nodes { ` + graphtest.ProductScalars + ` } } }`, 1, 100},
			{"products of a node", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { uuid } } } }`, 1, 100},
			{"products with every edge", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { totalCount pageInfo { hasNextPage } edges { cursor node { ` + graphtest.ProductEdges + ` } } } } }`, 1, 100},
			{"all products by id with every edge", `query($n: Int) { products(first: $n, orderBy: {field: ID, direction: DESC}, filter: {bounds: {id: {ge: "whole-"}}}) { nodes { ` + graphtest.ProductEdges + ` } } }`, 1, 100},
			{"products searched, by price, with facets", `query($n: Int) { products(first: $n, filter: {search: "w"}, orderBy: {field: PRICE}) { totalCount facets { groups(keys: ["tags", "productTypes"]) { values { value count toggled } } } nodes { uuid } } }`, 1, 100},
			{"products of a tag by name, with facets", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n, filter: {bounds: {id: {ge: "a"}}}, orderBy: {field: NAME}) { facets { groups(keys: ["tags"]) { values { value } } } nodes { uuid } } } }`, 1, 100},
			{"nodes with searched products by price, with facets", `query($n: Int) { catalogNodes(first: $n, offset: 1, filter: {parentId: "more-00"}) { nodes { products(first: 2, filter: {search: "w"}, orderBy: {field: PRICE}) { facets { groups(keys: ["tags"]) { values { value } } } nodes { sku } } } } }`, 2, 59},
			{"nodes with bounded products by name", `query($n: Int) { catalogNodes(first: $n, offset: 1, filter: {parentId: "more-00"}) { nodes { products(first: 2, filter: {bounds: {id: {ge: "a"}}}, orderBy: {field: NAME, direction: DESC}) { totalCount nodes { sku } } } } }`, 2, 59},
			{"stock of components, files of children", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { componentProducts { uuid stock { total } } children { uuid files { file { href } } } } } } }`, 1, 100},
			{"prices and availability of parents", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { onSale priceRange { min { money { amount } } } originalPriceRange { max { money { amount } } } availability availableForSale parent { availability priceRange { min { money { amount } } } } } } } }`, 1, 100},
			{"a node with all below it, children in stock by price", `query($n: Int) { catalogNode(by: {id: "more-00"}) { products(includeDescendants: true, variants: CHILDREN, first: $n, filter: {inStock: true}, orderBy: {field: PRICE}) { totalCount facets { groups(keys: ["tags"]) { values { value } } } nodes { uuid availability } } } }`, 1, 100},
			{"nodes with the products below them, parents in place of children", `query($n: Int) { catalogNodes(first: $n, offset: 1, filter: {parentId: "more-00"}) { nodes { products(includeDescendants: true, variants: PARENTS, first: 2) { totalCount nodes { sku priceRange { min { money { amount } } } } } } } }`, 2, 59},
			{"four edges deep", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { children { parent { componentProducts { mainImage { href } stock { transactions(first: 2) { quantity } } } } } } } } }`, 1, 100},
			{"stock with products, images and ledgers", `query($n: Int) { stocks(first: $n, filter: {id: {ge: "whole-"}}) { nodes { total product { sku mainImage { href } } transactions(first: 3) { quantity } } } }`, 1, 100},
			{"children and components in pages, filtered, sorted, with facets", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { childrenConnection(first: 2, filter: {bounds: {id: {ge: "a"}}, productTypes: {in: ["standard", "child"]}}, orderBy: {field: NAME}) { totalCount facets { groups(keys: ["productTypes"]) { values { value } } } nodes { uuid mainImage { href } } } componentProductsConnection(last: 1) { nodes { uuid stock { total } } } } } } }`, 1, 100},
			{"a ledger with products", `query($n: Int) { stockTransactions(productId: "whole-000", first: $n) { nodes { quantity product { sku } } } }`, 1, 100},
			{"options of bundles with their products", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { components { key options { quantity product { sku price { money { amount } } stock { total } } } } } } } }`, 1, 100},
			{"a ledger", `query($n: Int) { stockTransactions(productId: "whole-000", first: $n) { totalCount nodes { quantity } } }`, 1, 100},
			{"nodes by id with curated products", `query($n: Int) { catalogNodes(first: $n, orderBy: {field: ID}, filter: {parentId: "more-00", bounds: {id: {ge: "shelf"}}}) { nodes { name curatedProducts { uuid mainImage { href } } } } }`, 1, 60},
			{"all nodes of hierarchies", `query($n: Int) { hierarchies(first: $n) { nodes { name allNodes(first: 2, orderBy: {field: UPDATED_AT}) { totalCount nodes { name products(first: 1) { nodes { sku } } curatedProducts { uuid } } } } } }`, 3, 12},
			{"stock from an offset", `query($n: Int) { stocks(first: $n, offset: 100) { nodes { total product { sku } } } }`, 1, 100},
			{"nodes with products", `query($n: Int) { catalogNodes(first: $n, filter: {parentId: "more-00"}) { nodes { name breadcrumbs { name } hierarchy { name } parent { name } children { nodes { name } } products(first: 2) { totalCount nodes { sku } } } } }`, 1, 60},
			{"nodes with main images and attributes", `query($n: Int) { catalogNodes(first: $n, filter: {parentId: "more-00"}) { nodes { name position mainImage { href } attributes { label value } } } }`, 1, 60},
			{"nodes with products with every edge", `query($n: Int) { catalogNodes(first: $n, filter: {parentId: "more-00"}) { nodes { products(first: 2) { nodes { ` + graphtest.ProductEdges + ` } } } } }`, 1, 60},
			{"nodes with products from the end", `query($n: Int) { catalogNodes(first: $n, filter: {parentId: "more-00"}) { nodes { products(last: 1) { nodes { uuid } } } } }`, 1, 60},
			{"nodes with products from an offset", `query($n: Int) { catalogNodes(first: $n, filter: {parentId: "more-00"}) { nodes { products(first: 1, offset: 1) { nodes { uuid } } } } }`, 1, 60},
			{"the products of each product's nodes", `query($n: Int) { catalogNode(by: {id: "wholes"}) { products(first: $n) { nodes { catalogNodes { products(first: 1) { nodes { sku } } } } } } }`, 1, 40},
			{"children of nodes, with products", `query($n: Int) { catalogNodes(first: $n, offset: 1, filter: {parentId: "more-00"}) { nodes { children(first: 3) { nodes { products(first: 1) { nodes { sku } } } } } } }`, 1, 60},
			{"hierarchies with children", `query($n: Int) { hierarchies(first: $n) { nodes { name children { nodes { name products(first: 1) { nodes { sku } } } } } } }`, 3, 12},
			{"hierarchies with products", `query($n: Int) { hierarchies(first: $n) { nodes { name products(first: 2) { nodes { sku } } } } }`, 1, 12},
		} {
			t.Run(c.name, func(t *testing.T) {
				small, full := cost(t, s, c.query, graphtest.Variables{"n": c.small}), cost(t, s, c.query, graphtest.Variables{"n": c.full})
				t.Logf("%d statements for %d rows, %d for %d", small, c.small, full, c.full)
				require.Equal(t, small, full, "a page of %d cost %d statements and a page of %d %d", c.small, small, c.full, full)
			})
		}
		t.Run("things by their ids", func(t *testing.T) { compareNodeStatements(t, s) })
	})
}

// Aliases of a root field that finds an authored resource by its id read all of them at once, and totals of the lists of
// promotions are counted together.
func TestStatementsDoNotDependOnAliases(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop(), func(c *shop.Config) { c.NoCache = true })
		var lines strings.Builder
		for i := range 12 {
			fmt.Fprintf(&lines, `{"type":"promotion","id":"p-%d","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`+"\n", i)
			for code := range i % 4 {
				fmt.Fprintf(&lines, `{"type":"promotion_code","id":"c-%d-%d","promotion_id":"p-%d","code":"C%dX%d"}`+"\n", i, code, i, i, code)
			}
		}
		graphtest.Load(t, s.Store, lines.String())
		for i := range 12 {
			if i%4 > 1 {
				_, err := s.Store.Redemptions.Redeem(t.Context(), "test", redeem.CodeUse{Code: fmt.Sprintf("C%dX1", i), Units: 1, Reference: fmt.Sprint("order-", i)})
				require.NoError(t, err)
			}
		}
		ids := []string{"anvil", "brush", "chalk", "glue", "jar", "kit", "easel", "none", "anvil", "lamp"}
		aliases := func(n int, field string) string {
			var b strings.Builder
			for i, id := range ids[:n] {
				fmt.Fprintf(&b, " a%d: "+field, i, id)
			}
			return "{" + b.String() + " ...F } fragment F on Query {" + fmt.Sprintf(" more: "+field, "frame") + " }"
		}
		for _, field := range []string{
			`authoredProduct(by: {id: %q}) { id uuid name }`,
			`authoredProduct(by: {sku: %q}) { id uuid name }`,
			`authoredCatalogNode(id: %q) { id name }`,
			`authoredFile(id: %q) { id }`,
			`pricebook(id: %q) { id }`,
			`catalogRule(id: %q) { id }`,
		} {
			require.Equal(t, cost(t, s, aliases(1, field), nil), cost(t, s, aliases(len(ids), field), nil), field)
		}
		const totals = `query ($n: Int!) { promotions(first: $n) { nodes { uuid codes(first: 1) { totalCount } some: codes(filter: {startsWith: "C"}, first: 1) { totalCount } usages(first: 1) { totalCount } } } }`
		require.Equal(t, cost(t, s, totals, graphtest.Variables{"n": 2}), cost(t, s, totals, graphtest.Variables{"n": 12}))
		type count struct{ TotalCount int }
		var data struct {
			Promotions struct {
				Nodes []struct {
					UUID                string
					Codes, Some, Usages count
				}
			}
		}
		s.Post(t, totals, graphtest.Variables{"n": 20}).Read(t, &data)
		counted := 0
		for _, p := range data.Promotions.Nodes {
			var i int
			if _, err := fmt.Sscanf(p.UUID, "p-%d", &i); err != nil {
				continue // of the shop
			}
			counted++
			require.Equal(t, []count{{i % 4}, {i % 4}, {min(1, i%4/2)}}, []count{p.Codes, p.Some, p.Usages}, p.UUID)
		}
		require.Equal(t, 12, counted)
	})
}

// compareNodeStatements compares the statements for one object of each type by id with those for 25.
func compareNodeStatements(t *testing.T, s *graphtest.Service) {
	const query = `query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Product { ` + graphtest.ProductEdges + ` } ... on Stock { total product { uuid } transactions { uuid } } ... on File { href } ... on CatalogNode { name products(first: 1) { nodes { uuid } } } } }`
	ids := func(n int) (list []string) {
		for i := range n {
			list = append(list, store.GlobalID(store.TypeProduct, graphtest.Whole(i)), store.GlobalID(store.TypeStock, graphtest.Whole(i)),
				store.GlobalID(store.TypeFile, "main-"+graphtest.Whole(i)), store.GlobalID(store.TypeCatalogNode, fmt.Sprintf("shelf-%02d", i)))
		}
		return list
	}
	few, many := cost(t, s, query, graphtest.Variables{"ids": ids(1)}), cost(t, s, query, graphtest.Variables{"ids": ids(25)})
	t.Logf("%d statements for one of each type, %d for 25", few, many)
	require.Equal(t, few, many)
}

// requireEveryEdge requires that the products have every edge.
func requireEveryEdge(t *testing.T, s *graphtest.Service) {
	t.Helper()
	var data struct {
		CatalogNode struct {
			Products struct {
				TotalCount int
				Nodes      []map[string]json.RawMessage
			}
		}
	}
	s.Post(t, `{ catalogNode(by: {id: "wholes"}) { products(first: 100) { totalCount nodes { `+graphtest.ProductEdges+` } } } }`, nil).Read(t, &data)
	require.Equal(t, graphtest.Wholes, data.CatalogNode.Products.TotalCount)
	for _, product := range data.CatalogNode.Products.Nodes {
		for _, edge := range []string{"parent", "children", "files", "mainImage", "componentProducts", "catalogNodes", "breadcrumbs", "stock", "components"} {
			require.NotContains(t, []string{"null", "[]", ""}, string(product[edge]), edge)
		}
	}
}

// totalCount runs a statement only if it is selected.
func TestTotalIsCountedOnlyWhenSelected(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop(), func(c *shop.Config) { c.NoCache = true })
		for _, c := range []struct {
			field, total string
			more         int
		}{
			{`stocks`, `totalCount`, 1},
			{`stocks(filter: {id: {gt: "a"}})`, `totalCount`, 1},
			{`stocks(filter: {updatedAt: {gt: "2001-01-01"}}, first: 1)`, `totalCount`, 1},
			{`stocks`, `totalCount again: totalCount`, 2},
			{`products`, `totalCount`, 0},
			{`products(filter: {tags: {eq: "paint"}})`, `totalCount`, 0},
			{`catalogNodes`, `totalCount`, 0},
			{`hierarchies`, `totalCount`, 0},
		} {
			without := cost(t, s, `{ `+c.field+` { nodes { uuid } pageInfo { hasNextPage } } }`, nil)
			with := cost(t, s, `{ `+c.field+` { nodes { uuid } pageInfo { hasNextPage } `+c.total+` } }`, nil)
			t.Logf("%s: %d statements, %d with %s", c.field, without, with, c.total)
			require.LessOrEqual(t, with-without, c.more, c.field)
			require.GreaterOrEqual(t, with, without, c.field)
			if c.more > 0 {
				require.Less(t, without, with, "%s counts where nobody asked", c.field)
			}
		}
	})
}
