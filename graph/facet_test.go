package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/model"
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
		{name: "in the shopper's language", headers: []string{"Accept-Language", "fr"}, query: list(`filter: {search: "pour peindre"}`), data: rows("brush")},
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
		{name: "by price, those without one last", query: list(`orderBy: {field: PRICE}, first: 4`), data: rows("brush", "anvil", lamp, "chalk")},
		{name: "by an attribute, those without a value last", query: list(`orderBy: {field: ATTRIBUTE, attribute: "weight"}, first: 4`), data: rows("chalk", "glue", lamp, "anvil")},
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

// chose returns the state of choices: groups, each a key with its values.
func chose(groups ...[]string) string {
	state := model.FacetState{}
	for _, group := range groups {
		for _, value := range group[1:] {
			state = state.Toggle(group[0], value)
		}
	}
	return state.String()
}

func facetLists() []scenario {
	facets := func(groups ...[]string) graphtest.Variables { return graphtest.Variables{"f": chose(groups...)} }
	return []scenario{
		{name: "of all products", query: `{ products(first: 1) { facets { groups(first: 2, keys: ["tags", "productTypes"]) { key values { value count selected toggled } } } } }`,
			data: `{"products":{"facets":{"groups":[{"key":"tags","values":[
			{"value":"paint","count":3,"selected":false,"toggled":"` + chose([]string{"tags", "paint"}) + `"},
			{"value":"light","count":2,"selected":false,"toggled":"` + chose([]string{"tags", "light"}) + `"}]},
			{"key":"productTypes","values":[{"value":"standard","count":3,"selected":false,"toggled":"` + chose([]string{"productTypes", "standard"}) + `"},
			{"value":"bundle","count":1,"selected":false,"toggled":"` + chose([]string{"productTypes", "bundle"}) + `"}]}]}}}`},
		{name: "what is chosen of the group is left out", query: `query($f: FacetState) { products(facets: $f) { totalCount facets { groups(first: 1, keys: ["tags", "productTypes"]) { key values { value count selected toggled } } } } }`,
			variables: facets([]string{"tags", "wood"}),
			data: `{"products":{"totalCount":1,"facets":{"groups":[{"key":"tags","values":[
			{"value":"paint","count":3,"selected":false,"toggled":"` + chose([]string{"tags", "paint", "wood"}) + `"},
			{"value":"wood","count":1,"selected":true,"toggled":""}]},
			{"key":"productTypes","values":[{"value":"parent","count":1,"selected":false,"toggled":"` + chose([]string{"productTypes", "parent"}, []string{"tags", "wood"}) + `"}]}]}}}`},
		{name: "conditions of the filter remain", query: `{ products(filter: {tags: {eq: "paint"}}) { facets { groups(keys: ["tags"]) { values { value count selected } } } } }`,
			data: `{"products":{"facets":{"groups":[{"values":[{"value":"paint","count":3,"selected":false},{"value":"light","count":1,"selected":false},{"value":"wood","count":1,"selected":false}]}]}}}`},
		{name: "of every product, those that no node lists too", query: `query($f: FacetState) { products(includeChildren: true, facets: $f) { totalCount nodes { uuid parent { uuid } } facets { groups(keys: ["tags", "productTypes"], first: 1) { values { value count } } } } }`,
			variables: facets([]string{"tags", "wood"}),
			data: `{"products":{"totalCount":3,"nodes":[{"uuid":"easel-oak","parent":{"uuid":"easel"}},{"uuid":"easel","parent":null},{"uuid":"frame","parent":null}],
			"facets":{"groups":[{"values":[{"value":"paint","count":3},{"value":"wood","count":3}]},{"values":[{"value":"child","count":1}]}]}}}`},
		{name: "of a node and a search", query: `query($f: FacetState) { catalogNode(by: {id: "tools"}) { products(filter: {search: "brush"}, facets: $f) { totalCount facets { groups(keys: ["tags"]) { values { value count } } } } } }`,
			variables: facets([]string{"tags", "light"}),
			data:      `{"catalogNode":{"products":{"totalCount":1,"facets":{"groups":[{"values":[{"value":"light","count":1},{"value":"paint","count":1}]}]}}}}`},
		{name: "of a hierarchy, children and components", query: `query($f: FacetState, $oak: FacetState, $wood: FacetState) { hierarchy(id: "workshop") { products(facets: $f) { totalCount } }
			easel: product(by: {id: "easel"}) { childrenConnection(facets: $oak) { totalCount } } kit: product(by: {id: "kit"}) { componentProductsConnection(facets: $wood) { nodes { uuid } } } }`,
			variables: graphtest.Variables{"f": chose([]string{"tags", "light"}), "oak": chose([]string{"option:Wood", "Oak"}), "wood": chose([]string{"tags", "wood"})},
			data:      `{"hierarchy":{"products":{"totalCount":2}},"easel":{"childrenConnection":{"totalCount":1}},"kit":{"componentProductsConnection":{"nodes":[{"uuid":"frame"}]}}}`},
		{name: "of sibling nodes", query: `{ catalogNodes(first: 3) { nodes { uuid products { facets { groups(keys: ["tags"], first: 1) { values { value count } } } } } } }`,
			data: `{"catalogNodes":{"nodes":[{"uuid":"empty","products":{"facets":{"groups":[]}}},{"uuid":"hand-tools","products":{"facets":{"groups":[{"values":[{"value":"light","count":2}]}]}}},
			{"uuid":"paints","products":{"facets":{"groups":[{"values":[{"value":"paint","count":2}]}]}}}]}}`},
		{name: "groups", query: `{ products(first: 1) { facets { minPrice { amount } maxPrice { amount currency formatted } groups(first: 2) { key label kind values { value label count } } } } }`,
			data: `{"products":{"facets":{"minPrice":{"amount":"500"},"maxPrice":{"amount":"99900","currency":"USD","formatted":"$999.00"},"groups":[
			{"key":"tags","label":"Tags","kind":"TAGS","values":[{"value":"paint","label":"paint","count":3},{"value":"light","label":"light","count":2}]},
			{"key":"productTypes","label":"Product types","kind":"PRODUCT_TYPES","values":[{"value":"standard","label":"standard","count":3},{"value":"bundle","label":"bundle","count":1}]},
			{"key":"option:Wood","label":"Wood","kind":"OPTION","values":[{"value":"Oak","label":"Oak","count":1}]},
			{"key":"attribute:brand","label":"Brand","kind":"ATTRIBUTE","values":[{"value":"Acme","label":"Acme","count":2},{"value":"Büchner","label":"Büchner","count":1}]},
			{"key":"attribute:since","label":"Made since","kind":"ATTRIBUTE","values":[{"value":"1949-09-17","label":"1949-09-17","count":1},{"value":"2001-02-03","label":"2001-02-03","count":1}]},
			{"key":"attribute:uses","label":"Uses","kind":"ATTRIBUTE","values":[{"value":"toys","label":"toys","count":2},{"value":"joining","label":"joining","count":1}]},
			{"key":"attribute:weight","label":"Weight","kind":"ATTRIBUTE","values":[{"value":"0","label":"0 kg","count":1},{"value":"0.75","label":"0.75 kg","count":1}]}]}}}`},
		{name: "a group's own choices are open", headers: []string{"Accept-Language", "fr"},
			query:     `query($f: FacetState) { products(filter: {attribute: [{key: "weight", le: "0.5"}]}, facets: $f) { totalCount facets { groups(keys: ["attribute:brand", "attribute:weight", "option:Wood"]) { label values { value count selected toggled } } } } }`,
			variables: facets([]string{"attribute:brand", "Acme"}),
			data: `{"products":{"totalCount":1,"facets":{"groups":[
			{"label":"Marque","values":[{"value":"Acme","count":1,"selected":true,"toggled":""}]},
			{"label":"Weight","values":[{"value":"0","count":1,"selected":false,"toggled":"` + chose([]string{"attribute:brand", "Acme"}, []string{"attribute:weight", "0"}) + `"}]}]}}}`},
		{name: "selected values are shown in any case", query: `query($f: FacetState) { products(facets: $f) { facets { groups { key values { value count selected } } } } }`,
			variables: facets([]string{"tags", "heavy"}, []string{"option:Size", "L"}, []string{"attribute:weight", "0.750"}),
			data: `{"products":{"facets":{"groups":[{"key":"tags","values":[{"value":"heavy","count":0,"selected":true}]},
			{"key":"option:Size","values":[{"value":"L","count":0,"selected":true}]},{"key":"attribute:weight","values":[{"value":"0.75","count":0,"selected":true}]}]}}}`},
		{name: "an attribute that is no more", query: `query($f: FacetState) { products(facets: $f) { totalCount } }`, variables: facets([]string{"attribute:nothing", "x"}), codes: invalid, argument: "filter.attribute", holds: []string{"nothing"}},
		{name: "a state that is none", query: `{ products(facets: "tags") { totalCount } }`, codes: invalid, argument: "facets", holds: []string{"sent back as it was"}},
		{name: "a state that is too long", query: `query($f: FacetState) { products(facets: $f) { totalCount } }`, variables: facets([]string{"tags", strings.Repeat("x", 2000)}), codes: invalid, argument: "facets",
			holds: []string{"at most 2048 bytes"}},
		{name: "nothing chosen", query: `{ products(facets: "") { totalCount } all: products(facets: null) { totalCount } }`, data: `{"products":{"totalCount":8},"all":{"totalCount":8}}`},
		{name: "prices ignore the own condition", query: `{ products(filter: {price: {ge: "600"}}) { totalCount facets { minPrice { amount } } } }`,
			data: `{"products":{"totalCount":1,"facets":{"minPrice":{"amount":"500"}}}}`},
		{name: "no prices", query: `{ catalogNode(by: {id: "paints"}) { products { facets { minPrice { amount } } } } }`, data: `{"catalogNode":{"products":{"facets":{"minPrice":null}}}}`},
		{name: "first 101 of groups", query: `{ products { facets { groups(first: 101) { key } } } }`, codes: []store.Code{store.Unprocessable}, argument: "first", holds: []string{"between 1 and 100"}},
		{name: "51 groups", query: `query($k: [String!]) { products { facets { groups(keys: $k) { key } } } }`, variables: graphtest.Variables{"k": make([]string, 51)},
			codes: []store.Code{store.Unprocessable}, argument: "keys", holds: []string{"at most 50"}},
		{name: "first 0", query: `{ products { facets { groups(first: 0) { key } } } }`, codes: []store.Code{store.Unprocessable}, argument: "first", holds: []string{"between 1 and 100"}},
	}
}

// A client can send what a facet returns back unchanged: the list then has as many products as were counted.
func TestFacetStatesCanBeSentBack(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		type group struct {
			Key    string
			Values []struct {
				Value, Toggled string
				Count          int
				Selected       bool
			}
		}
		ask := func(filter string, facets string) (total int, groups []group) {
			var data struct {
				Products struct {
					TotalCount int
					Facets     struct{ Groups []group }
				}
			}
			s.Post(t, `query($filter: ProductFilter, $facets: FacetState) { products(filter: $filter, facets: $facets, includeChildren: true) {
				totalCount facets { groups(first: 100) { key values { value count selected toggled } } } } }`,
				graphtest.Variables{"filter": json.RawMessage(filter), "facets": facets}).Read(t, &data)
			return data.Products.TotalCount, data.Products.Facets.Groups
		}
		seen := map[string]bool{}
		for _, filter := range []string{`null`, `{"tags":{"in":["wood","heavy","light"]}}`, `{"and":[{"tags":{"eq":"paint"}}],"price":{"le":"100000"}}`, `{"search":"a"}`, `{"or":[{"tags":{"eq":"paint"}},{"price":{"le":"1000"}}],"not":{"tags":{"eq":"heavy"}}}`} {
			_, groups := ask(filter, "")
			for _, group := range groups {
				for _, value := range group.Values {
					require.False(t, value.Selected)
					total, narrowed := ask(filter, value.Toggled)
					require.Equal(t, value.Count, total, "%s %s of %s", group.Key, value.Value, filter)
					for _, own := range narrowed {
						for _, again := range own.Values {
							chosen := own.Key == group.Key && again.Value == value.Value
							require.Equal(t, chosen, again.Selected, "%s %s, where %s %s of %s is chosen", own.Key, again.Value, group.Key, value.Value, filter)
							if chosen {
								require.Equal(t, value.Count, again.Count)
								require.Empty(t, again.Toggled, "a value that is toggled twice")
								continue
							}
							if own.Key == group.Key || seen[again.Toggled] {
								continue
							}
							seen[again.Toggled] = true
							both, _ := ask(filter, again.Toggled)
							require.Equal(t, again.Count, both, "%s %s with %s %s of %s", own.Key, again.Value, group.Key, value.Value, filter)
						}
					}
				}
			}
		}
		require.Greater(t, len(seen), 40)
	})
}
