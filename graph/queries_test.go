package graph_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"portico/graph/audience"
	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// pageQuery is an example of docs/queries.md.
type pageQuery struct {
	name, text string
	scopes     []string            // of its section
	values     graphtest.Variables // of the demo
	document   *ast.QueryDocument
}

var (
	pageSection   = regexp.MustCompile(`(?m)^## (.*)$`)
	pageBlock     = regexp.MustCompile("(?ms)^```graphql\n(.*?)^```$")
	pageVariables = regexp.MustCompile(`(?m)^# variables: (.*)$`)
)

// pageQueries returns the examples of docs/queries.md.
func pageQueries(t *testing.T) (list []pageQuery) {
	t.Helper()
	page, err := os.ReadFile("../docs/queries.md")
	require.NoError(t, err)
	sections := pageSection.FindAllStringIndex(string(page), -1)
	for i, at := range sections {
		end := len(page)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		scopes := auth.ShopperScopes()
		if string(page[at[0]:at[1]]) == "## Back office" {
			scopes = access.Scopes()
		}
		for _, block := range pageBlock.FindAllStringSubmatch(string(page[at[1]:end]), -1) {
			q := pageQuery{text: block[1], scopes: scopes}
			if sent := pageVariables.FindStringSubmatch(q.text); sent != nil {
				require.NoError(t, json.Unmarshal([]byte(sent[1]), &q.values), q.text)
			}
			q.document, err = parser.ParseQuery(&ast.Source{Input: q.text})
			require.NoError(t, err, q.text)
			require.Len(t, q.document.Operations, 1, "one operation, so that it is one trip: %s", q.text)
			q.name = q.document.Operations[0].Name
			list = append(list, q)
		}
	}
	return list
}

// The page has the twenty-one queries of a storefront, the twenty that front ends of other platforms send, and the fifteen of a back
// office. The first of these use no more of the schema than a storefront's audience sees.
func TestPageOfQueries(t *testing.T) {
	t.Parallel()
	names, schemas, counts := map[string]bool{}, audience.New(document.Schema()), map[int]int{}
	for _, q := range pageQueries(t) {
		require.False(t, names[q.name] || q.name == "", "two operations have the name %q", q.name)
		names[q.name] = true
		counts[len(q.scopes)]++
		require.Empty(t, validator.ValidateWithRules(schemas.For(q.scopes).Schema, q.document, rules.NewDefaultRules()), q.name)
		require.Contains(t, pageStatements(), q.name, "say how many statements it may take")
	}
	require.Equal(t, map[int]int{len(auth.ShopperScopes()): 43, len(access.Scopes()): 15}, counts)
	require.Len(t, pageStatements(), len(names))
}

// openPages opens a shop in June 2025, when promotions of both shops are active, without caches.
func openPages(t *testing.T, e storetest.Backend, lines string) *graphtest.Service {
	t.Helper()
	june := storetest.WithClock(testkit.NewClock(time.Date(2025, 6, 10, 12, 0, 0, 0, time.UTC)))
	return graphtest.Open(t, e, lines, june, func(c *shop.Config) { c.NoCache = true })
}

// openDemo opens the demo's shop as openPages does.
func openDemo(t *testing.T, e storetest.Backend) *graphtest.Service {
	t.Helper()
	lines, err := os.ReadFile("../internal/demo/shop.ndjson")
	require.NoError(t, err)
	return openPages(t, e, string(lines))
}

func TestPageQueriesOnTheDemo(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openDemo(t, e)
		_, err := s.Store.Redemptions.Redeem(t.Context(), "test", redeem.CodeUse{Code: "EARLYBIRD", Units: 1, Reference: "order-0"})
		require.NoError(t, err)
		for _, q := range pageQueries(t) {
			requirePageQuery(t, s, q, q.values)
		}
	})
}

// schemaExample finds the examples in the descriptions of the schema.
var schemaExample = regexp.MustCompile("(?s)Example: `(.*?)`")

// exampleHolders says where an example of a type's field is asked: it stands in place of the %s.
var exampleHolders = map[string]string{
	"Query": `{ %s }`, "Mutation": `%s`, "Subscription": `%s`,
	"Product": `{ product(by: {slug: "latte"}) { %s } }`, "CatalogNode": `{ catalogNode(by: {path: "drinks"}) { %s } }`, "ProductFacets": `{ products { facets { %s } } }`,
	"AuthoredWrite": `mutation { productsUpsert(input: {items: [{sku: "GIF-MUG", description: "A mug again."}]}) { items { %s } userErrors { message } } }`,
}

// TestExamplesOfTheSchema runs the example of each field on the demo. Those of arguments and of values show only their form.
func TestExamplesOfTheSchema(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openDemo(t, e)
		_, err := s.Store.Redemptions.Redeem(t.Context(), "test", redeem.CodeUse{Code: "EARLYBIRD", Units: 1, Reference: "order-1001"})
		require.NoError(t, err)
		write := func(description string) {
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, `mutation($d: String) { productsUpsert(input: {items: [{sku: "GIF-MUG", description: $d}, {sku: "GIF-CUP", name: "Cup", status: DRAFT}]}) { userErrors { message } } }`,
				graphtest.Variables{"d": description}), graphtest.Client(access.Scopes()...)))
			require.JSONEq(t, `{"productsUpsert":{"userErrors":[]}}`, string(a.Data), "%s", a.Body)
		}
		write("A mug.") // so that two releases differ
		storetest.Publish(t, s.Store, "catalog-coffee")
		write("A mug of ours.")
		ran := 0
		for _, of := range graphtest.Schema().Types {
			for _, field := range of.Fields {
				found := schemaExample.FindStringSubmatch(field.Description)
				if found == nil || of.Kind != ast.Object || !strings.Contains(found[1], field.Name) {
					continue // an example of a value
				}
				holder, ok := exampleHolders[of.Name]
				require.True(t, ok, "exampleHolders lacks %s", of.Name)
				text := fmt.Sprintf(holder, found[1])
				if of.Name == "Subscription" {
					_, errs := gqlparser.LoadQueryWithRules(graphtest.Schema(), text, rules.NewDefaultRules())
					require.Empty(t, errs, "%s", text)
					continue
				}
				t.Run(of.Name+"."+field.Name, func(t *testing.T) {
					a := s.Send(t, graphtest.As(graphtest.NewPost(t, text, nil), graphtest.Client(access.Scopes()...)))
					require.Empty(t, a.Errors, "%s: %s", text, a.Body)
					require.NotRegexp(t, `^\{"\w+":(null|\{"nodes":\[\])`, string(a.Data), "%s", text)
					require.NotContains(t, string(a.Data), `"userErrors":[{`, "%s", text)
				})
				ran++
			}
		}
		require.Greater(t, ran, 20)
	})
}

// inputExample finds the examples of values in descriptions.
var inputExample = regexp.MustCompile("(?s)Example[^`]*`(\\{.*?\\})`")

// TestExamplesOfInputs requires that the example of each input type, and of each member of one, is a value of its type.
func TestExamplesOfInputs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../schema.graphqls")
	require.NoError(t, err)
	var fields, query strings.Builder
	n := 0
	add := func(description, of string) {
		if found := inputExample.FindStringSubmatch(description); found != nil {
			n++
			fmt.Fprintf(&fields, " example%d(value: %s): Boolean", n, of)
			fmt.Fprintf(&query, " example%d(value: %s)", n, found[1])
		}
	}
	for name, of := range graphtest.Schema().Types {
		if of.Kind != ast.InputObject {
			continue
		}
		add(of.Description, name)
		for _, member := range of.Fields {
			add(member.Description, member.Type.String())
		}
	}
	require.Greater(t, n, 9)
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: string(text) + "extend type Query {" + fields.String() + " }"})
	require.NoError(t, err)
	_, errs := gqlparser.LoadQueryWithRules(schema, "{"+query.String()+" }", rules.NewDefaultRules())
	require.Empty(t, errs)
}

// AdventureWorks lies beside the repository, or not.
func TestPageQueriesOnAdventureWorks(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile("../../shared/data/adventureworks.ndjson")
	if err != nil {
		t.Skip("skipped for want of AdventureWorks")
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openPages(t, e, string(lines)+`{"type":"redirect","id":"old","attributes":{"from":"bikes/old-road-bikes","to":"bikes/road-bikes"}}`+"\n")
		graphtest.LoadCodes(t, s)
		for _, q := range pageQueries(t) {
			values, ok := adventureWorksVariables()[q.name]
			require.True(t, ok || q.values == nil, "%s has no variables for AdventureWorks", q.name)
			requirePageQuery(t, s, q, values)
		}
	})
}

// requirePageQuery requires that an example has data and no errors, with the fewest scopes, in a bounded number of statements.
func requirePageQuery(t *testing.T, s *graphtest.Service, q pageQuery, values graphtest.Variables) {
	t.Helper()
	r := graphtest.As(graphtest.NewPost(t, q.text, values), graphtest.Client(q.scopes...))
	ctx, counter := store.CountStatements(r.Context())
	a := s.Send(t, r.WithContext(ctx))
	require.Empty(t, a.Errors, "%s: %s", q.name, a.Body)
	var data map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(a.Data, &data))
	for field, value := range data {
		require.NotEqual(t, "null", string(value), "%s: %s", q.name, field)
		require.NotContains(t, string(value), `{"totalCount":0`, "%s: %s", q.name, field)
	}
	statements := slices.DeleteFunc(counter.Queries(), isCachedStatement)
	t.Logf("%s: %d statements", q.name, len(statements))
	require.LessOrEqual(t, len(statements), pageStatements()[q.name], "%s\n%s", q.name, strings.Join(statements, "\n"))
}

// pageStatements returns the most SQL statements that each example may take, of the same number on both databases, when
// nothing is cached from an earlier request, but for catalogs, rules, settings and releases, which isCachedStatement leaves out.
func pageStatements() map[string]int {
	return map[string]int{
		"Banner": 2, "Home": 5, "MainMenu": 1, "CategoryFirstPage": 16, "CategorySheet": 5, "ByPrice": 9, "SalePage": 12, "ProductPageBySlug": 10,
		"ProductByPath": 7, "VariantByOptions": 7, "VariantPrices": 6, "SearchFirstPage": 17, "WhileTyping": 12, "MovedPage": 8,
		"Availability": 1, "CartPage": 10, "Promoted": 5, "BundlePrice": 4, "Related": 8, "BreadcrumbTrails": 5,
		"Choices": 2, "BySku": 9, "NewProducts": 4, "Collection": 11, "ProductWithVariants": 8, "Predictive": 16,
		"Localization": 2, "RecentlyViewed": 3, "Category": 5, "SearchByName": 17, "Variant": 7, "Variants": 5,
		"CheckoutTotals": 6, "SearchNarrowed": 8, "Collections": 1, "ActiveChannel": 0, "WithVariants": 7,
		"CategoryTree": 1, "TagsAndTypes": 6, "ProjectionSearch": 14, "AllLanguages": 6, "TieredPrices": 4,
		"RootCategories": 1, "StockList": 6, "Ledger": 7, "ActivePromotions": 2, "PromotionPage": 5, "FindCode": 3,
		"CheckCode": 9, "Redemptions": 4, "Catalogs": 2, "CatalogRules": 0, "Releases": 0, "JobList": 1,
		"AuthoredTree": 4, "WhyThisCatalog": 0, "SettingsPage": 1, "OrderLines": 4,
	}
}

// adventureWorksVariables returns the variables of the examples on AdventureWorks.
func adventureWorksVariables() map[string]graphtest.Variables {
	const vest, vestS, helmet, roadBikes, hierarchy, catalog = "a7902ef5-4d6b-54d6-ad78-546aa0b23523", "f5c4d391-7e31-5f1a-b7ba-d0eb75312296",
		"bf574e20-5d15-53a5-914f-7386d50a950e", "road-bikes", "7e47203d-5d2f-5bbe-8271-00106a6d265f", "ecbdc847-dbd5-5c3c-892c-1d59ac045d2d"
	line := graphtest.Variables{"productId": vestS, "quantity": 3}
	return map[string]graphtest.Variables{
		"CategoryFirstPage":   {"path": "cycles/bikes/road-bikes", "filter": graphtest.Variables{"tags": graphtest.Variables{"in": []string{"red"}}, "price": graphtest.Variables{"ge": "10000"}}},
		"CategorySheet":       {"slug": roadBikes, "offset": 4},
		"ByPrice":             {"slug": roadBikes},
		"ProductPageBySlug":   {"slug": "classic-vest-m1"},
		"ProductByPath":       {"path": "bikes/road-bikes/road-550-w-yellow-38-797"},
		"VariantByOptions":    {"slug": "classic-vest-m1", "options": []string{"0234fe3d-6818-5545-afe1-9bb1935e9da3"}},
		"VariantPrices":       {"slug": "classic-vest-m1"},
		"SalePage":            {"filter": graphtest.Variables{"or": []any{graphtest.Variables{"onSale": true}, graphtest.Variables{"tags": graphtest.Variables{"eq": "red"}}}, "not": graphtest.Variables{"tags": graphtest.Variables{"eq": "h"}}}},
		"SearchFirstPage":     {"text": "helmet"},
		"WhileTyping":         {"text": "raod ye"},
		"MovedPage":           {"path": "bikes/old-road-bikes"},
		"Availability":        {"ids": []string{vestS, helmet}},
		"CartPage":            {"lines": []any{line}, "codes": []string{"HI", "NONE"}},
		"Promoted":            {"slug": "sport-100-helmet-black-708"},
		"BundlePrice":         {"id": "937717c4-eb92-5631-9c63-2deb15d9a3d3", "choice": []any{graphtest.Variables{"component": "SE-M236", "options": []any{graphtest.Variables{"id": "29c1a782-c96d-5ee2-8d98-614b1f828b8d", "quantity": 1}}}}},
		"Related":             {"slug": "road-550-w-yellow-38-797"},
		"BreadcrumbTrails":    {"slug": "road-550-w-yellow-38-797"},
		"BySku":               {"skus": []string{"VE-C304-S", "HL-U509"}},
		"Collection":          {"slug": roadBikes, "filter": graphtest.Variables{"tags": graphtest.Variables{"eq": "yellow"}}},
		"ProductWithVariants": {"slug": "classic-vest-m1"},
		"Predictive":          {"text": "vests"},
		"RecentlyViewed":      {"ids": []string{vest, helmet}},
		"Category":            {"slug": roadBikes},
		"SearchByName":        {"text": "vest"},
		"Variant":             {"sku": "VE-C304-S"},
		"Variants":            {"ids": []string{vestS, helmet}},
		"CheckoutTotals":      {"lines": []any{line}},
		"SearchNarrowed":      {"filter": graphtest.Variables{"tags": graphtest.Variables{"eq": "red"}, "and": []any{graphtest.Variables{"tags": graphtest.Variables{"in": []string{"r", "h"}}}}}},
		"ProjectionSearch":    {"slug": roadBikes, "filter": graphtest.Variables{"search": "yellow", "productTypes": graphtest.Variables{"in": []string{"child", "bundle"}}}},
		"AllLanguages":        {"sku": "VE-C304-S"},
		"TieredPrices":        {"sku": "VE-C304-S"},
		"Ledger":              {"id": vestS},
		"PromotionPage":       {"id": "spring"},
		"FindCode":            {"code": "HI"},
		"CheckCode":           {"code": "HI", "lines": []any{line}},
		"Redemptions":         {"id": "spring"},
		"Releases":            {"id": catalog},
		"AuthoredTree":        {"id": hierarchy},
		"WhyThisCatalog":      {"context": graphtest.Variables{"channel": "mobile", "tags": []string{"clearance"}}},
		"OrderLines":          {"ids": []string{vestS, helmet}},
	}
}
