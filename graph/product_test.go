package graph_test

import (
	"slices"
	"testing"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

const lamp = "c0ffee00-0000-4000-8000-00000000000a"

func productsByName() []scenario {
	anvil := `{"product":{"uuid":"anvil"}}`
	return []scenario{
		{name: "uuid", query: `{ product(by: {id: "anvil"}) { uuid } }`, data: anvil},
		{name: "global id", query: `{ product(by: {id: ` + global("Product", "anvil") + `}) { uuid } }`, data: anvil},
		{name: "variable", query: `query($id: ID!) { product(by: {id: $id}) { uuid } }`, variables: graphtest.Variables{"id": "anvil"}, data: anvil},
		{name: "sku", query: `{ product(by: {sku: "ANVIL"}) { uuid } }`, data: anvil},
		{name: "slug", query: `{ product(by: {slug: "anvil"}) { uuid } }`, data: anvil},
		{name: "path", query: `{ product(by: {path: "workshop/tools/anvil"}) { uuid } }`, data: anvil},
		{name: "path without the hierarchy", query: `{ product(by: {path: "/tools/anvil"}) { uuid } }`, data: anvil},
		{name: "path of a node that does not list it", query: `{ product(by: {path: "workshop/anvil"}) { uuid } }`, data: `{"product":null}`},
		{name: "path of no node", query: `{ product(by: {path: "nowhere/anvil"}) { uuid } }`, data: `{"product":null}`},
		{name: "path of no product", query: `{ product(by: {path: "tools/nothing"}) { uuid } }`, data: `{"product":null}`},
		{name: "path without a node", query: `{ product(by: {path: "anvil"}) { uuid } }`, data: `{"product":null}`},
		{name: "empty path", query: `{ product(by: {path: "/"}) { uuid } }`, data: `{"product":null}`},
		{name: "a UUID in any case", query: `{ product(by: {id: "C0FFEE00-0000-4000-8000-00000000000A"}) { uuid } }`, data: `{"product":{"uuid":"` + lamp + `"}}`},
		{name: "a product without a node", query: `{ product(by: {id: "frame"}) { uuid catalogNodes { uuid } } }`, data: `{"product":{"uuid":"frame","catalogNodes":[]}}`},
		{name: "unknown id", query: `{ product(by: {id: "nobody"}) { uuid } }`, data: `{"product":null}`},
		{name: "unknown sku", query: `{ product(by: {sku: "anvil"}) { uuid } }`, data: `{"product":null}`},
		{name: "empty id", query: `{ product(by: {id: ""}) { uuid } }`, data: `{"product":null}`},
		{name: "empty sku", query: `{ product(by: {sku: ""}) { uuid } }`, data: `{"product":null}`},
		{name: "a draft", query: `{ product(by: {id: "drill-draft"}) { uuid } }`, data: `{"product":null}`},
		{name: "a draft's sku", query: `{ product(by: {sku: "SECRET-DRILL"}) { uuid } }`, data: `{"product":null}`},
		{name: "one of another catalog", query: `{ product(by: {id: "ink-unlisted"}) { uuid } }`, data: `{"product":null}`},
		{name: "another type's global id", query: `{ product(by: {id: ` + global("CatalogNode", "tools") + `}) { uuid } }`, data: `{"product":null}`},
		{name: "a number as id", query: `{ product(by: {id: 5}) { uuid } }`, data: `{"product":null}`},
		{name: "an object as id", query: `{ product(by: {id: {a: 1}}) { uuid } }`, codes: invalid},
	}
}

func productMembers() []scenario {
	return []scenario{
		{name: "its own members", query: `{ product(by: {id: "anvil"}) { id uuid name description sku slug
			tags productTypes priceModifiers baseProduct createdAt updatedAt publishedAt locale catalogUuid } }`,
			data: `{"product":{"id":"UHJvZHVjdDphbnZpbA","uuid":"anvil","name":"Anvil","description":"Heavy & \"loud\".\nÉtats-Unis 🔨 <b>bold</b>",
			"sku":"ANVIL","slug":"anvil","tags":["heavy","iron"],"productTypes":["standard"],"priceModifiers":[],"baseProduct":false,
			"createdAt":"2023-01-05T00:00:00.000Z","updatedAt":"2024-01-05T00:00:00.000Z","publishedAt":"2024-05-30T12:00:00.000Z",
			"locale":"en","catalogUuid":"main"}}`},
		{name: "unset members", query: `{ product(by: {id: "frame"}) { description commodityType upcEan manufacturerPartNum externalRef productTypes
			pricebookUuid price { money { amount } } originalPrice { money { amount } } saleName saleExpires
			tiers { name } modifiers { name } translations { locale } components { key } bundleChoices { component } customInputs extensions shopperAttributes variations { uuid } childVariations { uuid }
			variantOptions { uuid } parent { uuid } children { uuid } files { attachedAt } mainImage { uuid } componentProducts { uuid } catalogNodes { uuid }
			breadcrumbs { catalogNode { uuid } } stock { total } } }`,
			data: `{"product":{"description":null,"commodityType":null,"upcEan":null,"manufacturerPartNum":null,"externalRef":null,"productTypes":[],
			"pricebookUuid":null,"price":null,"originalPrice":null,"saleName":null,"saleExpires":null,
			"tiers":[],"modifiers":[],"translations":[{"locale":"en"}],"components":[],"bundleChoices":[],"customInputs":{},"extensions":{},"shopperAttributes":{},"variations":[],
			"childVariations":[],"variantOptions":[],"parent":null,"children":[],"files":[],"mainImage":null,"componentProducts":[],"catalogNodes":[],
			"breadcrumbs":[],"stock":null}}`},
		{name: "no parent if it is a draft", query: `{ product(by: {id: "jar"}) { parent { uuid } } }`, data: `{"product":{"parent":null}}`},
		{name: "the merchant's own members", query: `{ product(by: {id: "glue"}) { customInputs extensions shopperAttributes priceModifiers } }`,
			data: `{"product":{"customInputs":{"engraving":{"name":"Engraving","max":10}},"extensions":{"products(glue)":{"toxic":false,"pots":[1,2.50,null]}},
			"shopperAttributes":{"hint":"<i>dry</i> & warm"},"priceModifiers":["bulk"]}}`},
		{name: "a price without tax", query: `{ product(by: {id: "anvil"}) { pricebookUuid price { money { amount currency } includesTax withTax { amount } withoutTax { amount currency formatted } } } }`,
			data: `{"product":{"pricebookUuid":"vip","price":{"money":{"amount":"99900","currency":"USD"},"includesTax":false,
			"withTax":null,"withoutTax":{"amount":"99900","currency":"USD","formatted":"$999.00"}}}}`},
		{name: "a price with tax, in another currency", headers: []string{"X-Moltin-Currency", "eur"},
			query: `{ product(by: {id: "anvil"}) { pricebookUuid price { includesTax withTax { amount currency formatted } withoutTax { amount } } } }`,
			data:  `{"product":{"pricebookUuid":"standard","price":{"includesTax":true,"withTax":{"amount":"119900","currency":"EUR","formatted":"€1,199.00"},"withoutTax":null}}}`},
		{name: "a currency without minor units", headers: []string{"X-Moltin-Currency", "JPY"},
			query: `{ product(by: {id: "anvil"}) { price { money { amount currency formatted } } } }`,
			data:  `{"product":{"price":{"money":{"amount":"150000","currency":"JPY","formatted":"¥150,000"}}}}`},
		{name: "a currency without a price", headers: []string{"X-Moltin-Currency", "CHF"}, query: `{ product(by: {id: "anvil"}) { price { money { amount } } } }`, data: `{"product":{"price":null}}`},
		{name: "an unknown currency", headers: []string{"X-Moltin-Currency", "QQQ"}, query: `{ product(by: {id: "anvil"}) { price { money { amount } } } cartPreview(lines: [{productId: "anvil", quantity: 1}]) { subtotal { amount currency } lines { problem { message } } } }`,
			data: `{"product":{"price":null},"cartPreview":{"subtotal":{"amount":"0","currency":"XXX"},"lines":[{"problem":{"message":"The product has no price in QQQ."}}]}}`},
		{name: "another language", headers: []string{"Accept-Language", "fr-CA, en;q=0.5"}, query: `{ product(by: {id: "brush"}) { name description locale } }`,
			data: `{"product":{"name":"Pinceau","description":"Pour peindre.","locale":"fr"}}`},
		{name: "a language without a translation", headers: []string{"Accept-Language", "sv"}, query: `{ product(by: {id: "brush"}) { name locale } }`, data: `{"product":{"name":"Brush","locale":"en"}}`},
		{name: "a wildcard language", headers: []string{"Accept-Language", "*"}, query: `{ product(by: {id: "brush"}) { name locale } }`, data: `{"product":{"name":"Brush","locale":"en"}}`},
	}
}

func productEdges() []scenario {
	return []scenario{
		{name: "a parent and its live children", query: `{ product(by: {id: "easel"}) { baseProduct parent { uuid } children { uuid parent { uuid } } } }`,
			data: `{"product":{"baseProduct":true,"parent":null,"children":[{"uuid":"easel-oak","parent":{"uuid":"easel"}}]}}`},
		{name: "variations and their products", query: `{ product(by: {id: "easel"}) { variations { uuid option { uuid } options { uuid } } variantOptions { uuid optionUuids } } }`,
			data: `{"product":{"variations":[{"uuid":"wood","option":null,"options":[{"uuid":"oak"},{"uuid":"pine"}]}],"variantOptions":[{"uuid":"easel-oak","optionUuids":["oak"]}]}}`},
		{name: "texts in every language", headers: []string{"Accept-Language", "fr"}, query: `{ product(by: {id: "brush"}) { locale translations { locale name description } } }`,
			data: `{"product":{"locale":"fr","translations":[{"locale":"en","name":"Brush","description":"For paint."},{"locale":"fr","name":"Pinceau","description":"Pour peindre."},
			{"locale":"pt-BR","name":"Pincel","description":"For paint."},{"locale":"zh-Hant","name":"筆刷","description":"用於繪畫。"}]}}`},
		{name: "a bundle with its default options", query: `{ product(by: {id: "kit"}) { bundleChoices { component options { uuid quantity } } } }`,
			data: `{"product":{"bundleChoices":[{"component":"wood","options":[{"uuid":"frame","quantity":2}]}]}}`},
		{name: "a child has its parent's nodes", query: `{ product(by: {id: "easel-oak"}) { catalogNodes { uuid } } }`, data: `{"product":{"catalogNodes":[{"uuid":"paints"}]}}`},
		{name: "components in pages", query: `{ product(by: {id: "kit"}) { componentProductsConnection(first: 1) { totalCount pageInfo { hasNextPage } facets { groups(keys: ["productTypes"]) { values { value count } } } nodes { uuid } } childrenConnection { totalCount nodes { uuid } } } }`,
			data: `{"product":{"componentProductsConnection":{"totalCount":1,"pageInfo":{"hasNextPage":false},"facets":{"groups":[]},"nodes":[{"uuid":"frame"}]},"childrenConnection":{"totalCount":0,"nodes":[]}}}`},
		{name: "children in pages, filtered and sorted", query: `{ product(by: {id: "easel"}) { childrenConnection(filter: {tags: {eq: "wood"}}, orderBy: {field: PRICE}) { totalCount facets { groups(keys: ["tags"]) { values { value count } } } nodes { uuid } } none: childrenConnection(filter: {tags: {eq: "paint"}}) { totalCount nodes { uuid } } } }`,
			data: `{"product":{"childrenConnection":{"totalCount":1,"facets":{"groups":[{"values":[{"value":"wood","count":1}]}]},"nodes":[{"uuid":"easel-oak"}]},"none":{"totalCount":0,"nodes":[]}}}`},
		{name: "a bad page of children", query: `{ product(by: {id: "easel"}) { childrenConnection(first: 101) { totalCount } } }`, codes: unprocessable, argument: "first"},
		{name: "a bundle shows live products only", query: `{ product(by: {id: "kit"}) { componentProducts { uuid } components { key name min max sortOrder options { uuid quantity } } } }`,
			data: `{"product":{"componentProducts":[{"uuid":"frame"}],"components":[{"key":"wood","name":"Wood","min":1,"max":2,"sortOrder":2,"options":[{"uuid":"frame","quantity":2}]}]}}`},
		{name: "files and the main image", query: `{ product(by: {id: "anvil"}) { mainImage { id uuid fileName mimeType public href createdAt width height } files { attachedAt file { uuid public width createdAt } } } }`,
			data: `{"product":{"mainImage":{"id":"RmlsZTpwaG90by0x","uuid":"photo-1","fileName":"anvil.jpg","mimeType":"image/jpeg","public":true,"href":"https://cdn.example/anvil.jpg",
			"createdAt":"2023-01-01T00:00:00.000Z","width":640,"height":480},"files":[{"attachedAt":"2023-01-05T00:00:00.000Z","file":{"uuid":"photo-1","public":true,"width":640,"createdAt":"2023-01-01T00:00:00.000Z"}},
			{"attachedAt":null,"file":{"uuid":"photo-2","public":false,"width":null,"createdAt":"2023-01-02T03:04:05.678Z"}}]}}`},
		{name: "nodes and the ways there, the newest attachment first", query: `{ product(by: {id: "brush"}) { catalogNodes { uuid } breadcrumbs { catalogNode { uuid } ancestors { uuid name slug } } } }`,
			data: `{"product":{"catalogNodes":[{"uuid":"sale"},{"uuid":"hand-tools"},{"uuid":"tools"}],"breadcrumbs":[
			{"catalogNode":{"uuid":"sale"},"ancestors":[{"uuid":"seasons","name":"Seasons","slug":null}]},
			{"catalogNode":{"uuid":"hand-tools"},"ancestors":[{"uuid":"workshop","name":"Workshop","slug":"workshop"},{"uuid":"tools","name":"Tools","slug":"tools"}]},
			{"catalogNode":{"uuid":"tools"},"ancestors":[{"uuid":"workshop","name":"Workshop","slug":"workshop"}]}]}}`},
		{name: "stock", query: `{ product(by: {id: "anvil"}) { stock { uuid total available allocated product { uuid } } } }`,
			data: `{"product":{"stock":{"uuid":"anvil","total":9,"available":7,"allocated":2,"product":{"uuid":"anvil"}}}}`},
		{name: "the products of a product's node", query: `{ product(by: {id: "kit"}) { catalogNodes { products(first: 2) { totalCount edges { curated node { uuid } } } } } }`,
			data: `{"product":{"catalogNodes":[{"products":{"totalCount":5,"edges":[{"curated":true,"node":{"uuid":"chalk"}},{"curated":true,"node":{"uuid":"anvil"}}]}}]}}`},
	}
}

const all = `{"uuid":"glue"},{"uuid":"kit"},{"uuid":"anvil"},{"uuid":"brush"},{"uuid":"chalk"},{"uuid":"` + lamp + `"},{"uuid":"easel"},{"uuid":"jar"}`

func productLists() []scenario {
	rows := func(ids ...string) string {
		text := ""
		for i, id := range ids {
			if i > 0 {
				text += ","
			}
			text += `{"uuid":"` + id + `"}`
		}
		return `{"products":{"nodes":[` + text + `]}}`
	}
	list := func(arguments string) string { return `{ products(` + arguments + `) { nodes { uuid } } }` }
	return []scenario{
		{name: "every listed product once, by last update", query: `{ products { totalCount nodes { uuid } } }`, data: `{"products":{"totalCount":8,"nodes":[` + all + `]}}`},
		{name: "a null filter is ignored", query: list(`filter: null, orderBy: null, first: null`), data: rows("glue", "kit", "anvil", "brush", "chalk", lamp, "easel", "jar")},
		{name: "an empty filter is ignored", query: list(`filter: {}, first: 2`), data: rows("glue", "kit")},
		{name: "filter by ids, uuid and global", query: list(`filter: {ids: ["jar", ` + global("Product", "glue") + `, "nobody"]}`), data: rows("glue", "jar")},
		{name: "one id stands for a list", query: list(`filter: {ids: "jar"}`), data: rows("jar")},
		{name: "bounds", query: list(`filter: {bounds: {updatedAt: {gt: "2024-01-04T00:00:00.000Z", le: "2024-01-06"}}}`), data: rows("kit", "anvil")},
		{name: "bounds that leave nothing", query: `{ products(filter: {bounds: {createdAt: {lt: "2001-01-01"}}}) { totalCount edges { cursor } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`,
			data: `{"products":{"totalCount":0,"edges":[],"pageInfo":{"startCursor":null,"endCursor":null,"hasNextPage":false,"hasPreviousPage":false}}}`},
		{name: "eq and in", query: list(`filter: {sku: {eq: "A", in: ["A"]}}`), codes: invalid, argument: "filter.sku"},
		{name: "neither eq nor in", query: list(`filter: {sku: {}}`), codes: invalid, argument: "filter.sku"},
		{name: "no value at all", query: list(`filter: {sku: {in: []}}`), data: rows()},
		{name: "no id at all", query: list(`filter: {ids: []}`), data: rows()},
		{name: "no node, option or value of an attribute", query: `{ node: products(filter: {catalogNodeIds: []}) { totalCount } option: products(filter: {option: [{name: "Wood", in: []}]}) { totalCount }
			attribute: products(filter: {attribute: [{key: "brand", in: []}]}) { totalCount } search: products(filter: {search: "brush", tags: {in: []}}) { totalCount } not: products(filter: {not: {tags: {in: []}}, sku: {eq: "KIT"}}) { totalCount }
			all: products(filter: {sku: {in: []}}, includeChildren: true, variants: CHILDREN) { totalCount facets { groups { values { count } } } } }`,
			data: `{"node":{"totalCount":0},"option":{"totalCount":0},"attribute":{"totalCount":0},"search":{"totalCount":0},"not":{"totalCount":1},"all":{"totalCount":0,"facets":{"groups":[]}}}`},
		{name: "1001 values", query: `query($in: [String!]!) { products(filter: {sku: {in: $in}}) { totalCount } }`, variables: graphtest.Variables{"in": make([]string, 1001)}, codes: invalid, argument: "filter"},
		{name: "1000 values", query: `query($in: [String!]!) { products(filter: {sku: {in: $in}}) { totalCount } }`, variables: graphtest.Variables{"in": make([]string, 1000)}, data: `{"products":{"totalCount":0}}`},
		{name: "eleven conditions", query: `query($and: [ProductFilter!]) { products(filter: {sku: {eq: "A"}, and: $and}) { totalCount } }`,
			variables: graphtest.Variables{"and": slices.Repeat([]any{graphtest.Variables{"slug": graphtest.Variables{"eq": "a"}}}, 10)}, codes: invalid, argument: "filter"},
		{name: "ten conditions", query: `query($and: [ProductFilter!]) { products(filter: {sku: {eq: "A"}, and: $and}) { totalCount } }`,
			variables: graphtest.Variables{"and": slices.Repeat([]any{graphtest.Variables{"slug": graphtest.Variables{"eq": "a"}}}, 9)}, data: `{"products":{"totalCount":0}}`},
		{name: "or in not in or", query: list(`filter: {or: [{sku: {eq: "BRUSH"}}, {not: {or: [{tags: {eq: "paint"}}, {sku: {in: ["GLUE", "JAR"]}}]}, tags: {eq: "heavy"}}]}`), data: rows("anvil", "brush")},
		{name: "not an empty filter", query: list(`filter: {not: {}}`), data: rows()},
		{name: "or an empty filter", query: list(`filter: {or: [{sku: {eq: "KIT"}}, {}]}, first: 2`), data: rows("glue", "kit")},
		{name: "or and not of null", query: list(`filter: {or: null, not: null, onSale: null}, first: 2`), data: rows("glue", "kit")},
		{name: "one filter stands for a list", query: list(`filter: {or: {sku: {eq: "KIT"}}}`), data: rows("kit")},
		{name: "in stock or not", query: list(`filter: {or: [{inStock: true}, {not: {inStock: true}}], sku: {eq: "KIT"}}`), data: rows("kit")},
		{name: "by a price within not", query: list(`filter: {not: {price: {ge: "500"}}, sku: {in: ["ANVIL", "BRUSH", "GLUE"]}}`), data: rows("glue")},
		{name: "on sale", query: list(`filter: {onSale: true}`), data: rows()},
		{name: "not on sale", query: list(`filter: {onSale: false, tags: {eq: "heavy"}}`), data: rows("anvil")},
		{name: "a SKU within or does not find what no node lists", query: list(`filter: {or: [{sku: {eq: "FRAME"}}, {sku: {eq: "KIT"}}]}`), data: rows("kit")},
		{name: "ids within or do not sort", query: `{ catalogNode(by: {id: "tools"}) { products(filter: {or: [{ids: ["anvil", "chalk"]}]}) { nodes { uuid } } } }`, data: `{"catalogNode":{"products":{"nodes":[{"uuid":"chalk"},{"uuid":"anvil"}]}}}`},
		{name: "not in children", query: `{ product(by: {id: "easel"}) { childrenConnection(filter: {not: {onSale: true, sku: {eq: "EASEL-OAK"}}}) { nodes { uuid } } } }`, data: `{"product":{"childrenConnection":{"nodes":[{"uuid":"easel-oak"}]}}}`},
		{name: "or in components", query: `{ product(by: {id: "kit"}) { componentProductsConnection(filter: {or: [{sku: {eq: "FRAME"}}, {sku: {eq: "JAR"}}]}) { nodes { uuid } } } }`, data: `{"product":{"componentProductsConnection":{"nodes":[{"uuid":"frame"}]}}}`},
		{name: "no filter in or", query: list(`filter: {or: []}`), codes: invalid, argument: "filter.or", holds: []string{"1 to 10"}},
		{name: "eleven filters in or", query: `query($or: [ProductFilter!]) { products(filter: {or: $or}) { totalCount } }`, variables: graphtest.Variables{"or": slices.Repeat([]any{graphtest.Variables{}}, 11)},
			codes: invalid, argument: "filter.or", holds: []string{"11 filters", "1 to 10"}},
		{name: "eleven conditions within or", query: `query($or: [ProductFilter!]) { products(filter: {sku: {eq: "A"}, or: $or}) { totalCount } }`, variables: graphtest.Variables{"or": slices.Repeat([]any{graphtest.Variables{}}, 10)},
			codes: invalid, argument: "filter", holds: []string{"at most 10 conditions, got 11"}},
		{name: "four levels", query: list(`filter: {not: {not: {not: {not: {}}}}}`), codes: invalid, argument: "filter", holds: []string{"at most 3 deep, got 4"}},
		{name: "a search in or", query: list(`filter: {or: [{}, {search: "oak"}]}`), codes: invalid, argument: "filter.or.1.search", holds: []string{"beside"}},
		{name: "a search in not", query: list(`filter: {and: [{not: {search: "oak"}}]}`), codes: invalid, argument: "filter.and.0.not.search", holds: []string{"beside"}},
		{name: "a search beside not", query: list(`filter: {search: "brush", not: {tags: {eq: "heavy"}}}`), data: rows("brush")},
		{name: "no value in or", query: list(`filter: {or: [{tags: {in: []}}, {sku: {eq: "KIT"}}]}`), data: rows("kit")},
		{name: "stock true and false within or", query: list(`filter: {or: [{inStock: true, and: [{inStock: false}]}]}`), codes: invalid, argument: "filter.or.0.and.0.inStock"},
		{name: "an unknown attribute", query: list(`filter: {colour: {eq: "red"}}`), codes: invalid},
		{name: "an unknown operator", query: list(`filter: {name: {like: "A*"}}`), codes: invalid},
		{name: "an invalid time", query: list(`filter: {bounds: {updatedAt: {gt: "yesterday"}}}`), codes: invalid, holds: []string{"2012-05-30T00:00:00.000Z"}},
		{name: "a number instead of a time", query: list(`filter: {bounds: {updatedAt: {gt: 5}}}`), codes: invalid, argument: "filter.bounds.updatedAt.gt", holds: []string{"found a whole number. Send a string."}},
		{name: "a list instead of a time", query: `query($at: DateTime) { products(filter: {bounds: {updatedAt: {gt: $at}}}) { totalCount } }`, variables: graphtest.Variables{"at": []int{1}}, codes: invalid},
	}
}

// Text that a database cannot store, such as a zero byte, finds nothing and is no internal error.
func TestTextThatCannotBeStoredFindsNothing(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, sc := range []scenario{
			{name: "a product's id", query: `{ product(by: {id: "a\u0000"}) { uuid } }`},
			{name: "a product's sku", query: `{ product(by: {sku: "a\u0000"}) { uuid } }`},
			{name: "a filter's value", query: `{ products(filter: {sku: {eq: "\u0000"}}) { totalCount } }`},
			{name: "a filter's id", query: `{ products(filter: {ids: ["\u0000"]}) { totalCount } }`},
			{name: "a bound of products", query: `{ products(filter: {bounds: {id: {gt: "\u0000"}}}) { totalCount } }`},
			{name: "a node's id", query: `{ catalogNode(by: {id: "\u0000"}) { uuid } }`},
			{name: "stock's id", query: `{ stock(productId: "a\u0000") { uuid } }`},
			{name: "a bound of stock", query: `{ stocks(filter: {id: {gt: "\u0000"}}) { totalCount } }`},
			{name: "a global id", query: `{ node(id: "UHJvZHVjdDoA") { id } }`},
			{name: "a change of stock", query: `mutation { stockTransact(input: {changes: [{productId: "a\u0000", action: SET, quantity: 1}]}) { userErrors { code } } }`},
			{name: "a reason", query: `mutation { stockTransact(input: {changes: [{productId: "anvil", action: SET, quantity: 1, reason: "\u0000"}]}) { userErrors { code } } }`},
			{name: "a setting", query: `mutation { settingsUpdate(input: {currency: "\u0000", locale: "\u0000"}) { userErrors { code } } }`},
			{name: "a cursor", query: `{ stocks(after: "\u0000") { totalCount } }`},
		} {
			t.Run(sc.name, func(t *testing.T) {
				require := s.Post(t, sc.query, nil)
				for _, code := range require.Codes() {
					if code == store.Internal {
						t.Errorf("%s answers %s", sc.query, require.Body)
					}
				}
			})
		}
	})
}
