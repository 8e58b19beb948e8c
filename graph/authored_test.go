package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

const (
	mended     = ` userErrors { field code message } }`
	theCatalog = ` catalog { uuid name hierarchies { uuid } pricebooks { pricebook { uuid } priority } locale currency createdAt published }` + mended
	theRule    = ` catalogRule { uuid name catalog { uuid } accountIds accountTagIds customerIds channels tags schedules { validFrom validTo } createdAt }` + mended
)

func TestCatalogMutations(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "as imported", query: `{ catalog(id: "outlet") { uuid name hierarchies { uuid } pricebooks { pricebook { uuid } priority } locale currency createdAt published } }`,
			data: `{"catalog":{"uuid":"outlet","name":"Outlet","hierarchies":[{"uuid":"seasons"}],"pricebooks":[{"pricebook":{"uuid":"standard"},"priority":1}],"locale":"fr","currency":"EUR","createdAt":"2023-02-02T00:00:00.000Z","published":true}}`},
		{name: "made", query: `mutation { catalogCreate(input: {id: "new", name: "New", hierarchyIds: ["attic", ` + global("AuthoredHierarchy", "seasons") + `], pricebooks: [{id: "vip", priority: 2}]}) {` + theCatalog + ` }`,
			data: `{"catalogCreate":{"catalog":{"uuid":"new","name":"New","hierarchies":[{"uuid":"attic"},{"uuid":"seasons"}],"pricebooks":[{"pricebook":{"uuid":"vip"},"priority":2}],"locale":null,"currency":null,"createdAt":"2024-05-30T12:00:00.000Z","published":false},"userErrors":[]}}`},
		{name: "changed, but for what is left out", query: `mutation { catalogUpdate(input: {id: ` + global("Catalog", "new") + `, locale: "de", hierarchyIds: []}) {` + theCatalog + ` }`,
			data: `{"catalogUpdate":{"catalog":{"uuid":"new","name":"New","hierarchies":[],"pricebooks":[{"pricebook":{"uuid":"vip"},"priority":2}],"locale":"de","currency":null,"createdAt":"2024-05-30T12:00:00.000Z","published":false},"userErrors":[]}}`},
		{name: "listed", query: `{ catalogs(first: 2) { totalCount nodes { uuid } pageInfo { hasNextPage } } }`, data: `{"catalogs":{"totalCount":3,"nodes":[{"uuid":"main"},{"uuid":"new"}],"pageInfo":{"hasNextPage":true}}}`},
		{name: "found by its id among all types", query: `{ node(id: ` + global("Catalog", "new") + `) { id ... on Catalog { name } } }`, data: `{"node":{"id":` + global("Catalog", "new") + `,"name":"New"}}`},
		{name: "every error is named", query: `mutation { catalogUpdate(input: {id: "new", name: "", hierarchyIds: ["attic", "a b"], currency: "euro"}) {` + theCatalog + ` }`,
			data: `{"catalogUpdate":{"catalog":null,"userErrors":[
			{"field":["input","name"],"code":"UNPROCESSABLE","message":"name is required."},
			{"field":["input","hierarchyIds","1"],"code":"INVALID","message":"hierarchyIds.1 must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -, got \"a b\"."},
			{"field":["input","currency"],"code":"INVALID","message":"currency must be a three-letter currency code such as USD, got \"euro\"."}]}}`},
		{name: "removed", query: `mutation { catalogDelete(input: {id: "new"}) { deletedId` + mended + ` }`, data: `{"catalogDelete":{"deletedId":` + global("Catalog", "new") + `,"userErrors":[]}}`},
	})
}

func TestCatalogRuleMutationsApplyAtOnce(t *testing.T) {
	t.Parallel()
	web := []string{"Store-Channel", "web"}
	runOnTestShop(t, []scenario{
		{name: "as imported", query: `{ catalogRule(id: "club") { name catalog { uuid } accountIds accountTagIds customerIds channels tags schedules { validFrom validTo } createdAt } }`,
			data: `{"catalogRule":{"name":"Club","catalog":{"uuid":"outlet"},"accountIds":["acme"],"accountTagIds":["gold"],"customerIds":["bob"],"channels":["web"],"tags":["clearance"],
			"schedules":[{"validFrom":"2024-01-01T00:00:00.000Z","validTo":"2025-01-01T00:00:00.000Z"}],"createdAt":"2023-02-02T00:00:00.000Z"}}`},
		{name: "before", query: `{ product(by: {id: "anvil"}) { catalogUuid } }`, headers: web, data: `{"product":{"catalogUuid":"main"}}`},
		{name: "made", query: `mutation { catalogRuleCreate(input: {id: "web", name: "Web", catalogId: ` + global("Catalog", "outlet") + `, channels: ["web"], schedules: [{validFrom: "2024-05-30T12:00:00Z", validTo: null}]}) {` + theRule + ` }`,
			data: `{"catalogRuleCreate":{"catalogRule":{"uuid":"web","name":"Web","catalog":{"uuid":"outlet"},"accountIds":[],"accountTagIds":[],"customerIds":[],"channels":["web"],"tags":[],
			"schedules":[{"validFrom":"2024-05-30T12:00:00.000Z","validTo":null}],"createdAt":"2024-05-30T12:00:00.000Z"},"userErrors":[]}}`},
		{name: "counts", query: `{ product(by: {id: "anvil"}) { catalogUuid } }`, headers: web, data: `{"product":{"catalogUuid":"outlet"}}`},
		{name: "changed", query: `mutation { catalogRuleUpdate(input: {id: "web", channels: [], tags: ["new", "old"], schedules: []}) { catalogRule { channels tags schedules { validTo } } } }`,
			data: `{"catalogRuleUpdate":{"catalogRule":{"channels":[],"tags":["new","old"],"schedules":[]}}}`},
		{name: "is ignored", query: `{ product(by: {id: "anvil"}) { catalogUuid } }`, headers: web, data: `{"product":{"catalogUuid":"main"}}`},
		{name: "every error is named", query: `mutation { catalogRuleUpdate(input: {id: "web", accountIds: ["acme", "!"], tags: ["a,b"], schedules: [{}, {validFrom: "2024-01-01", validTo: "2023-01-01"}]}) {` + theRule + ` }`,
			data: `{"catalogRuleUpdate":{"catalogRule":null,"userErrors":[
			{"field":["input","accountIds","1"],"code":"INVALID","message":"accountIds.1 must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -, got \"!\"."},
			{"field":["input","tags","0"],"code":"INVALID","message":"tags.0 must have no control characters and no commas, got \"a,b\"."},
			{"field":["input","schedules","1","validTo"],"code":"INVALID","message":"schedules.1.validTo must be after the schedule's start, 2024-01-01T00:00:00.000Z, got 2023-01-01T00:00:00.000Z."}]}}`},
		{name: "listed", query: `{ catalogRules { totalCount nodes { uuid } } }`, data: `{"catalogRules":{"totalCount":3,"nodes":[{"uuid":"club"},{"uuid":"everyone"},{"uuid":"web"}]}}`},
		{name: "found by its id among all types", query: `{ node(id: ` + global("CatalogRule", "web") + `) { ... on CatalogRule { id name } } }`, data: `{"node":{"id":` + global("CatalogRule", "web") + `,"name":"Web"}}`},
		{name: "removed", query: `mutation { catalogRuleDelete(input: {id: "web"}) { deletedId` + mended + ` }`, data: `{"catalogRuleDelete":{"deletedId":` + global("CatalogRule", "web") + `,"userErrors":[]}}`},
	})
}

func TestNodeMutations(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "hierarchies are listed", query: `{ authoredHierarchies { nodes { uuid } } authoredHierarchy(id: "attic") { name } }`, data: `{"authoredHierarchies":{"nodes":[{"uuid":"attic"},{"uuid":"seasons"},{"uuid":"workshop"}]},"authoredHierarchy":{"name":"Attic"}}`},
		{name: "a node is created in a hierarchy", query: `mutation { catalogNodesUpsert(input: {items: [{id: "shelf", parentId: ` + global("Hierarchy", "attic") + `, name: "Shelf"}]}) { items { uuid outcome }` + mended + ` }`,
			data: `{"catalogNodesUpsert":{"items":[{"uuid":"shelf","outcome":"CREATED"}],"userErrors":[]}}`},
		{name: "as written", query: `{ authoredCatalogNode(id: "shelf") { uuid hierarchy { uuid } parent { uuid } name slug description curatedProductUuids productCount productUuids updatedAt } }`,
			data: `{"authoredCatalogNode":{"uuid":"shelf","hierarchy":{"uuid":"attic"},"parent":null,"name":"Shelf","slug":null,"description":null,"curatedProductUuids":[],"productCount":0,"productUuids":[],"updatedAt":"2024-05-30T12:00:00.000Z"}}`},
		{name: "moved", query: `mutation { catalogNodesUpsert(input: {items: [{id: ` + global("CatalogNode", "shelf") + `, parentId: "box"}]}) { items { changes { field after } }` + mended + ` }`,
			data: `{"catalogNodesUpsert":{"items":[{"changes":[{"field":["parentId"],"after":"\"box\""}]}],"userErrors":[]}}`},
		{name: "attached", query: `mutation { catalogNodeProductsAttach(input: {id: "shelf", productIds: ["anvil", ` + global("Product", "brush") + `, "drill-draft"]}) { catalogNode { productCount productUuids two: productUuids(first: 2, offset: 1) }` + mended + ` }`,
			data: `{"catalogNodeProductsAttach":{"catalogNode":{"productCount":3,"productUuids":["drill-draft","brush","anvil"],"two":["brush","anvil"]},"userErrors":[]}}`},
		{name: "curated", query: `mutation { catalogNodeCurate(input: {id: "shelf", productIds: ["brush", "anvil"]}) { catalogNode { curatedProductUuids }` + mended + ` }`, data: `{"catalogNodeCurate":{"catalogNode":{"curatedProductUuids":["brush","anvil"]},"userErrors":[]}}`},
		{name: "detached and no longer curated", query: `mutation { catalogNodeProductsDetach(input: {id: "shelf", productIds: ["brush", "glue"]}) { catalogNode { curatedProductUuids productUuids }` + mended + ` }`,
			data: `{"catalogNodeProductsDetach":{"catalogNode":{"curatedProductUuids":["anvil"],"productUuids":["drill-draft","anvil"]},"userErrors":[]}}`},
		{name: "too many ids of a page", query: `{ authoredCatalogNode(id: "shelf") { productUuids(first: 101) } }`, codes: unprocessable, argument: "first"},
		{name: "a page beyond the limit", query: `{ authoredCatalogNode(id: "shelf") { productUuids(offset: 10001) } }`, codes: unprocessable, argument: "offset"},
		{name: "nodes are listed", query: `{ authoredCatalogNodes(filter: {hierarchyId: "attic"}) { totalCount nodes { uuid parent { uuid } productCount productUuids(first: 1) } } }`,
			data: `{"authoredCatalogNodes":{"totalCount":2,"nodes":[{"uuid":"box","parent":null,"productCount":1,"productUuids":["ink-unlisted"]},{"uuid":"shelf","parent":{"uuid":"box"},"productCount":2,"productUuids":["drill-draft"]}]}}`},
		{name: "removed", query: `mutation { catalogNodesDelete(input: {ids: ["shelf"]}) { items { uuid outcome }` + mended + ` }`, data: `{"catalogNodesDelete":{"items":[{"uuid":"shelf","outcome":"DELETED"}],"userErrors":[]}}`},
		{name: "found by their ids over all types", query: `{ nodes(ids: [` + global("AuthoredCatalogNode", "box") + `, ` + global("AuthoredHierarchy", "attic") + `, ` + global("AuthoredCatalogNode", "shelf") + `]) { __typename id } }`,
			data: `{"nodes":[{"__typename":"AuthoredCatalogNode","id":` + global("AuthoredCatalogNode", "box") + `},{"__typename":"AuthoredHierarchy","id":` + global("AuthoredHierarchy", "attic") + `},null]}`},
		{name: "shoppers see changes after the next publication", query: `{ catalogNode(by: {id: "tools"}) { name } }`, data: `{"catalogNode":{"name":"Tools"}}`},
	})
}

func TestShoppersCannotReadAuthoredRecords(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, kind := range []string{"Catalog", "CatalogRule", "AuthoredHierarchy", "AuthoredCatalogNode"} {
			id := map[string]string{"Catalog": "main", "CatalogRule": "club", "AuthoredHierarchy": "attic", "AuthoredCatalogNode": "box"}[kind]
			for _, query := range []string{`{ node(id: ` + global(kind, id) + `) { id } }`, `{ nodes(ids: [` + global(kind, id) + `]) { id } }`} {
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), storefront()))
				require.Equal(t, forbidden, a.Codes(), "%s: %s", query, a.Body)
			}
		}
	})
}

func TestAuthoredStatementsDoNotDependOnPageSize(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 100 {
		parent := `"parent":{"data":{"type":"node","id":"top"}},`
		lines = append(lines, fmt.Sprintf(`{"type":"node","id":"n%02d","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"attic"}},`+parent+`"products":{"data":[{"type":"product","id":"anvil"},{"type":"product","id":"brush"}]}}}`, i))
	}
	lines = append(lines, `{"type":"node","id":"top","attributes":{"name":"Top","position":1},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"attic"}}}}`)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop()+"\n"+strings.Join(lines, "\n"))
		for _, query := range []string{
			`query($n: Int) { authoredCatalogNodes(orderBy: {field: POSITION, direction: DESC}, filter: {parentId: "top"}, first: $n) { totalCount nodes { hierarchy { name } parent { name hierarchy { name } productCount } } } }`,
			`query($n: Int) { authoredCatalogNodes(filter: {hierarchyId: "attic"}, first: $n) { totalCount nodes { name productCount productUuids(first: 2) } } }`,
			`query($n: Int) { catalogs(first: $n) { totalCount nodes { name hierarchies { uuid } pricebooks { pricebook { uuid } } } } catalogRules(first: $n) { nodes { channels } } authoredHierarchies(first: $n) { nodes { name } } }`,
		} {
			require.Equal(t, cost(t, s, query, graphtest.Variables{"n": 1}), cost(t, s, query, graphtest.Variables{"n": 100}), query)
		}
		ids := func(n int) (list []string) {
			for i := range n {
				list = append(list, store.GlobalID(store.TypeAuthoredCatalogNode, fmt.Sprintf("n%02d", i)), store.GlobalID(store.TypeCatalog, "main"))
			}
			return list
		}
		const byID = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on AuthoredCatalogNode { productCount } ... on Catalog { name } } }`
		require.Equal(t, cost(t, s, byID, graphtest.Variables{"ids": ids(1)}), cost(t, s, byID, graphtest.Variables{"ids": ids(50)}))
	})
}
