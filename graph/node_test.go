package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

func nodesByID() []scenario {
	tools := `{"catalogNode":{"uuid":"tools"}}`
	return []scenario{
		{name: "uuid", query: `{ catalogNode(by: {id: "tools"}) { uuid } }`, data: tools},
		{name: "global id", query: `{ catalogNode(by: {id: ` + global("CatalogNode", "tools") + `}) { uuid } }`, data: tools},
		{name: "slug", query: `{ catalogNode(by: {slug: "tools"}) { uuid } }`, data: tools},
		{name: "path", query: `{ catalogNode(by: {path: "workshop/tools"}) { uuid } }`, data: tools},
		{name: "path without the hierarchy", query: `{ catalogNode(by: {path: "/tools/"}) { uuid } }`, data: tools},
		{name: "path of a hierarchy", query: `{ catalogNode(by: {path: "workshop"}) { uuid } }`, data: `{"catalogNode":{"uuid":"workshop"}}`},
		{name: "path through another node", query: `{ catalogNode(by: {path: "elsewhere/tools"}) { uuid } }`, data: `{"catalogNode":null}`},
		{name: "a hierarchy as a node", query: `{ catalogNode(by: {id: "workshop"}) { uuid name slug description hasChildren parent { uuid } hierarchy { uuid } breadcrumbs { uuid } } }`,
			data: `{"catalogNode":{"uuid":"workshop","name":"Workshop","slug":"workshop","description":"All that makes noise.","hasChildren":true,"parent":null,"hierarchy":{"uuid":"workshop"},"breadcrumbs":[]}}`},
		{name: "a hierarchy by its global id", query: `{ catalogNode(by: {id: ` + global("Hierarchy", "workshop") + `}) { uuid } }`, data: `{"catalogNode":{"uuid":"workshop"}}`},
		{name: "all its members", query: `{ catalogNode(by: {id: "tools"}) { id name slug description hasChildren updatedAt hierarchy { uuid id } parent { uuid } breadcrumbs { uuid name slug } children { nodes { uuid } } } }`,
			data: `{"catalogNode":{"id":"Q2F0YWxvZ05vZGU6dG9vbHM","name":"Tools","slug":"tools","description":"Tools.","hasChildren":true,"updatedAt":"2024-05-30T12:00:00.000Z",
			"hierarchy":{"uuid":"workshop","id":"SGllcmFyY2h5OndvcmtzaG9w"},"parent":null,"breadcrumbs":[{"uuid":"workshop","name":"Workshop","slug":"workshop"}],"children":{"nodes":[{"uuid":"hand-tools"}]}}}`},
		{name: "breadcrumbs of an inner node", query: `{ catalogNode(by: {id: "hand-tools"}) { slug description hasChildren parent { uuid parent { uuid } } breadcrumbs { uuid } } }`,
			data: `{"catalogNode":{"slug":null,"description":null,"hasChildren":false,"parent":{"uuid":"tools","parent":null},"breadcrumbs":[{"uuid":"workshop"},{"uuid":"tools"}]}}`},
		{name: "curated products first, as the merchant has it", query: `{ catalogNode(by: {id: "tools"}) { products { totalCount edges { curated node { uuid } } } } }`,
			data: `{"catalogNode":{"products":{"totalCount":5,"edges":[{"curated":true,"node":{"uuid":"chalk"}},{"curated":true,"node":{"uuid":"anvil"}},
			{"curated":false,"node":{"uuid":"kit"}},{"curated":false,"node":{"uuid":"brush"}},{"curated":false,"node":{"uuid":"jar"}}]}}}`},
		{name: "a node without products", query: `{ catalogNode(by: {id: "empty"}) { products { totalCount nodes { uuid } } } }`, data: `{"catalogNode":{"products":{"totalCount":0,"nodes":[]}}}`},
		{name: "one product in two lists of one answer is curated in one of them", query: `{ tools: catalogNode(by: {id: "tools"}) { products(filter: {sku: {eq: "ANVIL"}}) { edges { curated } } } sale: catalogNode(by: {id: "sale"}) { products(filter: {sku: {eq: "ANVIL"}}) { edges { curated } } } }`,
			data: `{"tools":{"products":{"edges":[{"curated":true}]}},"sale":{"products":{"edges":[{"curated":false}]}}}`},
		{name: "the same for sibling nodes", query: `{ catalogNodes(filter: {ids: ["tools", "sale"]}) { nodes { uuid products(filter: {sku: {eq: "ANVIL"}}) { edges { curated } } } } }`,
			holds: []string{`{"uuid":"sale","products":{"edges":[{"curated":false}]}}`, `{"uuid":"tools","products":{"edges":[{"curated":true}]}}`}},
		{name: "unknown", query: `{ catalogNode(by: {id: "nowhere"}) { uuid } }`, data: `{"catalogNode":null}`},
		{name: "of another catalog", query: `{ catalogNode(by: {id: "box"}) { uuid } }`, data: `{"catalogNode":null}`},
		{name: "a product's id", query: `{ catalogNode(by: {id: "anvil"}) { uuid } }`, data: `{"catalogNode":null}`},
		{name: "a null id", query: `{ catalogNode(by: {id: null}) { uuid } }`, codes: invalid},
		{name: "a variable without a value", query: `query($id: ID!) { catalogNode(by: {id: $id}) { uuid } }`, codes: invalid},
		{name: "a bad page of products leaves the rest", query: `{ catalogNode(by: {id: "tools"}) { products(first: 0) { totalCount } } settings { pageLength } }`,
			data: `{"catalogNode":null,"settings":{"pageLength":25}}`, codes: unprocessable, argument: "first"},
	}
}

func nodeLists() []scenario {
	list := func(arguments string) string { return `{ catalogNodes(` + arguments + `) { nodes { uuid } } }` }
	return []scenario{
		{name: "by name, without hierarchies", query: `{ catalogNodes { totalCount nodes { uuid } } }`,
			data: `{"catalogNodes":{"totalCount":5,"nodes":[{"uuid":"empty"},{"uuid":"hand-tools"},{"uuid":"paints"},{"uuid":"sale"},{"uuid":"tools"}]}}`},
		{name: "below a node", query: list(`filter: {parentId: "tools"}`), data: `{"catalogNodes":{"nodes":[{"uuid":"hand-tools"}]}}`},
		{name: "below a hierarchy", query: list(`filter: {parentId: ` + global("Hierarchy", "workshop") + `}`), data: `{"catalogNodes":{"nodes":[{"uuid":"paints"},{"uuid":"tools"}]}}`},
		{name: "these", query: list(`filter: {ids: ["tools", ` + global("CatalogNode", "sale") + `, "nowhere"]}`), data: `{"catalogNodes":{"nodes":[{"uuid":"sale"},{"uuid":"tools"}]}}`},
		{name: "by ids, including a hierarchy", query: `{ catalogNodes(filter: {ids: ["workshop", "tools", ` + global("Hierarchy", "seasons") + `]}) { totalCount nodes { uuid hasChildren breadcrumbs { uuid } products(first: 1) { totalCount } } } }`,
			data: `{"catalogNodes":{"totalCount":3,"nodes":[{"uuid":"seasons","hasChildren":true,"breadcrumbs":[],"products":{"totalCount":3}},{"uuid":"tools","hasChildren":true,"breadcrumbs":[{"uuid":"workshop"}],"products":{"totalCount":5}},{"uuid":"workshop","hasChildren":true,"breadcrumbs":[],"products":{"totalCount":7}}]}}`},
		{name: "these, below that", query: list(`filter: {ids: ["tools", "sale"], parentId: "seasons"}`), data: `{"catalogNodes":{"nodes":[{"uuid":"sale"}]}}`},
		{name: "none of them", query: list(`filter: {ids: []}`), data: `{"catalogNodes":{"nodes":[]}}`},
		{name: "below an unknown one", query: list(`filter: {parentId: "nowhere"}`), data: `{"catalogNodes":{"nodes":[]}}`},
		{name: "in a hierarchy, below an unknown one", query: `{ hierarchy(id: "workshop") { allNodes(filter: {parentId: "nowhere"}) { totalCount } children(filter: {name: {in: []}}) { totalCount } } }`, data: `{"hierarchy":{"allNodes":{"totalCount":0},"children":{"totalCount":0}}}`},
		{name: "of these names, within bounds", query: list(`filter: {name: {in: ["Tools", "Sale", "Paints"]}, bounds: {id: {gt: "paints"}, updatedAt: {ge: "2024-01-01"}}}`), data: `{"catalogNodes":{"nodes":[{"uuid":"sale"},{"uuid":"tools"}]}}`},
		{name: "an empty condition", query: list(`filter: {slug: {}}`), codes: invalid, holds: []string{"exactly one"}},
		{name: "created after none was", query: list(`filter: {bounds: {createdAt: {gt: "2024-01-01"}}}`), data: `{"catalogNodes":{"nodes":[]}}`},
		{name: "too many values of a filter", query: `query($ids: [String!]!) { catalogNodes(filter: {name: {in: $ids}}) { nodes { uuid } } }`, variables: graphtest.Variables{"ids": slices.Repeat([]any{"a"}, 1001)}, codes: invalid, holds: []string{"at most 1000"}},
		{name: "a hierarchy", query: `{ hierarchy(id: ` + global("Hierarchy", "workshop") + `) { name hasChildren locale publishedAt allNodes(first: 2) { totalCount nodes { uuid } } children(filter: {slug: {eq: "tools"}}, orderBy: {field: ID}) { nodes { uuid } } } }`,
			data: `{"hierarchy":{"name":"Workshop","hasChildren":true,"locale":"en","publishedAt":"2024-05-30T12:00:00.000Z","allNodes":{"totalCount":3,"nodes":[{"uuid":"hand-tools"},{"uuid":"paints"}]},"children":{"nodes":[{"uuid":"tools"}]}}}`},
		{name: "a node is not a hierarchy", query: `{ hierarchy(id: "tools") { name } }`, data: `{"hierarchy":null}`},
		{name: "children of another parent", query: `{ hierarchy(id: "workshop") { children(filter: {parentId: "tools"}) { totalCount } } }`, data: `{"hierarchy":{"children":{"totalCount":0}}}`},
		{name: "hierarchies by name", query: `{ hierarchies(filter: {name: {eq: "Seasons"}}) { nodes { uuid allNodes(filter: {ids: ["seasons", "sale"]}) { nodes { uuid } } } } }`, data: `{"hierarchies":{"nodes":[{"uuid":"seasons","allNodes":{"nodes":[{"uuid":"sale"}]}}]}}`},
		{name: "curated products", query: `{ catalogNodes(filter: {ids: ["tools", "sale", "workshop"]}) { nodes { uuid locale curatedProducts { uuid } } } }`,
			data: `{"catalogNodes":{"nodes":[{"uuid":"sale","locale":"en","curatedProducts":[]},{"uuid":"tools","locale":"en","curatedProducts":[{"uuid":"chalk"},{"uuid":"anvil"}]},{"uuid":"workshop","locale":"en","curatedProducts":[]}]}}`},
		{name: "too few", query: list(`first: 0`), codes: unprocessable, argument: "first"},
		{name: "children", query: `{ hierarchies { totalCount nodes { id uuid name slug description updatedAt children { totalCount nodes { uuid children { nodes { uuid } } } } products(first: 1) { totalCount nodes { uuid } } } } }`,
			data: `{"hierarchies":{"totalCount":2,"nodes":[
			{"id":"SGllcmFyY2h5OnNlYXNvbnM","uuid":"seasons","name":"Seasons","slug":null,"description":null,"updatedAt":"2024-05-30T12:00:00.000Z",
			"children":{"totalCount":2,"nodes":[{"uuid":"empty","children":{"nodes":[]}},{"uuid":"sale","children":{"nodes":[]}}]},"products":{"totalCount":3,"nodes":[{"uuid":"glue"}]}},
			{"id":"SGllcmFyY2h5OndvcmtzaG9w","uuid":"workshop","name":"Workshop","slug":"workshop","description":"All that makes noise.","updatedAt":"2024-05-30T12:00:00.000Z",
			"children":{"totalCount":2,"nodes":[{"uuid":"paints","children":{"nodes":[]}},{"uuid":"tools","children":{"nodes":[{"uuid":"hand-tools"}]}}]},"products":{"totalCount":7,"nodes":[{"uuid":"kit"}]}}]}}`},
		{name: "a hierarchy's products, filtered and sorted", query: `{ hierarchies(first: 1) { nodes { products(filter: {sku: {in: ["ANVIL", "GLUE"]}}, orderBy: {field: ID}) { nodes { uuid } } } } }`,
			data: `{"hierarchies":{"nodes":[{"products":{"nodes":[{"uuid":"anvil"},{"uuid":"glue"}]}}]}}`},
	}
}

func anythingByID() []scenario {
	product, node, hierarchy, file, stock := global("Product", "anvil"), global("CatalogNode", "tools"), global("Hierarchy", "workshop"), global("File", "photo-1"), global("Stock", "anvil")
	members := `{ __typename id ... on Product { sku mainImage { id } } ... on CatalogNode { name } ... on Hierarchy { name } ... on File { fileName } ... on Stock { total } }`
	garbage := []string{"must be a global id or a uuid"}
	return []scenario{
		{name: "a product", query: `{ node(id: ` + product + `) ` + members + ` }`, data: `{"node":{"__typename":"Product","id":` + product + `,"sku":"ANVIL","mainImage":{"id":` + file + `}}}`},
		{name: "a node", query: `{ node(id: ` + node + `) ` + members + ` }`, data: `{"node":{"__typename":"CatalogNode","id":` + node + `,"name":"Tools"}}`},
		{name: "a hierarchy", query: `{ node(id: ` + hierarchy + `) ` + members + ` }`, data: `{"node":{"__typename":"Hierarchy","id":` + hierarchy + `,"name":"Workshop"}}`},
		{name: "a file", query: `{ node(id: ` + file + `) ` + members + ` }`, data: `{"node":{"__typename":"File","id":` + file + `,"fileName":"anvil.jpg"}}`},
		{name: "stock", query: `{ node(id: ` + stock + `) ` + members + ` }`, data: `{"node":{"__typename":"Stock","id":` + stock + `,"total":9}}`},
		{name: "several, in the requested order", query: `{ nodes(ids: [` + stock + `, ` + product + `, ` + global("Product", "nobody") + `, ` + hierarchy + `, ` + file + `, ` + node + `, ` + product + `]) { __typename } }`,
			data: `{"nodes":[{"__typename":"Stock"},{"__typename":"Product"},null,{"__typename":"Hierarchy"},{"__typename":"File"},{"__typename":"CatalogNode"},{"__typename":"Product"}]}`},
		{name: "none", query: `{ nodes(ids: []) { id } }`, data: `{"nodes":[]}`},
		{name: "an unknown product", query: `{ node(id: ` + global("Product", "nobody") + `) { id } }`, data: `{"node":null}`},
		{name: "a draft", query: `{ node(id: ` + global("Product", "drill-draft") + `) { id } }`, data: `{"node":null}`},
		{name: "an unknown node", query: `{ node(id: ` + global("CatalogNode", "nowhere") + `) { id } }`, data: `{"node":null}`},
		{name: "an unknown hierarchy", query: `{ node(id: ` + global("Hierarchy", "attic") + `) { id } }`, data: `{"node":null}`},
		{name: "a node is not a hierarchy", query: `{ node(id: ` + global("Hierarchy", "tools") + `) { id } }`, data: `{"node":null}`},
		{name: "an unknown file", query: `{ node(id: ` + global("File", "nothing") + `) { id } }`, data: `{"node":null}`},
		{name: "no stock", query: `{ node(id: ` + global("Stock", "glue") + `) { id } }`, data: `{"node":null}`},
		{name: "an id that several types share", query: `{ node(id: "anvil") { __typename } stock(productId: "anvil") { uuid } }`, data: `{"node":{"__typename":"Product"},"stock":{"uuid":"anvil"}}`},
		{name: "ids of the service find products, nodes and hierarchies only", query: `{ nodes(ids: ["workshop", "tools", "photo-1", ` + stock + `, "ten-off", "main", "everyone", "nobody", "drill-draft"]) { __typename } }`,
			data: `{"nodes":[{"__typename":"Hierarchy"},{"__typename":"CatalogNode"},null,{"__typename":"Stock"},null,null,null,null,null]}`},
		{name: "an invalid id", query: `{ node(id: "!") { id } }`, codes: invalid, argument: "id", holds: garbage},
		{name: "nothing", query: `{ node(id: "") { id } }`, codes: invalid, argument: "id", holds: garbage},
		{name: "an unknown type", query: `{ node(id: ` + global("Order", "1") + `) { id } }`, data: `{"node":null}`},
		{name: "an invalid id among valid ones", query: `{ nodes(ids: [` + product + `, "!"]) { id } }`, codes: invalid, argument: "ids.1", data: `{"nodes":null}`, holds: garbage},
		{name: "101", query: `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, variables: graphtest.Variables{"ids": slices.Repeat([]any{store.GlobalID("Product", "anvil")}, 101)}, codes: unprocessable, argument: "ids", holds: []string{"at most 100 elements, got 101"}},
		{name: "100", query: `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, variables: graphtest.Variables{"ids": slices.Repeat([]any{store.GlobalID("Product", "anvil")}, 100)}},
		{name: "a null in the list", query: `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, variables: graphtest.Variables{"ids": []any{nil}}, codes: invalid},
	}
}

func TestNothingIsFoundWithoutACatalog(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, "")
		for _, field := range []string{`catalogNode(by: {id: "tools"}) { uuid }`, `catalogNodes { totalCount }`, `hierarchies { totalCount }`,
			`product(by: {id: "anvil"}) { uuid }`, `products { totalCount }`, `node(id: ` + global("Product", "anvil") + `) { id }`} {
			a := s.Post(t, `{ `+field+` }`, nil)
			require.Equal(t, notFound, a.Codes(), field)
			require.Contains(t, a.Errors[0].Message, "No catalog is published yet")
		}
		runScenarios(t, s, []scenario{
			{name: "stock needs none", query: `{ stocks { totalCount nodes { uuid } } }`, data: `{"stocks":{"totalCount":0,"nodes":[]}}`},
			{name: "nor do settings", query: `{ settings { pageLength currency locale } }`, data: `{"settings":{"pageLength":25,"currency":"USD","locale":"en"}}`},
		})
	})
}

// A node shows its attributes, its position and its main image; both are null without one, and for an image that is no file.
func TestPositionsImagesAndAttributesOfNodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		none := strings.ReplaceAll(storetest.ChangedShopLine("node", "empty", `"id":"photo-2"`, `"id":"photo-9"`), `"id":"empty"`, `"id":"bare"`)
		s := graphtest.Open(t, e, graphtest.Shop()+"\n"+none)
		shown := s.Post(t, `{ empty: catalogNode(by: {id: "empty"}) { position mainImage { uuid href } attributes { key label type value values unit } } bare: catalogNode(by: {id: "bare"}) { position mainImage { uuid } attributes(keys: ["weight"]) { value } }
			tools: catalogNode(by: {id: "tools"}) { position mainImage { uuid } attributes { key } } authoredCatalogNode(id: "bare") { position mainImageUuid attributes { key value } } }`, nil)
		require.JSONEq(t, `{
			"empty": {"position": 7, "mainImage": {"uuid": "photo-2", "href": "https://cdn.example/glue?a=1&b=2"}, "attributes": [
				{"key": "brand", "label": "Brand", "type": "TEXT", "value": "Acme", "values": ["Acme"], "unit": null}, {"key": "weight", "label": "Weight", "type": "NUMBER", "value": "2.5", "values": ["2.5"], "unit": "kg"}]},
			"bare": {"position": 7, "mainImage": null, "attributes": [{"value": "2.5"}]},
			"tools": {"position": null, "mainImage": null, "attributes": []}, "authoredCatalogNode": {"position": 7, "mainImageUuid": "photo-9", "attributes": [{"key": "brand", "value": "Acme"}, {"key": "weight", "value": 2.5}]}}`, string(shown.Data))
	})
}
