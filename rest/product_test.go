package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// toolProducts are the products of the node "tools": chalk and anvil are curated, the others
// follow by last update.
var toolProducts = []string{"chalk", "anvil", "kit", "brush", "jar"}

func TestNodeProducts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		t.Run("filter", func(t *testing.T) { runScenarios(t, s, productFilters()) })
		t.Run("include", func(t *testing.T) { runScenarios(t, s, productIncludes()) })
		t.Run("shopper", func(t *testing.T) { runScenarios(t, s, shoppers()) })
	})
}

// TestVaryOfCatalogResponses requires every request header that affects the response in Vary,
// and the languages of the texts in Content-Language.
func TestVaryOfCatalogResponses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
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
	return []scenario{
		filter("raw", "eq(sku,ANVIL)", "anvil"),
		filter("with an encoded comma", "eq(sku%2CANVIL)", "anvil"),
		filter("with encoded parentheses", "eq%28sku%2CANVIL%29", "anvil"),
		filter("encoded throughout", "%65q%28%73ku%2C%41NVIL%29%3Aeq%28tags%2Cheavy%29", "anvil"),
		filter("an empty filter", "", toolProducts...),
		filter("by any number of ids", "in(id,"+strings.Repeat("0e7a3f4c-9d1b-4c55-8a53-3f6a1c2d4e5f,", 1700)+"jar,kit)", "kit", "jar"),
		filter("an encoded colon between two", "eq(tags,light)%3Aeq(tags,paint)", "brush"),
		bad("an unknown attribute", "eq(colour,red)", `unknown attribute \"colour\"`, "manufacturer_part_num"),
		odd("plus is a space", "eq(name,Two+words)", "odd-2"),
		odd("%20 is a space", "eq(name,Two%20words)", "odd-2"),
		odd("an encoded plus, percent, ampersand and semicolon", `eq(name,1%2B1=2+%26+50%25%3B+%C3%A9)`, "odd-3"),
		odd("a raw semicolon is text", `eq(name,1%2B1=2+%26+50%25;+%C3%A9)`, "odd-3"),
		{name: "every link has the filter",
			path: productsOf("tools") + "?filter=in(tags,heavy,light)&page[limit]=1",
			ids:  []string{"anvil"}, holds: []string{`page[offset]=1&page[limit]=1&filter=in%28tags%2Cheavy%2Clight%29`}},
	}
}

func productIncludes() []scenario {
	include := func(name, text string, holds ...string) scenario {
		return scenario{name: name, path: productsOf("tools") + "?include=" + text, ids: toolProducts, holds: holds}
	}
	return []scenario{
		{name: "an empty include", path: productsOf("tools") + "?include=", lacks: []string{`"included"`}},
		include("with encoded commas", "main_image%2Cfiles%2Ccomponent_products", `"main_images":[{"type":"file","id":"photo-1"`,
			`"component_products":[{"id":"frame"`),
		include("with spaces after the commas", "main_image,+files", `"main_images":[{"type":"file","id":"photo-1"`,
			`"files":[{"type":"file","id":"photo-1"`),
		{name: "a page without related resources has empty lists", path: productsOf("tools") + "?include=" + allIncludes + "&filter=eq(sku,JAR)",
			ids:   []string{"jar"},
			holds: []string{`"included":{"main_images":[],"files":[],"component_products":[]}`, `"main_image":{"data":null}`}},
		{name: "an unknown include", path: productsOf("tools") + "?include=main_image,parent", status: 400,
			holds: []string{"include must be a list of component_products, main_image, files", `\"parent\"`}},
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
		as("in an invalid language", []string{"Accept-Language", ";;q=,"}, english),
		as("in the language of the JS SDK, and that of the browser", []string{"X-Moltin-Language", "fr", "Accept-Language", "zh-Hant,en"}, french),
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
	}
}
