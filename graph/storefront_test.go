package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/internal/auth"
	"portico/store"
	"portico/store/storetest"
)

func TestStorefrontQueries(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		runScenarios(t, s, []scenario{
			{name: "a configured bundle", query: `{ productConfigured(id: ` + global("Product", "kit") + `, choices: [{component: "wood", options: [{id: ` + global("Product", "frame") + `, quantity: 3}]}]) {
				bundleChoices { component options { uuid quantity } } price { money { amount } } product { uuid components { key } componentProducts { uuid } } } }`,
				data: `{"productConfigured":{"bundleChoices":[{"component":"wood","options":[{"uuid":"frame","quantity":3}]}],"price":null,"product":{"uuid":"kit","components":[{"key":"wood"}],"componentProducts":[{"uuid":"frame"}]}}}`},
			{name: "an unknown bundle", query: `{ productConfigured(id: "nobody", choices: []) { pricebookUuid } }`, data: `{"productConfigured":null}`},
			{name: "no bundle", query: `{ productConfigured(id: "anvil", choices: []) { pricebookUuid } }`, data: `{"productConfigured":null}`,
				codes: []store.Code{store.Unprocessable}, argument: "id", holds: []string{"no components"}},
			{name: "too little of a bundle", query: `{ productConfigured(id: "kit", choices: []) { pricebookUuid } }`, data: `{"productConfigured":null}`,
				codes: []store.Code{store.Unprocessable}, argument: "choices", holds: []string{`1 to 2 options of the component \"wood\"`}},
			{name: "a bundle with several faults", query: `{ productConfigured(id: "kit", choices: [{component: "wood", options: [{id: "frame", quantity: 0}, {id: "anvil", quantity: 1}]}, {component: "metal", options: []}]) { pricebookUuid } }`, data: `{"productConfigured":null}`,
				codes: []store.Code{store.Unprocessable}, argument: "choices.0.options.0.quantity", holds: []string{`choices.0.options.1.id must be an option`, `choices.1.component must be a component`}},
			{name: "files by id, each once, in order", query: `{ files(ids: ["photo-2", "nobody", "photo-1", ` + global("File", "photo-1") + `]) { totalCount nodes { uuid } } }`,
				data: `{"files":{"totalCount":2,"nodes":[{"uuid":"photo-1"},{"uuid":"photo-2"}]}}`},
			{name: "a file", query: `{ file(id: ` + global("File", "photo-1") + `) { uuid } none: file(id: "nobody") { uuid } }`, data: `{"file":{"uuid":"photo-1"},"none":null}`},
			{name: "currencies", query: `{ currencies { code default decimalPlaces } formats: currencies { format } }`,
				data: `{"currencies":[{"code":"EUR","default":false,"decimalPlaces":2},{"code":"JPY","default":false,"decimalPlaces":0},{"code":"USD","default":true,"decimalPlaces":2}],"formats":[{"format":"€{price}"},{"format":"¥{price}"},{"format":"${price}"}]}`},
			{name: "languages and channels", query: `{ locales channels }`, data: `{"locales":["en","fr","pt-BR","zh-Hant"],"channels":[]}`},
			{name: "where stock is", query: `{ stockLocations { uuid name address } }`, data: `{"stockLocations":[{"uuid":"default","name":"Default","address":[]}]}`},
			{name: "stock of a product that is not imported", query: `mutation { stockCreate(input: {productId: "orphan", quantity: 1}) { stock { total } warnings { field message } userErrors { code } } }`,
				data: `{"stockCreate":{"stock":{"total":1},"warnings":[{"field":["input","productId"],"message":"productId names a product that does not exist: \"orphan\"; create the product, or delete the record with stockDelete."}],"userErrors":[]}}`},
			{name: "deleting it", query: `mutation { stockDelete(input: {productId: "orphan"}) { deletedId userErrors { code } } }`,
				data: `{"stockDelete":{"deletedId":"` + store.GlobalID(store.TypeStock, "orphan") + `","userErrors":[]}}`},
			{name: "deleting none", query: `mutation { stockDelete(input: {productId: "orphan"}) { deletedId userErrors { field code message } } }`,
				data: `{"stockDelete":{"deletedId":null,"userErrors":[{"field":["input","productId"],"code":"NOT_FOUND","message":"productId has no stock record: \"orphan\"."}]}}`},
			{name: "stock of a product that is imported", query: `mutation { stockCreate(input: {productId: "kit", quantity: 1}) { stock { total } warnings { message } userErrors { code } } }`,
				data: `{"stockCreate":{"stock":{"total":1},"warnings":[],"userErrors":[]}}`},
			{name: "no stock under the name of a resource", query: `mutation { stockCreate(input: {productId: "locations", quantity: 1}) { stock { total } userErrors { field code } } }`,
				data: `{"stockCreate":{"stock":null,"userErrors":[{"field":["input","productId"],"code":"UNPROCESSABLE"}]}}`},
		})
	})
}

// A file that no product of the release shows is visible only with the scope to write the catalog.
func TestFilesWithoutAProductAreHidden(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop()+"\n"+`{"type":"file","id":"spare","file_name":"spare.jpg","link":{"href":"https://cdn.example/spare.jpg"},"meta":{"timestamps":{}}}`+"\n")
		const query = `{ file(id: "spare") { uuid } files { totalCount } node(id: "RmlsZTpzcGFyZQ") { id } }`
		reader := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), &auth.Principal{ClientID: "c", Scopes: []string{"catalog:read"}}))
		require.JSONEq(t, `{"data":{"file":null,"files":{"totalCount":2},"node":null}}`, reader.Body.String())
		require.JSONEq(t, `{"data":{"file":{"uuid":"spare"},"files":{"totalCount":3},"node":{"id":"RmlsZTpzcGFyZQ"}}}`, s.Post(t, query, nil).Body.String())
	})
}

// Storefronts' largest pages stay within the limits.
func TestLargeStorefrontPagesPass(t *testing.T) {
	t.Parallel()
	shop := graphtest.BigShop(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, shop)
		runScenarios(t, s, []scenario{
			{name: "a hundred products with every edge", query: `{ catalogNode(by: {id: "wholes"}) { id name products(first: 100) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { ` + graphtest.ProductEdges + ` } } } } }`,
				holds: []string{`"totalCount":110`, graphtest.Whole(99)}},
			{name: "components of a hundred products with their own edges", query: `{ products(first: 100) { nodes { uuid componentProducts { ` + graphtest.ProductScalars + ` mainImage { href } files { file { href } } stock { total } } children { uuid sku stock { total } } } } }`},
			{name: "a home page", query: `{ hierarchies { nodes { name children(first: 20) { nodes { name hasChildren products(first: 10) { nodes { uuid name mainImage { href } price { money { formatted } } } } } } } } settings { currency } }`},
			{name: "a hundred objects by id", query: `query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Product { ` + graphtest.ProductEdges + ` } } }`, variables: graphtest.Variables{"ids": wholeIDs(100)}},
			{name: "a hundred aliases", query: `{` + graphtest.Many(100, ` p#: product(by: {id: "whole-000"}) { uuid name stock { total } }`) + ` }`},
			{name: "stock with products and ledgers", query: `{ stocks(first: 100) { totalCount nodes { uuid total product { uuid name mainImage { href } } transactions(first: 25) { action quantity createdAt reason } } } }`},
		})
		require.Empty(t, s.Log.String())
	})
}

func wholeIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = store.GlobalID(store.TypeProduct, graphtest.Whole(i))
	}
	return ids
}
