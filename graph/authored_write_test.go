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

const createdItems = ` items { uuid outcome } warnings { field message }` + mended

const writtenItems = ` items { uuid outcome changeCount changes { field before after } } warnings { field message }` + mended

func TestProductMutations(t *testing.T) {
	t.Parallel()
	const upsert = `mutation($items: [ProductItemInput!]!, $dryRun: Boolean! = false) { productsUpsert(input: {items: $items, dryRun: $dryRun}) {` + writtenItems + ` }`
	items := func(list ...map[string]any) graphtest.Variables { return graphtest.Variables{"items": list} }
	runOnTestShop(t, []scenario{
		{name: "a new product", query: `mutation { productsUpsert(input: {items: {id: "mug", sku: "MUG", name: "Mug", status: LIVE, description: "Blue", seo: {title: "T", description: "D"}}}) {` + writtenItems + ` }`,
			data: `{"productsUpsert":{"items":[{"uuid":"mug","outcome":"CREATED","changeCount":9,"changes":[{"field":["baseProduct"],"before":null,"after":"false"},{"field":["createdAt"],"before":null,"after":"\"2024-05-30T12:00:00.000Z\""},{"field":["description"],"before":null,"after":"\"Blue\""},{"field":["name"],"before":null,"after":"\"Mug\""},{"field":["seo","description"],"before":null,"after":"\"D\""},{"field":["seo","title"],"before":null,"after":"\"T\""},{"field":["sku"],"before":null,"after":"\"MUG\""},{"field":["slug"],"before":null,"after":"\"mug\""},{"field":["status"],"before":null,"after":"\"live\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "what it wrote", query: `mutation { products: productsUpsert(input: {items: [{id: "mug", upcEan: "2"}, {id: "anvil", upcEan: "3"}]}) { items { node { id ... on AuthoredProduct { uuid name upcEan updatedAt } } } }
			synonymsUpsert(input: {items: [{id: "cups", terms: ["cup", "mug"]}]}) { items { node { ... on Synonym { kind terms } } } } dry: productsUpsert(input: {items: [{id: "bowl", sku: "BOWL", name: "Bowl", status: DRAFT}, {id: "mug", name: "Cup", upcEan: null}], dryRun: true}) {
			items { outcome node { ... on AuthoredProduct { name } } } } gone: synonymsUpsert(input: {items: [{id: "cups", remove: true}]}) { items { outcome node { id } } } back: productsUpsert(input: {items: [{id: "mug", upcEan: null}, {id: "anvil", upcEan: null}]}) { items { outcome } } }`,
			data: `{"products":{"items":[{"node":{"id":` + global("AuthoredProduct", "mug") + `,"uuid":"mug","name":"Mug","upcEan":"2","updatedAt":"2024-05-30T12:00:00.000Z"}},{"node":{"id":` + global("AuthoredProduct", "anvil") + `,"uuid":"anvil","name":"Anvil","upcEan":"3","updatedAt":"2024-05-30T12:00:00.000Z"}}]},
			"synonymsUpsert":{"items":[{"node":{"kind":"EQUIVALENT","terms":["cup","mug"]}}]},"dry":{"items":[{"outcome":"CREATED","node":null},{"outcome":"UPDATED","node":{"name":"Mug"}}]},"gone":{"items":[{"outcome":"DELETED","node":null}]},"back":{"items":[{"outcome":"UPDATED"},{"outcome":"UPDATED"}]}}`},
		{name: "is a draft until it is published", query: `{ authoredProduct(by: {id: "mug"}) { name slug status createdAt updatedAt } product(by: {id: "mug"}) { id } }`,
			data: `{"authoredProduct":{"name":"Mug","slug":"mug","status":"LIVE","createdAt":"2024-05-30T12:00:00.000Z","updatedAt":"2024-05-30T12:00:00.000Z"},"product":null}`},
		{name: "a dry run", query: upsert, variables: graphtest.Variables{"dryRun": true, "items": []any{map[string]any{"sku": "MUG", "name": "Cup"}}},
			data: `{"productsUpsert":{"items":[{"uuid":"mug","outcome":"UPDATED","changeCount":1,"changes":[{"field":["name"],"before":"\"Mug\"","after":"\"Cup\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "null clears, by variables", query: upsert, variables: items(map[string]any{"id": "mug", "description": nil, "seo": map[string]any{"title": nil}}),
			data: `{"productsUpsert":{"items":[{"uuid":"mug","outcome":"UPDATED","changeCount":2,"changes":[{"field":["description"],"before":"\"Blue\"","after":null},{"field":["seo","title"],"before":"\"T\"","after":null}]}],"warnings":[],"userErrors":[]}}`},
		{name: "null clears, by literals", query: `mutation($none: SeoInput) { productsUpsert(input: {items: {id: "mug", seo: $none}}) {` + writtenItems + ` }`, variables: graphtest.Variables{"none": nil},
			data: `{"productsUpsert":{"items":[{"uuid":"mug","outcome":"UPDATED","changeCount":1,"changes":[{"field":["seo","description"],"before":"\"D\"","after":null}]}],"warnings":[],"userErrors":[]}}`},
		{name: "absent members stay", query: `mutation($none: SeoInput, $name: String) { productsUpsert(input: {items: [{id: "mug", seo: $none, name: $name, upcEan: "1"}]}) {` + writtenItems + ` }`,
			data: `{"productsUpsert":{"items":[{"uuid":"mug","outcome":"UPDATED","changeCount":1,"changes":[{"field":["upcEan"],"before":null,"after":"\"1\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "a warning", query: `mutation { productsUpsert(input: {items: [{id: "mug", mainImageId: "none", translations: [{locale: "fr", name: "Tasse"}]}]}) {` + writtenItems + ` }`,
			data: `{"productsUpsert":{"items":[{"uuid":"mug","outcome":"UPDATED","changeCount":2,"changes":[{"field":["translations","fr","name"],"before":null,"after":"\"Tasse\""},{"field":["mainImageId"],"before":null,"after":"\"none\""}]}],
			"warnings":[{"field":["input","items","0","mainImageId"],"message":"items.0.mainImageId refers to a file that is neither in the items nor in the store: \"none\"."}],"userErrors":[]}}`},
		{name: "every error is named, and nothing written", query: upsert, variables: items(map[string]any{"id": "mug", "name": "Cup"}, map[string]any{"id": "cup", "sku": "CUP"}, map[string]any{"id": "anvil", "parentId": "!"}),
			data: `{"productsUpsert":{"items":[],"warnings":[],"userErrors":[
			{"field":["input","items","1","name"],"code":"INVALID","message":"items.1.name is required."},
			{"field":["input","items","1","status"],"code":"INVALID","message":"items.1.status is required."},
			{"field":["input","items","2","parentId"],"code":"INVALID","message":"items.2.parentId must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -, got \"!\"."}]}}`},
		{name: "a price", query: `mutation { pricesUpsert(input: {items: [{id: "price-mug", pricebookId: "standard", sku: "MUG", amounts: [{money: {currency: "USD", amount: "1250"}, tiers: [{minimumQuantity: 10, money: {currency: "USD", amount: "1100"}}]}]}]}) {` + createdItems + ` }`,
			data: `{"pricesUpsert":{"items":[{"uuid":"price-mug","outcome":"CREATED"}],"warnings":[],"userErrors":[]}}`},
		{name: "a sale", query: `mutation { salesUpsert(input: {items: [{pricebookId: "standard", sku: "MUG", name: "summer", validFrom: "2024-01-01T00:00:00Z", validTo: null, amounts: [{money: {currency: "USD", amount: "1000"}}]}]}) {` + writtenItems + ` }`,
			data: `{"salesUpsert":{"items":[{"uuid":"price-mug","outcome":"UPDATED","changeCount":3,"changes":[{"field":["sales","summer","amounts","USD","money","amount"],"before":null,"after":"1000"},{"field":["sales","summer","amounts","USD","includesTax"],"before":null,"after":"false"},{"field":["sales","summer","validFrom"],"before":null,"after":"\"2024-01-01T00:00:00.000Z\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "a wrong amount", query: `mutation { pricesUpsert(input: {items: [{pricebookId: "nowhere", sku: "MUG", amounts: [{money: {currency: "USD", amount: "12.50"}}]}]}) {` + writtenItems + ` }`,
			data: `{"pricesUpsert":{"items":[],"warnings":[],"userErrors":[{"field":["input","items","0","amounts","0","money","amount"],"code":"INVALID","message":"items.0.amounts.0.money.amount must be digits of minor units without a sign or leading zeros, such as \"1250\", got \"12.50\"."},{"field":["input","items","0","pricebookId"],"code":"UNKNOWN_REFERENCE","message":"items.0.pricebookId refers to the pricebook \"nowhere\", which is neither in the items nor in the store."}]}}`},
		{name: "a file", query: `mutation { filesUpsert(input: {items: [{id: "photo", fileName: "mug.jpg", href: "https://files.example/mug.jpg", width: 8, height: 6}]}) {` + createdItems + ` }`,
			data: `{"filesUpsert":{"items":[{"uuid":"photo","outcome":"CREATED"}],"warnings":[],"userErrors":[]}}`},
		{name: "an attribute", query: `mutation { attributesUpsert(input: {items: [{key: "load_kg", label: "Load", labels: [{locale: "fr", label: "Charge"}], type: NUMBER, unit: "kg", filterable: true}]}) {` + createdItems + ` }`,
			data: `{"attributesUpsert":{"items":[{"uuid":"load_kg","outcome":"CREATED"}],"warnings":[],"userErrors":[]}}`},
		{name: "its value", query: `mutation { productsUpsert(input: {items: [{id: "mug", mainImageId: "photo", attributes: [{key: "load_kg", value: 2.5}]}]}) { items { changes { field after } } userErrors { message } } }`,
			data: `{"productsUpsert":{"items":[{"changes":[{"field":["attributes","load_kg","value"],"after":"2.5"},{"field":["mainImageId"],"after":"\"photo\""}]}],"userErrors":[]}}`},
		{name: "in a node", query: `mutation { catalogNodeProductsSet(input: {id: "box", productIds: ["mug", "anvil"]}) { catalogNode { productCount productUuids(first: 5) } attachedUuids detachedUuids` + mended + ` }`,
			data: `{"catalogNodeProductsSet":{"catalogNode":{"productCount":2,"productUuids":["mug","anvil"]},"attachedUuids":["mug","anvil"],"detachedUuids":["ink-unlisted"],"userErrors":[]}}`},
		{name: "a node, dry", query: `mutation { catalogNodeProductsSet(input: {id: "box", productIds: ["mug"], dryRun: true}) { catalogNode { productCount } attachedUuids detachedUuids` + mended + ` }`,
			data: `{"catalogNodeProductsSet":{"catalogNode":{"productCount":2},"attachedUuids":[],"detachedUuids":["anvil"],"userErrors":[]}}`},
		{name: "a node, moved", query: `mutation { catalogNodeProductsSet(input: {id: "box", productIds: ["anvil", "mug"]}) { catalogNode { productUuids(first: 5) } attachedUuids detachedUuids` + mended + ` }`,
			data: `{"catalogNodeProductsSet":{"catalogNode":{"productUuids":["anvil","mug"]},"attachedUuids":[],"detachedUuids":[],"userErrors":[]}}`},
		{name: "nodes", query: `mutation { catalogNodesUpsert(input: {items: [{id: "cups", hierarchyId: "attic", name: "Cups"}, {id: "tall", hierarchyId: "attic", parentId: "cups", name: "Tall", seo: {title: "T"}}]}) {` + createdItems + ` }`,
			data: `{"catalogNodesUpsert":{"items":[{"uuid":"cups","outcome":"CREATED"},{"uuid":"tall","outcome":"CREATED"}],"warnings":[],"userErrors":[]}}`},
		{name: "a node at the top, by global ids", query: `mutation { catalogNodesUpsert(input: {items: [{id: ` + global("AuthoredCatalogNode", "tall") + `, hierarchyId: ` + global("AuthoredHierarchy", "attic") + `, parentId: null, seo: {title: null}}]}) {` + writtenItems + ` }`,
			data: `{"catalogNodesUpsert":{"items":[{"uuid":"tall","outcome":"UPDATED","changeCount":2,"changes":[{"field":["seo","title"],"before":"\"T\"","after":null},{"field":["parentId"],"before":"\"cups\"","after":null}]}],"warnings":[],"userErrors":[]}}`},
		{name: "texts of a node in languages", query: `mutation { catalogNodesUpsert(input: {items: [{id: "cups", seo: {title: "T"}, translations: [{locale: "fr", name: "Tasses", seo: {description: "D"}}, {locale: "de", name: "Tassen"}]}]}) {` + writtenItems + ` }`,
			data: `{"catalogNodesUpsert":{"items":[{"uuid":"cups","outcome":"UPDATED","changeCount":4,"changes":[{"field":["translations","de","name"],"before":null,"after":"\"Tassen\""},{"field":["translations","fr","name"],"before":null,"after":"\"Tasses\""},{"field":["translations","fr","seo","description"],"before":null,"after":"\"D\""},{"field":["seo","title"],"before":null,"after":"\"T\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "null clears one", query: `mutation { catalogNodesUpsert(input: {items: {id: "cups", translations: {locale: "de", name: null}}}) { items { outcome changes { field before after } }` + mended + ` }`,
			data: `{"catalogNodesUpsert":{"items":[{"outcome":"UPDATED","changes":[{"field":["translations","de","name"],"before":"\"Tassen\"","after":null}]}],"userErrors":[]}}`},
		{name: "hierarchies", query: `mutation { hierarchiesUpsert(input: {items: [{id: ` + global("AuthoredHierarchy", "attic") + `, seo: {title: "T"}, translations: {locale: "fr", name: "Grenier"}}, {id: "cellar", name: "Cellar"}]}) {` + writtenItems + ` }`,
			data: `{"hierarchiesUpsert":{"items":[{"uuid":"attic","outcome":"UPDATED","changeCount":2,"changes":[{"field":["translations","fr","name"],"before":null,"after":"\"Grenier\""},{"field":["seo","title"],"before":null,"after":"\"T\""}]},{"uuid":"cellar","outcome":"CREATED","changeCount":2,"changes":[{"field":["createdAt"],"before":null,"after":"\"2024-05-30T12:00:00.000Z\""},{"field":["name"],"before":null,"after":"\"Cellar\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "synonyms", query: `mutation { synonymsUpsert(input: {items: [{id: "cup", term: "mug", terms: ["cup"]}, {id: "organ", remove: true}]}) {` + writtenItems + ` }`,
			data: `{"synonymsUpsert":{"items":[{"uuid":"cup","outcome":"CREATED","changeCount":3,"changes":[{"field":["kind"],"before":null,"after":"\"one_way\""},{"field":["term"],"before":null,"after":"\"mug\""},{"field":["terms"],"before":null,"after":"[\"cup\"]"}]},{"uuid":"organ","outcome":"DELETED","changeCount":0,"changes":[]}],"warnings":[],"userErrors":[]}}`},
		{name: "a redirect", query: `mutation { redirectsUpsert(input: {items: [{id: "r", from: "cups/blue", productId: ` + global("Product", "mug") + `}, {from: "loop", to: "loop"}]}) {` + writtenItems + ` }`,
			data: `{"redirectsUpsert":{"items":[],"warnings":[],"userErrors":[{"field":["input","items","1","to"],"code":"INVALID","message":"items.1.to must be another path than the one that it is for, \"loop\"."}]}}`},
		{name: "a redirect", query: `mutation { redirectsUpsert(input: {items: [{id: "by-path", from: "cups/red", to: "mug"}]}) { items { outcome }` + mended + ` }`,
			data: `{"redirectsUpsert":{"items":[{"outcome":"CREATED"}],"userErrors":[]}}`},
		{name: "null clears what it led to", query: `mutation { redirectsUpsert(input: {items: [{id: "by-path", to: null, catalogNodeId: "box"}]}) { items { outcome }` + mended + ` }`,
			data: `{"redirectsUpsert":{"items":[{"outcome":"UPDATED"}],"userErrors":[]}}`},
		{name: "a price book", query: `mutation { pricebooksUpsert(input: {items: [{id: "trade", name: "Trade"}, {id: ` + global("Pricebook", "vip") + `, description: "For members"}]}) { items { uuid outcome changes { field before after } node { id ... on Pricebook { name description } } }` + mended + ` }`,
			data: `{"pricebooksUpsert":{"items":[{"uuid":"trade","outcome":"CREATED","changes":[{"field":["name"],"before":null,"after":"\"Trade\""}],"node":{"id":` + global("Pricebook", "trade") + `,"name":"Trade","description":null}},{"uuid":"vip","outcome":"UPDATED","changes":[{"field":["description"],"before":null,"after":"\"For members\""}],"node":{"id":` + global("Pricebook", "vip") + `,"name":"VIP","description":"For members"}}],"userErrors":[]}}`},
		{name: "price books deleted", query: `mutation { unused: pricebooksDelete(input: {ids: ["trade"]}) { items { uuid outcome }` + mended + ` used: pricebooksDelete(input: {ids: ["vip"]}) { items { uuid } userErrors { field code message referrers { kind resourceUuid } referrerCount } } }`,
			data: `{"unused":{"items":[{"uuid":"trade","outcome":"DELETED"}],"userErrors":[]},"used":{"items":[],"userErrors":[{"field":["input","ids","0"],"code":"IN_USE","message":"ids.0 cannot be deleted: it is used by the catalog \"main\" and 1 more; change or delete that first.","referrers":[{"kind":"CATALOG","resourceUuid":"main"},{"kind":"PRICE","resourceUuid":"vip-anvil"}],"referrerCount":2}]}}`},
		{name: "the global id of a price", query: `mutation { pricebooksDelete(input: {ids: [` + global("AuthoredPrice", "vip") + `]}) { items { uuid }` + mended + ` }`,
			data: `{"pricebooksDelete":null}`, codes: []store.Code{store.Invalid}, argument: "input.ids.0", holds: []string{"send that of a price book, or its own id"}},
		{name: "price modifiers", query: `mutation { priceModifiersUpsert(input: {items: [{name: "bulk", amounts: [{money: {currency: "EUR", amount: "90"}}]}, {id: "xl", name: "size-xl", modifierType: PRICE_INCREMENT, amounts: [{money: {currency: "USD", amount: "200"}, includesTax: true}]}]}) {` + writtenItems + ` }`,
			data: `{"priceModifiersUpsert":{"items":[{"uuid":"bulk-1","outcome":"UPDATED","changeCount":2,"changes":[{"field":["amounts","EUR","money","amount"],"before":null,"after":"90"},{"field":["amounts","EUR","includesTax"],"before":null,"after":"false"}]},{"uuid":"xl","outcome":"CREATED","changeCount":4,"changes":[{"field":["amounts","USD","money","amount"],"before":null,"after":"200"},{"field":["amounts","USD","includesTax"],"before":null,"after":"true"},{"field":["modifierType"],"before":null,"after":"\"price_increment\""},{"field":["name"],"before":null,"after":"\"size-xl\""}]}],"warnings":[],"userErrors":[]}}`},
		{name: "price modifiers deleted, dry", query: `mutation { priceModifiersDelete(input: {ids: [` + global("AuthoredPriceModifier", "bulk-1") + `], dryRun: true}) { items { uuid outcome } warnings { field message referrers { kind resourceUuid } referrerCount }` + mended + ` }`,
			data: `{"priceModifiersDelete":{"items":[{"uuid":"bulk-1","outcome":"DELETED"}],"warnings":[{"field":["input","ids","0"],"message":"ids.0 is still used by the product \"glue\".","referrers":[{"kind":"PRODUCT","resourceUuid":"glue"}],"referrerCount":1}],"userErrors":[]}}`},
		{name: "attributes deleted", query: `mutation { attributesUpsert(input: {items: [{key: "depth", label: "Depth", type: NUMBER}]}) { userErrors { message } } attributesDelete(input: {ids: ["depth"]}) { items { uuid outcome node { id } }` + mended + ` }`,
			data: `{"attributesUpsert":{"userErrors":[]},"attributesDelete":{"items":[{"uuid":"depth","outcome":"DELETED","node":null}],"userErrors":[]}}`},
		{name: "a file deleted, dry", query: `mutation { filesDelete(input: {ids: ["photo"], dryRun: true}) {` + writtenItems + ` }`,
			data: `{"filesDelete":{"items":[{"uuid":"photo","outcome":"DELETED","changeCount":0,"changes":[]}],"warnings":[{"field":["input","ids","0"],"message":"ids.0 is still used by the product \"mug\"."}],"userErrors":[]}}`},
		{name: "the global id of another type", query: `mutation { productsDelete(input: {ids: ["mug", ` + global("AuthoredCatalogNode", "mug") + `]}) { items { uuid }` + mended + ` }`,
			data: `{"productsDelete":null}`, codes: []store.Code{store.Invalid}, argument: "input.ids.1", holds: []string{"input.ids.1 is the global id of the type AuthoredCatalogNode; send that of a product, or its own id."}},
		{name: "by variables, in an item", query: `mutation($items: [CatalogNodeItemInput!]!) { catalogNodesUpsert(input: {items: $items}) { items { uuid }` + mended + ` }`, variables: graphtest.Variables{"items": map[string]any{"hierarchyId": store.GlobalID(store.TypeAuthoredCatalogNode, "box"), "name": "X"}},
			data: `{"catalogNodesUpsert":null}`, codes: []store.Code{store.Invalid}, argument: "input.items.0.hierarchyId"},
		{name: "of the published product", query: `mutation { productsDelete(input: {ids: [` + global("Product", "mug") + `], dryRun: true}) { items { uuid }` + mended + ` }`, data: `{"productsDelete":{"items":[{"uuid":"mug"}],"userErrors":[]}}`},
		{name: "what waits", query: `{ catalogPendingChanges(catalogId: "main") { nodes { kind uuid } } }`, holds: []string{`{"kind":"PRODUCT","uuid":"mug"}`, `{"kind":"PRICE","uuid":"MUG"}`}},
		{name: "deleted", query: `mutation { productsDelete(input: {ids: [` + global("Product", "mug") + `]}) { items { uuid }` + mended + ` }`, data: `{"productsDelete":{"items":[{"uuid":"mug"}],"userErrors":[]}}`},
		{name: "a node with a product that was deleted", query: `mutation { catalogNodeProductsSet(input: {id: "box", productIds: ["mug", "anvil", "none"]}) { attachedUuids` + mended + ` }`,
			data: `{"catalogNodeProductsSet":{"attachedUuids":[],"userErrors":[{"field":["input","productIds","2"],"code":"UNKNOWN_REFERENCE","message":"productIds.2 is not a product: \"none\"."}]}}`},
		{name: "sent as it is", query: `mutation { catalogNodeProductsSet(input: {id: "box", productIds: ["anvil", "mug"]}) { catalogNode { productUuids(first: 5) } attachedUuids detachedUuids` + mended + ` }`,
			data: `{"catalogNodeProductsSet":{"catalogNode":{"productUuids":["anvil","mug"]},"attachedUuids":[],"detachedUuids":[],"userErrors":[]}}`},
		{name: "moved and detached", query: `mutation { first: catalogNodeProductsSet(input: {id: "box", productIds: ["mug", "anvil"]}) { catalogNode { productUuids(first: 5) } } then: catalogNodeProductsSet(input: {id: "box", productIds: ["anvil"]}) { detachedUuids` + mended + ` }`,
			data: `{"first":{"catalogNode":{"productUuids":["mug","anvil"]}},"then":{"detachedUuids":["mug"],"userErrors":[]}}`},
	})
}

// A call of the most items fits in the limits of a request, and its changes are bounded.
func TestMostItemsOfACall(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := graphtest.Open(t, e, graphtest.Shop())
		const upsert = `mutation($items: [ProductItemInput!]!) { productsUpsert(input: {items: $items}) {` + writtenItems + ` }`
		send := func(n int, description string) *graphtest.Response {
			items := make([]any, n)
			for i := range items {
				items[i] = map[string]any{"sku": fmt.Sprint("SKU-", i), "name": fmt.Sprint("Product ", i), "status": "LIVE", "description": description, "translations": []any{map[string]any{"locale": "fr", "name": "Produit"}}, "tags": []string{"a", "b"}}
			}
			return s.Post(t, upsert, graphtest.Variables{"items": items})
		}
		first := send(1000, strings.Repeat("a", 500))
		require.Empty(t, first.Errors)
		require.Equal(t, 1000, strings.Count(string(first.Data), `"CREATED"`))
		second := send(1000, strings.Repeat("b", 500))
		require.Empty(t, second.Errors)
		require.Equal(t, 1000, strings.Count(string(second.Data), `"UPDATED"`))
		require.Less(t, len(second.Data), 1<<19, "values of changes are bounded")
		require.Contains(t, string(send(1001, "").Data), "must have between 1 and 1000 elements, got 1001")
	})
}

// What a mutation wrote is read by one statement for all items, if it is selected, and costs by their number before they are
// written.
func TestWrittenNodesAreReadTogether(t *testing.T) {
	t.Parallel()
	const upsert = `mutation($items: [FileItemInput!]!) { filesUpsert(input: {items: $items}) { items { outcome %s } userErrors { message } } }`
	files := func(n int) graphtest.Variables {
		items := make([]any, n)
		for i := range items {
			items[i] = map[string]any{"id": fmt.Sprintf("file-%d", i), "fileName": "a.jpg", "href": "https://files.example/a.jpg"}
		}
		return graphtest.Variables{"items": items}
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		statements := func(n int, node string) int {
			r := graphtest.As(graphtest.NewPost(t, fmt.Sprintf(upsert, node), files(n)), graphtest.Admin())
			ctx, counter := store.CountStatements(r.Context())
			require.Empty(t, s.Send(t, r.WithContext(ctx)).Errors)
			return counter.Count()
		}
		statements(50, "") // creates them
		const node = `node { ... on AuthoredFile { id fileName } }`
		without := statements(50, "")
		require.Equal(t, without+1, statements(50, node))

		a := s.Post(t, fmt.Sprintf(upsert, `node { ... on AuthoredFile {`+graphtest.Many(40, " a#: fileName")+` } }`), files(1000))
		require.Contains(t, a.Body.String(), "UNPROCESSABLE")
		require.Contains(t, a.Body.String(), "filesUpsert(input: …).items.node: 1,000 rows; the operation may cost")
	})
}

// An amount without includesTax keeps that of the stored one in its currency.
func TestAmountsKeepTheirTax(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		write := func(amounts string) string {
			a := s.Post(t, `mutation { pricesUpsert(input: {items: {pricebookId: "standard", sku: "TAXED", amounts: [`+amounts+`]}}) {
				items { changes { field after } node { ... on AuthoredPrice { amounts { money { amount } includesTax } } } } userErrors { message } } }`, nil)
			require.Empty(t, a.Errors)
			return string(a.Data)
		}
		require.Contains(t, write(`{money: {currency: "EUR", amount: "5"}, includesTax: true}, {money: {currency: "USD", amount: "5"}}`),
			`"amounts":[{"money":{"amount":"5"},"includesTax":true},{"money":{"amount":"5"},"includesTax":false}]`)
		require.Contains(t, write(`{money: {currency: "EUR", amount: "6"}, }`),
			`"changes":[{"field":["amounts","EUR","money","amount"],"after":"6"}],"node":{"amounts":[{"money":{"amount":"6"},"includesTax":true},{"money":{"amount":"5"},"includesTax":false}]}`)
		require.Contains(t, write(`{money: {currency: "EUR", amount: "6"}, includesTax: false}`),
			`"changes":[{"field":["amounts","EUR","includesTax"],"after":"false"}]`)
	})
}
