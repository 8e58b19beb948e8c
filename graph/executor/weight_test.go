package executor_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
)

// The error names the path of the most expensive list, its rows and pages, and a page size that
// fits.
func TestCostErrorSuggestsAPageSize(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil)
	fits := regexp.MustCompile(`It fits with at most (\d+) rows in each list: lower first, last or the number of ids to that\.$`)
	for _, c := range []struct{ name, query, says string }{
		{"products of nodes", `query($n: Int) { catalogNodes(first: $n) { nodes { id products(first: $n) { edges { node { id sku name slug description } } } } } }`,
			"catalogNodes(first: $n).products(first: $n): 10,000 rows; the operation may cost 60,000, and could cost 71,"},
		{"with other lists beside them", `query($n: Int) { files(first: $n) { nodes { id } } catalogNodes(first: $n) { nodes { products(first: $n) { totalCount nodes { id children { id name sku slug } } } } } }`,
			"catalogNodes(first: $n).products(first: $n): 10,000 rows; the"},
		{"by a fragment", `query($n: Int) { hierarchies(last: $n) { nodes { ...shelf } } } fragment shelf on Hierarchy { products(first: $n) { nodes { componentProductsConnection(first: $n) { nodes { id } } } } }`,
			"hierarchies(last: $n).products(first: $n).componentProductsConnection(first: $n): 1,000,000 rows; the"},
		{"aliases", `query($n: Int) {` + graphtest.Many(8, ` a#: products(first: $n, offset: #) { nodes { children { name sku slug } `+graphtest.Many(80, ` b#: name`)+` } }`) + `}`,
			"products(first: $n, offset: 0) (8 times): 100 rows each time; the operation may cost 60,000, and could cost "},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := s.Post(t, c.query, graphtest.Variables{"n": 100})
			require.Equal(t, []store.Code{store.Unprocessable}, refused.Codes())
			message := refused.Errors[0].Message
			require.Contains(t, message, c.says)
			found := fits.FindStringSubmatch(message)
			require.NotNil(t, found, message)
			n := must(strconv.Atoi(found[1]))
			require.NotContains(t, s.Post(t, c.query, graphtest.Variables{"n": n}).Body.String(), "may cost", "%d fits", n)
			require.Contains(t, s.Post(t, c.query, graphtest.Variables{"n": n + 1}).Body.String(), "may cost", "%d does not", n+1)
		})
	}
	aliases := s.Post(t, `query($i: [ID!]) {`+graphtest.Many(300, ` a#: products(first: 1, filter: {ids: $i}) {totalCount}`)+`}`, graphtest.Variables{"i": slices.Repeat([]any{"x"}, 1000)})
	require.Contains(t, aliases.Errors[0].Message, "products(first: 1, filter: …) (300 times) costs most; the operation may cost 60,000, and could cost 15")
	require.Contains(t, aliases.Errors[0].Message, "Select fewer fields, or send several operations.")
}

// Each part of a sitemap has the rows that first requests, up to 1000, and each row counts. Lists by ids, and lists without an argument,
// have their own rows.
func TestCostErrorNamesArgumentsAsSent(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil)
	for _, c := range []struct {
		query, says string
		values      graphtest.Variables
	}{
		{`{` + graphtest.Many(60, ` a#: sitemap(first: 1000) {nodes {path}}`) + `}`, "sitemap(first: 1000) (60 times): 1,000 rows each time; the operation may cost 60,000, and could cost 121,440. It fits with at most 488 rows in each list", nil},
		{`{` + graphtest.Many(60, ` a#: sitemap {nodes {path}}`) + `}`, "sitemap (60 times): 1,000 rows each time; the", nil},
		{`query($n: Int!) {` + graphtest.Many(60, ` a#: sitemap(first: $n) {nodes {path kind}}`) + `}`, "sitemap(first: $n) (60 times): 400 rows each time; the", graphtest.Variables{"n": 400}},
		{`query($i: [ID!]!) { files(ids: $i) {nodes {id}} nodes(ids: $i) {... on Product {` + graphtest.Many(170, ` a#: seo {title}`) + `}} }`, "nodes(ids: $i): 100 rows; the", graphtest.Variables{"i": slices.Repeat([]any{"x"}, 100)}},
		{`{ products(last: 100) {nodes {` + graphtest.Many(480, ` a#: children {name sku}`) + `}} }`, "products(last: 100): 100 rows; the", nil},
		{`{ hierarchies {nodes {products(filter: {search: "mug"}) {nodes {` + graphtest.Many(400, ` a#: name`) + `}}}} }`, "hierarchies.products(filter: …): 625 rows; the", nil},
	} {
		refused := s.Post(t, c.query, c.values)
		require.Equal(t, []store.Code{store.Unprocessable}, refused.Codes(), c.says)
		require.True(t, strings.HasPrefix(refused.Errors[0].Message, c.says), "%s: %s", c.says, refused.Errors[0].Message)
	}
}

// treeShop returns a tree of three levels, with as many children in each node as at the top. Every
// node lists one product.
func treeShop(wide int) string {
	var lines []string
	add := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	add(`{"type":"product","id":"oak","attributes":{"name":"Oak","sku":"OAK","slug":"oak","status":"live","base_product":false,"created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"},"relationships":{}}`)
	add(`{"type":"hierarchy","id":"tree","attributes":{"name":"Tree"}}`)
	node := func(id, parent string) string {
		if parent != "" {
			parent = fmt.Sprintf(`"parent":{"data":{"type":"node","id":%q}},`, parent)
		}
		add(`{"type":"node","id":%q,"attributes":{"name":%q},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"tree"}},%s"products":{"data":[{"type":"product","id":"oak"}]}}}`, id, id, parent)
		return id
	}
	for i := range wide {
		top := node(fmt.Sprintf("top-%02d", i), "")
		for k := range wide {
			middle := node(fmt.Sprintf("%s-%02d", top, k), top)
			for l := range wide {
				node(fmt.Sprintf("%s-%02d", middle, l), middle)
			}
		}
	}
	add(`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["tree"],"created_at":"2023-02-01T00:00:00.000Z"}}`)
	return strings.Join(lines, "\n")
}

// A menu requests large pages on each level and costs only its actual nodes.
func TestMenusCostTheirActualNodes(t *testing.T) {
	t.Parallel()
	const menu = `{ hierarchies(first: 5) { nodes { name children(first: 100) { nodes { name slug children(first: 100) { nodes { name slug children(first: 100) { nodes { name slug products(first: 12) { nodes { id name slug mainImage { href } price { money { formatted } } } } } } } } } } } } }`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, treeShop(3))
		a := s.Post(t, menu, nil)
		require.Empty(t, a.Errors, "a menu of 39 nodes")
		require.Equal(t, 27, strings.Count(string(a.Data), `"products"`))

		large := graphtest.Open(t, e, treeShop(12), func(c *shop.Config) { c.URL = e.OtherURL(t) })
		for name, query := range map[string]string{
			"a menu of 1,884 nodes":    menu,
			"aliases with other pages": `{ hierarchies { nodes {` + graphtest.Many(20, ` a#: children(first: 5%) { nodes { children(first: 100) { nodes { products(first: 2) { nodes { name } } } } } }`) + `} } }`,
			"aliases with the same":    `{ hierarchies { nodes {` + graphtest.Many(300, ` a#: allNodes(first: 100) { nodes { name slug } }`) + `} } }`,
			"fragments that double":    `{ hierarchies { nodes { children(first: 100) { nodes { ...f0 } } } } }` + graphtest.Many(7, ` fragment f# on CatalogNode { a: children(first: 100) { nodes { ...f% } } b: children(first: 99) { nodes { ...f% } } }`) + ` fragment f7 on CatalogNode { name }`,
		} {
			r := graphtest.NewPost(t, query, nil)
			ctx, statements := store.CountStatements(r.Context())
			answer := large.Send(t, graphtest.As(r.WithContext(ctx), graphtest.PublicClient()))
			require.NotEmpty(t, answer.Errors, name)
			require.Equal(t, store.Unprocessable, answer.Errors[0].Extensions.Code, name)
			require.Contains(t, answer.Errors[0].Message, "; the operation may cost 60,000", name)
			require.LessOrEqual(t, statements.Count(), 20, name)
		}
	})
}

// Each kind of charge while an operation runs names the field that exceeds the budget, its arguments as they were sent, and the bound.
func TestRefusalsNameTheirField(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, computingShop(), func(c *shop.Config) { c.NoCache = true })
		bounds := limits.Defaults()
		bounds.Cost = 700
		tight := graphtest.ServeWithLimits(s, bounds)
		const spent = ": The operation may cost 700, and costs more here. Its fields were estimated to cost "
		for _, c := range []struct{ query, says string }{
			{`{ cartPreview(lines: [{productId: "wordy-00", quantity: 1}]) {total {amount}} }`, "cartPreview(lines: …)" + spent},
			{`{ products(first: 1, filter: {search: "` + mistyped(4001) + " " + mistyped(4002) + " " + mistyped(4003) + " " + mistyped(4004) + `"}) {totalCount} }`, "products(first: 1, filter: …)" + spent},
			{`{ sitemap(first: 100) {endCursor} }`, "sitemap(first: 100)" + spent},
			{`{ activePromotions(first: 2) {name} }`, "activePromotions(first: 2)" + spent},
			{`{ product(by: {id: "wordy-00"}) {promotions {name}} }`, "promotions" + spent},
			{`{ hierarchies(first: 1) {nodes {allNodes(first: 100) {nodes {` + graphtest.Many(480, ` a#: name`) + ` hierarchy {` + graphtest.Many(480, ` a#: name`) + `}}}}} }`, "allNodes(first: 100): 1 nodes here, each of which costs 963 with what is selected below it; the operation may cost 700."},
		} {
			refused := tight.Post(t, c.query, nil)
			require.NotEmpty(t, refused.Errors, c.query)
			require.Equal(t, store.Unprocessable, refused.Codes()[0])
			require.True(t, strings.HasPrefix(refused.Errors[0].Message, c.says), "%s: %s", c.says, refused.Errors[0].Message)
		}
	})
}

// Documents that are read from the database are charged. Those in memory are free.
func TestReadsFromTheDatabaseAreCharged(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, largeShop(), func(c *shop.Config) { c.NoCache = true })
		bounds := limits.Defaults()
		bounds.Cost = 4000
		tight := graphtest.ServeWithLimits(s, bounds)
		few := tight.Post(t, `{ products(first: 20, filter: {search: "thing"}) { nodes { description } } }`, nil)
		require.Empty(t, few.Errors, "%.300s", few.Body)
		many := tight.Post(t, `{ products(first: 100) { nodes { name } } }`, nil)
		require.Equal(t, []store.Code{store.Unprocessable}, many.Codes())
		require.Equal(t, http.StatusOK, many.Code)
		require.Contains(t, many.Errors[0].Message, "products(first: 100): The operation may cost 4,000, and costs more here. Its fields were estimated to cost 2")
		texts := tight.Post(t, `{ products(first: 10, filter: {bounds: {id: {ge: "thing-"}}}, orderBy: {field: ID}) { nodes { translations { locale } } } }`, nil)
		require.Equal(t, []store.Code{store.Unprocessable}, texts.Codes()[:1], "translations are read, whatever is selected of them")
	})
}

// A REST request may read as much as a GraphQL operation by default. What is no request has no
// limit.
func TestRESTRequestsHaveAnAllowance(t *testing.T) {
	t.Parallel()
	require.NoError(t, store.Charge(t.Context(), 1<<40))
	ctx := opctx.With(t.Context(), &opctx.Operation{})
	require.NoError(t, store.Charge(ctx, 15_000_000))
	err := store.Charge(ctx, 1_000_000)
	require.True(t, store.HasCode(err, store.Unprocessable), err)
	require.ErrorContains(t, err, "more than 15,360,000 bytes")
	require.NoError(t, store.Charge(opctx.With(ctx, &opctx.Operation{}), 1), "another operation has its own")
}
