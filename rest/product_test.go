package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// toolProducts are the products of the node "tools": chalk and anvil are curated, the others
// follow by last update.
var toolProducts = []string{"chalk", "anvil", "kit", "brush", "jar"}

func TestNodeProducts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
		t.Run("list", func(t *testing.T) { runScenarios(t, s, whichProducts()) })
		t.Run("filter", func(t *testing.T) { runScenarios(t, s, productFilters()) })
		t.Run("sort and bounds", func(t *testing.T) { runScenarios(t, s, productOrders()) })
		t.Run("include", func(t *testing.T) { runScenarios(t, s, productIncludes()) })
		t.Run("shopper", func(t *testing.T) { runScenarios(t, s, shoppers()) })
	})
}

// TestVaryOfCatalogResponses requires every request header that affects the response in Vary,
// and the languages of the texts in Content-Language.
func TestVaryOfCatalogResponses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
		for _, c := range []struct{ path, accept, languages string }{
			{productsOf("hand-tools"), "", "en"},
			{productsOf("hand-tools"), "fr", "fr, en"}, // the lamp has no French
			{productsOf("hand-tools") + "?filter=eq(sku,BRUSH)", "zh-Hant-TW", "zh-Hant"},
			{productsOf("empty"), "fr", ""},
			{productsOf("nowhere"), "fr", ""},
		} {
			header := s.send(t, "GET", c.path, "", "Accept-Language", c.accept).Header()
			require.Equal(t, c.languages, header.Get("Content-Language"), "%s in %q", c.path, c.accept)
			for _, name := range []string{"Accept-Language", "Authorization", "Store-Channel", "EP-Context-Tag", "X-Moltin-Currency"} { // a rule has each
				require.Contains(t, header.Get("Vary"), name, c.path)
			}
		}
		require.NotContains(t, s.send(t, "GET", "/v2/inventories", "").Header().Get("Vary"), "Store-Channel")
	})
}

// A node has the shopper's language in its texts, meta and Content-Language, and on both APIs the same.
func TestLanguagesOfNodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, storetest.JoinLines(
			`{"type":"hierarchy","id":"h","attributes":{"name":"Shop","locales":{"fr":{"name":"Boutique"}}}}`,
			`{"type":"node","id":"tea","attributes":{"name":"Tea","description":"Hot","locales":{"fr":{"name":"Thé"}}},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`,
			`{"type":"node","id":"water","attributes":{"name":"Water"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`,
			`{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"],"pricebook_ids":[]}}`))
		for path, want := range map[string][]string{
			"/catalog/hierarchies":            {"fr", `"name":"Boutique"`},
			"/catalog/hierarchies/h":          {"fr", `"name":"Boutique"`},
			"/catalog/hierarchies/h/children": {"fr, en", `"name":"Thé","label":"Thé"`, `"description":"Hot"`, `"breadcrumbs":[{"id":"h","name":"Boutique","slug":""}]`, `"name":"Water"`, `"language":"en"`},
			"/catalog/nodes/tea":              {"fr", `"name":"Thé"`, `"language":"fr"`},
		} {
			answer := s.send(t, "GET", path, "", "Accept-Language", "fr-CA")
			require.Equal(t, want[0], answer.Header().Get("Content-Language"), path)
			require.Contains(t, answer.Header().Get("Vary"), "Accept-Language", path)
			for _, part := range want[1:] {
				require.Contains(t, answer.Body.String(), part, path)
			}
			require.Contains(t, s.send(t, "GET", path, "").Body.String(), `"language":"en"`, path)
		}
	})
}

func whichProducts() []scenario {
	return []scenario{
		{name: "a node lists the live products attached to it, curated first",
			path: productsOf("tools"), ids: toolProducts, lacks: []string{"SECRET", "drill-draft"}},
		{name: "only curated products have curated_product",
			path: productsOf("hand-tools"), ids: []string{"brush", "c0ffee00-0000-4000-8000-00000000000a"}, lacks: []string{"curated_product"}},
		{name: "a hierarchy lists the products of all its nodes, each once",
			path: productsOf("workshop"), ids: []string{"kit", "anvil", "brush", "chalk", "c0ffee00-0000-4000-8000-00000000000a", "easel", "jar"}},
		{name: "a node without products lists none, with meta and links",
			path: productsOf("empty"), ids: []string{},
			holds: []string{`"data":[]`, `"results":{"total":0}`, `"page":{"limit":25,"offset":0,"current":1,"total":0}`,
				`"prev":null,"next":null`}},
		{name: "an unknown node", path: productsOf("nowhere"), status: 404, holds: []string{"nowhere"}},
		{name: "a node of a hierarchy that is not in the catalog", path: productsOf("box"), status: 404, lacks: []string{"INK"}},
		{name: "a product's id", path: productsOf("anvil"), status: 404},
		{name: "an invalid id", path: productsOf("a%00b%2Fc"), status: 404},
		{name: "a parent's children are not listed unless attached", path: productsOf("paints"), ids: []string{"chalk", "easel"},
			lacks: []string{`"id":"easel-pine-draft"`}},
	}
}

// productFilters are filters as they occur in URLs.
func productFilters() []scenario {
	filter := func(name, text string, ids ...string) scenario {
		if ids == nil {
			ids = []string{}
		}
		return scenario{name: name, path: productsOf("tools") + "?filter=" + text, ids: ids}
	}
	odd := func(name, text string, ids ...string) scenario {
		return scenario{name: name, path: productsOf("odd") + "?filter=" + text, ids: ids}
	}
	bad := func(name, text string, words ...string) scenario {
		return scenario{name: name, path: productsOf("tools") + "?filter=" + text, status: 400,
			holds: append(words, `"title":"Bad Request","detail":"Could not parse the supplied filter`)}
	}
	ten := strings.Repeat("eq(sku,ANVIL):", 9) + "eq(sku,ANVIL)"
	return []scenario{
		filter("raw", "eq(sku,ANVIL)", "anvil"),
		filter("with an encoded comma", "eq(sku%2CANVIL)", "anvil"),
		filter("with encoded parentheses", "eq%28sku%2CANVIL%29", "anvil"),
		filter("encoded throughout", "%65q%28%73ku%2C%41NVIL%29%3Aeq%28tags%2Cheavy%29", "anvil"),
		filter("a quoted operand", `eq(sku,%22ANVIL%22)`, "anvil"),
		filter("spaces around the parts", "eq(+sku+,+ANVIL)+:+eq(tags,+heavy)", "anvil"),
		filter("a space behind the commas of a list", "in(sku,+ANVIL,+BRUSH)", "anvil", "brush"),
		filter("a space at a value's end is part of it", "eq(sku,ANVIL+)"),
		filter("an empty filter", "", toolProducts...),
		filter("in takes several", "in(sku,ANVIL,BRUSH,NONE)", "anvil", "brush"),
		filter("in takes one", "in(sku,ANVIL)", "anvil"),
		filter("by name", "eq(name,Kit)", "kit"),
		filter("by slug", "eq(slug,jar)", "jar"),
		filter("by manufacturer_part_num", "eq(manufacturer_part_num,MPN-1)", "anvil"),
		filter("by upc_ean", "eq(upc_ean,4006381333931)", "anvil"),
		filter("by a tag, curated first", "eq(tags,paint)", "chalk", "brush"),
		filter("by tags", "in(tags,heavy,light)", "anvil", "brush"),
		filter("by product_types", "in(product_types,bundle,consumable)", "chalk", "kit"),
		filter("by ids: last updated first, whatever their order, curated or not", "in(id,jar,chalk,kit,anvil)", "kit", "anvil", "chalk", "jar"),
		filter("by any number of ids", "in(id,"+strings.Repeat("0e7a3f4c-9d1b-4c55-8a53-3f6a1c2d4e5f,", 1700)+"jar,kit)", "kit", "jar"),
		filter("by an id twice", "in(id,jar,jar)", "jar"),
		filter("by the id of a product that is elsewhere", "in(id,easel,jar)", "jar"),
		filter("by the id of a draft", "in(id,drill-draft)"),
		filter("texts compare case-sensitively", "eq(sku,anvil)"),
		filter("a draft's sku", "eq(sku,SECRET-DRILL)"),
		filter("AND of two", "eq(tags,light):eq(tags,paint)", "brush"),
		filter("AND of what excludes each other", "eq(sku,ANVIL):eq(sku,BRUSH)"),
		filter("an encoded colon between two", "eq(tags,light)%3Aeq(tags,paint)", "brush"),
		filter("ten conditions", ten, "anvil"),
		bad("eleven conditions", ten+":eq(tags,heavy)", "more than 10 conditions"),
		bad("eq with several values", "eq(tags,heavy,iron)", "2 values", "in(tags,…)"),
		bad("eq with id", "eq(id,anvil)", "in(id,…)"),
		bad("an unknown operator", "ne(sku,ANVIL)", `unknown operator \"ne\"`, "eq, in, gt, ge, lt, le"),
		bad("like", "like(sku,*AN*)", `unknown operator \"like\"`),
		bad("an unknown attribute", "eq(colour,red)", `unknown attribute \"colour\"`, "manufacturer_part_num"),
		bad("a bound on an attribute that is not a sort key", "gt(sku,A)", `\"sku\"`, "id, created_at and updated_at"),
		bad("a missing parenthesis", "eq(sku,ANVIL", "ends where"),
		bad("no values", "in(sku)", "byte 6"),
		bad("no value after the comma", "eq(sku,)", "no value at byte 7"),
		bad("an unknown time", "gt(updated_at,yesterday)", `\"yesterday\"`, "2012-05-30T00:00:00.000Z"),
		bad("NUL in a text", "eq(name,%00)", "name"),
		bad("NUL in a bound", "gt(id,%00)", "id"),
		bad("too many values", "in(sku,"+strings.Repeat("x,", 1000)+"x)", "1001 values", "1000"),
		bad("too long", "eq(sku,"+strings.Repeat("x", 64<<10)+")", "65544 bytes", "65536"),
		odd("plus is a space", "eq(name,Two+words)", "odd-2"),
		odd("%20 is a space", "eq(name,Two%20words)", "odd-2"),
		odd("a quoted operand holds anything", `eq(name,%22a%2Cb+(c)%3A+%5C%22d%5C%22+%5C%5Ce%22)`, "odd-1"),
		odd("an encoded plus, percent, ampersand and semicolon", `eq(name,1%2B1=2+%26+50%25%3B+%C3%A9)`, "odd-3"),
		odd("a raw semicolon is text", `eq(name,1%2B1=2+%26+50%25;+%C3%A9)`, "odd-3"),
		odd("in takes quoted and bare operands", `in(name,Two+words,%22a%2Cb+(c)%3A+%5C%22d%5C%22+%5C%5Ce%22)`, "odd-1", "odd-2"),
		{name: "every link has the filter",
			path: productsOf("tools") + "?filter=in(tags,heavy,light)&page[limit]=1",
			ids:  []string{"anvil"}, holds: []string{`page[offset]=1&page[limit]=1&filter=in%28tags%2Cheavy%2Clight%29`}},
	}
}

func productOrders() []scenario {
	list := func(name, query string, ids ...string) scenario {
		if ids == nil {
			ids = []string{}
		}
		return scenario{name: name, path: productsOf("tools") + "?" + query, ids: ids}
	}
	return []scenario{
		list("by updated_at, then id", "sort=updated_at", "jar", "brush", "chalk", "anvil", "kit"),
		list("by updated_at, descending", "sort=-updated_at", "kit", "anvil", "chalk", "brush", "jar"),
		list("by created_at, then id", "sort=created_at", "jar", "brush", "chalk", "anvil", "kit"),
		list("by id", "sort=id", "anvil", "brush", "chalk", "jar", "kit"),
		list("by id, descending", "sort=-id", "kit", "jar", "chalk", "brush", "anvil"),
		list("empty is the list's own order", "sort=", toolProducts...),
		list("gt, as times are shown", "filter=gt(updated_at,2024-01-04T00:00:00.000)", "anvil", "kit"),
		list("ge, with a zone", "filter=ge(updated_at,2024-01-04T01:00:00%2B01:00)", "chalk", "anvil", "kit", "brush"),
		list("lt", "filter=lt(updated_at,2024-01-04T00:00:00.000Z)", "jar"),
		list("le", "filter=le(updated_at,2024-01-04T00:00:00.000Z)", "chalk", "brush", "jar"),
		list("a quoted time", "filter=gt(updated_at,%222024-01-05T00:00:00.000%22)", "kit"),
		list("between two times", "filter=ge(created_at,2023-01-04):lt(created_at,2023-01-06)", "chalk", "anvil", "brush"),
		list("none between two times", "filter=gt(created_at,2024-01-04):lt(created_at,2023-01-06)"),
		list("gt of an id", "filter=gt(id,chalk)&sort=id", "jar", "kit"),
		list("ge of an id that is not there", "filter=ge(id,c)&sort=-id", "kit", "jar", "chalk"),
		list("le of an id", "filter=le(id,brush)&sort=id", "anvil", "brush"),
		list("a bound and a condition", "filter=gt(id,anvil):eq(tags,paint)&sort=updated_at", "brush", "chalk"),
		list("a time before all", "filter=lt(updated_at,0001-01-01)"),
		{name: "an unknown key", path: productsOf("tools") + "?sort=name", status: 400,
			holds: []string{"sort must be id, created_at or updated_at", `\"name\"`}},
		{name: "two keys", path: productsOf("tools") + "?sort=id,name", status: 400, holds: []string{"sort must be"}},
		{name: "only a minus", path: productsOf("tools") + "?sort=-", status: 400, holds: []string{"sort must be"}},
	}
}

func productIncludes() []scenario {
	include := func(name, text string, holds ...string) scenario {
		return scenario{name: name, path: productsOf("tools") + "?include=" + text, ids: toolProducts, holds: holds}
	}
	return []scenario{
		{name: "no include", path: productsOf("tools"), lacks: []string{`"included"`}},
		{name: "an empty include", path: productsOf("tools") + "?include=", lacks: []string{`"included"`}},
		include("with raw commas", "main_image,files,component_products", `"included":{"main_images":[{"type":"file","id":"photo-1"`,
			`"files":[{"type":"file","id":"photo-1"`, `"component_products":[{"id":"frame","type":"product"`),
		include("with encoded commas", "main_image%2Cfiles%2Ccomponent_products", `"main_images":[{"type":"file","id":"photo-1"`,
			`"component_products":[{"id":"frame"`),
		include("with spaces after the commas", "main_image,+files", `"main_images":[{"type":"file","id":"photo-1"`,
			`"files":[{"type":"file","id":"photo-1"`),
		include("one resource, and empty lists of the others", "main_image", `"main_images":[{"type":"file","id":"photo-1"`,
			`"files":[],"component_products":[]`),
		include("a component that is a draft is left out", "component_products",
			`"main_images":[],"files":[],"component_products":[{"id":"frame"`),
		{name: "an empty page has empty lists", path: productsOf("empty") + "?include=files", ids: []string{},
			holds: []string{`"included":{"main_images":[],"files":[],"component_products":[]}`}},
		{name: "a page without related resources has empty lists", path: productsOf("tools") + "?include=" + allIncludes + "&filter=eq(sku,JAR)",
			ids:   []string{"jar"},
			holds: []string{`"included":{"main_images":[],"files":[],"component_products":[]}`, `"main_image":{"data":null}`}},
		{name: "an unknown include", path: productsOf("tools") + "?include=main_image,parent", status: 400,
			holds: []string{"include must be a list of component_products, main_image, files", `\"parent\"`}},
		{name: "no draft is ever included", path: productsOf("tools") + "?include=" + allIncludes,
			lacks: []string{"SECRET", "drill-draft", "power"}},
	}
}

func shoppers() []scenario {
	as := func(name string, headers []string, holds ...string) scenario {
		return scenario{name: name, path: productsOf("hand-tools"), headers: headers,
			ids: []string{"brush", "c0ffee00-0000-4000-8000-00000000000a"}, holds: holds}
	}
	const english, french = `"name":"Brush","description":"For paint."`, `"name":"Pinceau","description":"Pour peindre."`
	return []scenario{
		as("in French", []string{"Accept-Language", "fr"}, french, `"language":"fr"`, `"name":"Lamp"`, `"language":"en"`),
		as("in Canadian French, which falls back to French", []string{"Accept-Language", "fr-CA,fr;q=0.9,en;q=0.8"}, french),
		as("in a script", []string{"Accept-Language", "zh-Hant-TW"}, "筆刷", `"language":"zh-Hant"`),
		as("in any language", []string{"accept-language", "*"}, english, `"language":"en"`),
		as("in a language that the catalog lacks", []string{"Accept-Language", "eo"}, english),
		as("in an invalid language", []string{"Accept-Language", ";;q=,"}, english),
		as("in the language of the JS SDK, and that of the browser", []string{"X-Moltin-Language", "fr", "Accept-Language", "zh-Hant,en"}, french),
		as("in the language of the JS SDK", []string{"X-Moltin-Language", "fr"}, french),
		as("a channel", []string{"EP-Channel", "web"}, english),
		as("a channel by its documented name", []string{"Store-Channel", "web"}, english),
		as("a tag", []string{"EP-Context-Tag", "clearance"}, english),
		as("a tag by its documented name", []string{"Store-Context-Tag", "clearance"}, english),
		as("an unknown currency", []string{"X-Moltin-Currency", "XXX"}, `"price":{}`, `"display_price":null`),
		{name: "a currency that is none", path: productsOf("tools"), headers: []string{"X-Moltin-Currency", "XX"}, status: 422,
			holds: []string{`The header X-Moltin-Currency must be a code of three letters such as EUR, got \"XX\".`}},
		{name: "a language that is too long", path: "/v2/currencies", headers: []string{"Accept-Language", strings.Repeat("en,", 400)}, status: 422,
			holds: []string{"The header Accept-Language must be at most 1024 bytes, got 1200."}},
		{name: "where no language matters", path: "/v2/settings", headers: []string{"Accept-Language", strings.Repeat("en,", 400)}},
		{name: "a language of the JS SDK that is too long", path: productsOf("tools"), headers: []string{"X-Moltin-Language", strings.Repeat("x", 1025)}, status: 422,
			holds: []string{"The header X-Moltin-Language must be at most 1024 bytes, got 1025."}},
		as("what rides along", []string{"Content-Type", "application/json", "Accept", "text/html", "X-Moltin-Application", "x",
			"X-Moltin-SDK-Language", "JS",
			"X-Moltin-SDK-Version", "1", "EP-Account-Management-Authentication-Token", "x", "EP-Inventories-Multi-Location", "true"}, english),
		{name: "filters compare the base text in any language", path: productsOf("tools") + "?filter=eq(name,Brush)",
			headers: []string{"Accept-Language", "fr"}, ids: []string{"brush"}},
		{name: "filters do not compare translations", path: productsOf("tools") + "?filter=eq(name,Pinceau)",
			headers: []string{"Accept-Language", "fr"}, ids: []string{}},
		{name: "a price in euros", path: productsOf("tools") + "?filter=eq(sku,ANVIL)", headers: []string{"X-Moltin-Currency", "eur"},
			ids:   []string{"anvil"},
			holds: []string{`"price":{"EUR":{"amount":119900,"includes_tax":true}}`, `"pricebook_id":"standard"`}, lacks: []string{"USD"}},
		{name: "a price in the store's currency, of the first price book", path: productsOf("tools") + "?filter=eq(sku,ANVIL)",
			ids: []string{"anvil"},
			holds: []string{`"price":{"USD":{"amount":99900,"includes_tax":false}}`, `"pricebook_id":"vip"`,
				`"without_tax":{"amount":"99900","currency":"USD","formatted":"$999.00"}`}},
		{name: "a product without a price", path: productsOf("tools") + "?filter=eq(sku,JAR)", ids: []string{"jar"},
			holds: []string{`"price":{}`, `"display_price":null`}},
	}
}
