package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

// searchedLists has lists that REST filters cannot express: searches and other orders.
func searchedLists() []scenario {
	list := func(arguments string) string { return `{ products(` + arguments + `) { nodes { uuid } } }` }
	rows := func(ids ...string) string {
		nodes := make([]map[string]string, len(ids))
		for i, id := range ids {
			nodes[i] = map[string]string{"uuid": id}
		}
		text, _ := json.Marshal(map[string]any{"products": map[string]any{"nodes": nodes}})
		return string(text)
	}
	return []scenario{
		{name: "a word", query: list(`filter: {search: "heavy"}`), data: rows("anvil")},
		{name: "a prefix", query: list(`filter: {search: "ch"}`), data: rows("chalk")},
		{name: "of a SKU", query: list(`filter: {search: "ANVIL"}`), data: rows("anvil")},
		{name: "in the shopper's language", headers: []string{"Accept-Language", "fr"}, query: list(`filter: {search: "pour peindre"}`), data: rows("brush")},
		{name: "and in no other", query: list(`filter: {search: "pour peindre"}`), data: rows()},
		{name: "no terms", query: list(`filter: {search: " ?! "}, first: 2`), data: rows()},
		{name: "null", query: list(`filter: {search: null}, first: 2`), data: rows("glue", "kit")},
		{name: "with another condition", query: list(`filter: {search: "paint", tags: {eq: "light"}}`), data: rows("brush")},
		{name: "twice", query: list(`filter: {search: "for", and: [{search: "paint"}]}`), data: rows("brush")},
		{name: "in a node", query: `{ catalogNode(by: {id: "sale"}) { products(filter: {search: "brush"}) { totalCount nodes { uuid } } } }`,
			data: `{"catalogNode":{"products":{"totalCount":1,"nodes":[{"uuid":"brush"}]}}}`},
		{name: "no syntax", query: list(`filter: {search: "anvil\" * NEAR("}`), data: rows("anvil")},
		{name: "mistyped", query: `{ products(filter: {search: "anvli"}) { correctedTo nodes { uuid } } exact: products(filter: {search: "anvil"}) { correctedTo } all: products { correctedTo nodes { uuid } } }`,
			holds: []string{`"products":{"correctedTo":"anvil","nodes":[{"uuid":"anvil"}]},"exact":{"correctedTo":null},"all":{"correctedTo":null`}},
		{name: "suggestions", query: `{ searchSuggestions(text: "brus") { completions products { uuid } catalogNodes { name } didYouMean } }`,
			data: `{"searchSuggestions":{"completions":["brush"],"products":[{"uuid":"brush"}],"catalogNodes":[],"didYouMean":null}}`},
		{name: "suggestions of nothing", query: `{ searchSuggestions(text: " ") { completions products { uuid } catalogNodes { name } didYouMean } }`,
			data: `{"searchSuggestions":{"completions":[],"products":[],"catalogNodes":[],"didYouMean":null}}`},
		{name: "nodes by name, and a mistyped word", query: `{ searchSuggestions(text: "sal") { catalogNodes { name } } mistyped: searchSuggestions(text: "bursh", first: 1) { didYouMean products { uuid } } }`,
			data: `{"searchSuggestions":{"catalogNodes":[{"name":"Sale"}]},"mistyped":{"didYouMean":"brush","products":[{"uuid":"brush"}]}}`},
		{name: "too many suggestions", query: `{ searchSuggestions(text: "a", first: 21) { completions } }`, codes: invalid, argument: "first", holds: []string{"between 1 and 20"}},
		{name: "suggestions for a text that is too long", query: `query($s: String!) { searchSuggestions(text: $s) { completions } }`, variables: graphtest.Variables{"s": fmt.Sprintf("%0201d", 1)},
			codes: invalid, argument: "text", holds: []string{"201 characters"}},
		{name: "NUL", query: list(`filter: {search: "a\u0000"}`), codes: invalid, argument: "filter.search"},
		{name: "too long", query: `query($s: String) { products(filter: {search: $s}) { totalCount } }`, variables: graphtest.Variables{"s": fmt.Sprintf("%0201d", 1)},
			codes: invalid, argument: "filter.search", holds: []string{"201 characters", "limit is 200"}},
		{name: "too many words", query: list(`filter: {search: "a b c d e f g h i j k l m n o p q r s t u"}`), codes: invalid, argument: "filter.search", holds: []string{"21 words", "limit is 20"}},
		{name: "a number", query: list(`filter: {search: 5}`), codes: invalid},

		{name: "by name", query: list(`orderBy: {field: NAME}`), data: rows("anvil", "brush", "chalk", "easel", "glue", "jar", "kit", lamp)},
		{name: "by name, descending, from the end", query: list(`orderBy: {field: NAME, direction: DESC}, last: 2`), data: rows("brush", "anvil")},
		{name: "by price, those without one last", query: list(`orderBy: {field: PRICE}, first: 4`), data: rows("brush", "anvil", lamp, "chalk")},
		{name: "by price, descending", query: list(`orderBy: {field: PRICE, direction: DESC}, first: 4`), data: rows("anvil", "brush", "kit", "jar")},
		{name: "by price in another currency", headers: []string{"X-Moltin-Currency", "JPY"}, query: list(`orderBy: {field: PRICE}, first: 2`), data: rows("anvil", "brush")},
		{name: "by an attribute, those without a value last", query: list(`orderBy: {field: ATTRIBUTE, attribute: "weight"}, first: 4`), data: rows("chalk", "glue", lamp, "anvil")},
		{name: "by an attribute, descending", query: list(`orderBy: {field: ATTRIBUTE, attribute: "since", direction: DESC}, first: 3`), data: rows("chalk", "glue", "kit")},
		{name: "by an attribute that is not sortable", query: list(`orderBy: {field: ATTRIBUTE, attribute: "brand"}`), codes: invalid, argument: "orderBy.attribute", holds: []string{"sortable attribute", "brand"}},
		{name: "by no attribute", query: list(`orderBy: {field: ATTRIBUTE}`), codes: invalid, argument: "orderBy.attribute", holds: []string{"sortable"}},
		{name: "by relevance", headers: []string{"Accept-Language", "fr"}, query: list(`filter: {search: "c"}, orderBy: {field: RELEVANCE}`), data: rows("chalk")},
		{name: "a child by its SKU", query: list(`includeChildren: true, filter: {sku: {eq: "EASEL-OAK"}}`), data: rows("easel-oak")},
		{name: "a child by a search for its SKU", query: list(`includeChildren: true, filter: {search: "easel-oak"}`), data: rows("easel-oak")},
		{name: "no children by default", query: list(`includeChildren: false, filter: {sku: {in: ["EASEL-OAK", "JAR"]}}`), data: rows("jar")},
		{name: "a child whose name is its SKU", query: list(`filter: {sku: {eq: "EASEL-OAK"}}`), data: rows("easel-oak")},
		{name: "among others", query: list(`filter: {and: [{sku: {in: ["EASEL-OAK", "JAR"]}}]}, orderBy: {field: ID}`), data: rows("easel-oak", "jar")},
		{name: "a search for a SKU in lower case", query: list(`filter: {search: " easel-oak "}`), data: rows("easel-oak")},
		{name: "a search that is no SKU finds no children", query: list(`filter: {search: "easel oak"}`), data: rows()},
		{name: "nor where they are not wanted", query: list(`includeChildren: false, filter: {search: "easel-oak"}`), data: rows()},
		{name: "by relevance without a search", query: list(`orderBy: {field: RELEVANCE}, first: 3`), data: rows("glue", "kit", "anvil")},
		{name: "stock has no name to be sorted by", query: `{ stocks(orderBy: {field: NAME}) { totalCount } }`, codes: invalid},
	}
}

// facetMembers selects a facet with every member of its filters.
const facetMembers = `
	fragment g on FacetGroup { key label kind values { label ...v } }
	fragment v on FacetValue { value count selected filter { ...f } toggled { ...f } }
	fragment f on ProductFilterValues {
		__typename search ids name { ...t } sku { ...t } slug { ...t } manufacturerPartNum { ...t } upcEan { ...t } productTypes { ...t } tags { ...t } price { ge le } option { name in } attribute { key in ge le } node { in } bounds and }
	fragment t on TextFilterValues { __typename in }`

func facetLists() []scenario {
	return []scenario{
		{name: "of all products", query: `{ products(first: 1) { facets { tags(first: 2) { value count selected filter { tags { in } } toggled { tags { in } } } productTypes(first: 1) { value count filter { productTypes { in } } } } } }`,
			data: `{"products":{"facets":{"tags":[
			{"value":"paint","count":3,"selected":false,"filter":{"tags":{"in":["paint"]}},"toggled":{"tags":{"in":["paint"]}}},
			{"value":"light","count":2,"selected":false,"filter":{"tags":{"in":["light"]}},"toggled":{"tags":{"in":["light"]}}}],
			"productTypes":[{"value":"standard","count":3,"filter":{"productTypes":{"in":["standard"]}}}]}}}`},
		{name: "the own condition is left out", query: `{ products(filter: {tags: {eq: "wood"}}) { totalCount facets { tags(first: 1) { value count selected filter { tags { in } } toggled { tags { in } } } productTypes { value count } } } }`,
			data: `{"products":{"totalCount":1,"facets":{"tags":[
			{"value":"paint","count":3,"selected":false,"filter":{"tags":{"in":["paint"]}},"toggled":{"tags":{"in":["wood","paint"]}}},
			{"value":"wood","count":1,"selected":true,"filter":{"tags":{"in":["wood"]}},"toggled":{"tags":null}}],
			"productTypes":[{"value":"parent","count":1}]}}}`},
		{name: "of every product, those that no node lists too", query: `{ products(includeChildren: true, filter: {tags: {eq: "wood"}}) { totalCount nodes { uuid parent { uuid } } facets { tags(first: 1) { value count } productTypes { value count } } } }`,
			data: `{"products":{"totalCount":3,"nodes":[{"uuid":"easel-oak","parent":{"uuid":"easel"}},{"uuid":"easel","parent":null},{"uuid":"frame","parent":null}],
			"facets":{"tags":[{"value":"paint","count":3},{"value":"wood","count":3}],"productTypes":[{"value":"child","count":1},{"value":"parent","count":1}]}}}`},
		{name: "a condition inside and remains", query: `{ products(filter: {and: [{tags: {eq: "paint"}}]}) { facets { tags { value count } } } }`,
			data: `{"products":{"facets":{"tags":[{"value":"paint","count":3},{"value":"light","count":1},{"value":"wood","count":1}]}}}`},
		{name: "of a node and a search", query: `{ catalogNode(by: {id: "tools"}) { products(filter: {search: "brush"}) { facets { tags { value count filter { search tags { in } } } } } } }`,
			data: `{"catalogNode":{"products":{"facets":{"tags":[{"value":"light","count":1,"filter":{"search":"brush","tags":{"in":["light"]}}},{"value":"paint","count":1,"filter":{"search":"brush","tags":{"in":["paint"]}}}]}}}}`},
		{name: "of sibling nodes", query: `{ catalogNodes(first: 3) { nodes { uuid products { facets { tags(first: 1) { value count } } } } } }`,
			data: `{"catalogNodes":{"nodes":[{"uuid":"empty","products":{"facets":{"tags":[]}}},{"uuid":"hand-tools","products":{"facets":{"tags":[{"value":"light","count":2}]}}},
			{"uuid":"paints","products":{"facets":{"tags":[{"value":"paint","count":2}]}}}]}}`},
		{name: "groups", query: `{ products(first: 1) { facets { price { min { amount } max { amount currency formatted } } groups(first: 2) { key label kind values { value label count } } } } }`,
			data: `{"products":{"facets":{"price":{"min":{"amount":"500"},"max":{"amount":"99900","currency":"USD","formatted":"$999.00"}},"groups":[
			{"key":"tags","label":"Tags","kind":"TAGS","values":[{"value":"paint","label":"paint","count":3},{"value":"light","label":"light","count":2}]},
			{"key":"productTypes","label":"Product types","kind":"PRODUCT_TYPES","values":[{"value":"standard","label":"standard","count":3},{"value":"bundle","label":"bundle","count":1}]},
			{"key":"option:Wood","label":"Wood","kind":"OPTION","values":[{"value":"Oak","label":"Oak","count":1}]},
			{"key":"attribute:brand","label":"Brand","kind":"ATTRIBUTE","values":[{"value":"Acme","label":"Acme","count":2},{"value":"Büchner","label":"Büchner","count":1}]},
			{"key":"attribute:since","label":"Made since","kind":"ATTRIBUTE","values":[{"value":"1949-09-17","label":"1949-09-17","count":1},{"value":"2001-02-03","label":"2001-02-03","count":1}]},
			{"key":"attribute:uses","label":"Uses","kind":"ATTRIBUTE","values":[{"value":"toys","label":"toys","count":2},{"value":"joining","label":"joining","count":1}]},
			{"key":"attribute:weight","label":"Weight","kind":"ATTRIBUTE","values":[{"value":"0","label":"0 kg","count":1},{"value":"0.75","label":"0.75 kg","count":1}]}]}}}`},
		{name: "a group's own condition is open", headers: []string{"Accept-Language", "fr"},
			query: `{ products(filter: {attribute: [{key: "brand", in: ["Acme"]}, {key: "weight", le: "0.5"}]}) { totalCount facets { groups(keys: ["attribute:brand", "attribute:weight", "option:Wood"]) { label values { value count selected toggled { attribute { key in le } } } } } } }`,
			data: `{"products":{"totalCount":1,"facets":{"groups":[
			{"label":"Marque","values":[{"value":"Acme","count":1,"selected":true,"toggled":{"attribute":[{"key":"weight","in":null,"le":"0.5"}]}}]},
			{"label":"Weight","values":[{"value":"0","count":1,"selected":false,"toggled":{"attribute":[{"key":"brand","in":["Acme"],"le":null},{"key":"weight","in":["0"],"le":null}]}},
			 {"value":"0.75","count":1,"selected":false,"toggled":{"attribute":[{"key":"brand","in":["Acme"],"le":null},{"key":"weight","in":["0.75"],"le":null}]}}]}]}}}`},
		{name: "selected values are shown in any case", query: `{ products(filter: {tags: {eq: "heavy"}, option: [{name: "Size", in: ["L"]}], attribute: [{key: "weight", in: ["0.750"]}]}) { facets { groups { key values { value count selected } } } } }`,
			data: `{"products":{"facets":{"groups":[{"key":"tags","values":[{"value":"heavy","count":0,"selected":true}]},
			{"key":"option:Size","values":[{"value":"L","count":0,"selected":true}]},{"key":"attribute:weight","values":[{"value":"0.75","count":0,"selected":true}]}]}}}`},
		{name: "prices ignore the own condition", query: `{ products(filter: {price: {ge: "600"}}) { totalCount facets { price { min { amount } } } } }`,
			data: `{"products":{"totalCount":1,"facets":{"price":{"min":{"amount":"500"}}}}}`},
		{name: "no prices", query: `{ catalogNode(by: {id: "paints"}) { products { facets { price { min { amount } } } } } }`, data: `{"catalogNode":{"products":{"facets":{"price":null}}}}`},
		{name: "first 101 of groups", query: `{ products { facets { groups(first: 101) { key } } } }`, codes: []store.Code{store.Unprocessable}, argument: "first", holds: []string{"between 1 and 100"}},
		{name: "51 groups", query: `query($k: [String!]) { products { facets { groups(keys: $k) { key } } } }`, variables: graphtest.Variables{"k": make([]string, 51)},
			codes: []store.Code{store.Unprocessable}, argument: "keys", holds: []string{"at most 50"}},
		{name: "first 0", query: `{ products { facets { tags(first: 0) { value } } } }`, codes: []store.Code{store.Unprocessable}, argument: "first", holds: []string{"between 1 and 100"}},
	}
}

// counted is a facet value.
type counted struct {
	Value           string
	Count           int
	Selected        bool
	Filter, Toggled json.RawMessage
}

// A client can send the filters of a facet back unchanged.
func TestFacetFiltersCanBeSentBack(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		total := func(filter any) int {
			var data struct{ Products struct{ TotalCount int } }
			s.Post(t, `query($f: ProductFilter) { products(filter: $f) { totalCount } }`, graphtest.Variables{"f": filter}).Read(t, &data)
			return data.Products.TotalCount
		}
		for _, filter := range []string{`null`, `{}`, `{"tags":{"in":["wood","heavy"]}}`, `{"tags":{"in":[]}, "sku":{"eq":"ANVIL"}}`, `{"productTypes":{"eq":"standard"},"and":[{"tags":{"eq":"paint"}},{"search":"br","and":[{"sku":{"in":["BRUSH","ANVIL"]}}]}]}`,
			`{"ids":["anvil","chalk"]}`, `{"id":{"in":["anvil","brush","` + store.GlobalID(store.TypeProduct, "easel") + `"]}}`, `{"option":[{"name":"Wood","in":["Oak"]}],"price":{},"node":{"in":["workshop"]}}`, `{"attribute":[{"key":"brand","in":["Acme"]},{"key":"weight","ge":"0.1"}],"price":{"le":"100000"}}`, `{"attribute":[{"key":"uses","in":["toys"]}]}`,
			`{"search":"a","bounds":{"updatedAt":{"ge":"2024-01-02T00:00:00.000Z"},"id":{"lt":"k"}}}`} {
			var data struct {
				Products struct {
					TotalCount int
					Facets     struct {
						Tags, ProductTypes []counted
						Groups             []struct {
							Key    string
							Values []counted
						}
					}
				}
			}
			a := s.Post(t, `query($f: ProductFilter) { products(filter: $f) { totalCount facets { tags { ...v } productTypes { ...v } groups { ...g } } } }`+facetMembers,
				graphtest.Variables{"f": json.RawMessage(filter)})
			if len(a.Errors) > 0 {
				require.Contains(t, filter, `"in":[]`)
				continue
			}
			a.Read(t, &data)
			for _, group := range data.Products.Facets.Groups {
				for _, value := range group.Values {
					require.Equal(t, value.Count, total(value.Filter), "%s %s of %s by %s", group.Key, value.Value, filter, value.Filter)
					var back struct {
						Products struct {
							Facets struct{ Groups []struct{ Values []counted } }
						}
					}
					s.Post(t, `query($f: ProductFilter, $k: [String!]) { products(filter: $f) { facets { groups(keys: $k, first: 100) { values { value selected } } } } }`,
						graphtest.Variables{"f": value.Toggled, "k": []string{group.Key}}).Read(t, &back)
					for _, again := range back.Products.Facets.Groups {
						at := slices.IndexFunc(again.Values, func(v counted) bool { return v.Value == value.Value })
						require.True(t, at >= 0 && again.Values[at].Selected == !value.Selected || at < 0 && value.Selected, "%s of %s, toggled by %s", value.Value, filter, value.Toggled)
					}
				}
			}
			for _, value := range append(data.Products.Facets.Tags, data.Products.Facets.ProductTypes...) {
				require.Equal(t, value.Count, total(value.Filter), "%s of %s by %s", value.Value, filter, value.Filter)
				var back struct {
					Products struct {
						Facets struct{ Tags, ProductTypes []counted }
					}
				}
				s.Post(t, `query($f: ProductFilter) { products(filter: $f) { facets { tags { value selected } productTypes { value selected } } } }`, graphtest.Variables{"f": value.Toggled}).Read(t, &back)
				for _, again := range append(back.Products.Facets.Tags, back.Products.Facets.ProductTypes...) {
					if again.Value == value.Value {
						require.Equal(t, !value.Selected, again.Selected, "%s of %s, toggled by %s", value.Value, filter, value.Toggled)
					}
				}
			}
		}
	})
}
