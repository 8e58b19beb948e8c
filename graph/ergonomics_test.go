package graph_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

// typedShop is a shop with a bundle, a parent with variants and a promotion with nested conditions.
func typedShop() string {
	return storetest.JoinLines(graphtest.Shop(), cartPromotion("worn", "fixed_discount",
		`{"currencies":[{"currency":"USD","amount":1000}],"target_catalogs":["main"],"conditions":{"and":[{"template":"shoes","field":"size","type":"integer","value":42},[{"and":[{"template":"products(shoes)","field":"worn","type":"boolean","value":"true"}]},{}]]}}`, ``))
}

// A product and a node by exactly one member, in literals and in variables.
func TestIdentifiers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		const product, node = `query ($by: ProductIdentifierInput!) { product(by: $by) { uuid } }`, `query ($by: CatalogNodeIdentifierInput!) { catalogNode(by: $by) { uuid } }`
		by := func(members ...any) graphtest.Variables {
			given := graphtest.Variables{}
			for i := 0; i < len(members); i += 2 {
				given[members[i].(string)] = members[i+1]
			}
			return graphtest.Variables{"by": given}
		}
		anvil, tools := `{"product":{"uuid":"anvil"}}`, `{"catalogNode":{"uuid":"tools"}}`
		invalid := []store.Code{store.Invalid}
		runScenarios(t, s, []scenario{
			{name: "by id", query: `{ product(by: {id: ` + global("Product", "anvil") + `}) { uuid } }`, data: anvil},
			{name: "by own id", query: product, variables: by("id", "anvil"), data: anvil},
			{name: "by SKU", query: product, variables: by("sku", "ANVIL"), data: anvil},
			{name: "by SKU, with a null member", query: product, variables: by("sku", "ANVIL", "slug", nil), codes: invalid, argument: "by"},
			{name: "by a nullable variable", query: `query ($sku: String) { product(by: {sku: $sku}) { uuid } }`, variables: graphtest.Variables{"sku": "ANVIL"}, codes: invalid, holds: []string{"must be non-nullable"}},
			{name: "none there", query: product, variables: by("slug", "nobody"), data: `{"product":null}`},
			{name: "two members", query: product, variables: by("sku", "ANVIL", "id", "anvil"), codes: invalid, argument: "by"},
			{name: "two members, literally", query: `{ product(by: {sku: "ANVIL", id: "anvil"}) { uuid } }`, codes: invalid, argument: "by"},
			{name: "no member", query: `{ product(by: {}) { uuid } }`, codes: invalid, argument: "by"},
			{name: "a null member", query: product, variables: by("id", nil), codes: invalid, argument: "by"},
			{name: "null", query: product, variables: graphtest.Variables{"by": nil}, codes: invalid},

			{name: "a node by id", query: node, variables: by("id", "tools"), data: tools},
			{name: "a node by slug", query: node, variables: by("slug", "tools"), data: tools},
			{name: "a node by path", query: node, variables: by("path", "workshop/tools"), data: tools},
			{name: "a node by two", query: node, variables: by("id", "tools", "slug", "tools"), codes: invalid, argument: "by"},
		})
	})
}

// What has a type shows what the JSON beside it shows.
func TestTypedMembers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, typedShop())
		runScenarios(t, s, []scenario{
			{name: "a choice", query: `{ productConfigured(id: "kit", choices: [{component: "wood", options: [{id: "frame", quantity: 3}]}]) {
				bundleConfiguration { choices { component options { uuid quantity } } } } }`,
				data: `{"productConfigured":{"bundleConfiguration":{"choices":[{"component":"wood","options":[{"uuid":"frame","quantity":3}]}]}}}`},
			{name: "no bundle", query: `{ product(by: {id: "anvil"}) { bundleConfiguration { choices { component } } variantOptions { uuid } } }`,
				data: `{"product":{"bundleConfiguration":{"choices":[]},"variantOptions":[]}}`},
			{name: "conditions", query: `{ promotion(id: "worn") { itemConditions { template field type value } targetCatalogUuids details { ... on PromotionFixedDiscount { amounts { amount currency formatted } } } } }`,
				data: `{"promotion":{"itemConditions":[{"template":"shoes","field":"size","type":"INTEGER","value":"42"},{"template":"products(shoes)","field":"worn","type":"BOOLEAN","value":"true"}],
					"targetCatalogUuids":["main"],"details":{"amounts":[{"amount":"1000","currency":"USD","formatted":"$10.00"}]}}}`},
			{name: "conditions are written as they are read", query: `mutation { promotionUpdate(input: {id: "ten-off", itemConditions: [{template: "shoes", field: "worn", type: BOOLEAN, value: "true"}]}) {
				promotion { itemConditions { template field type value } } userErrors { field message } } }`,
				data: `{"promotionUpdate":{"promotion":{"itemConditions":[{"template":"shoes","field":"worn","type":"BOOLEAN","value":"true"}]},"userErrors":[]}}`},
			{name: "a condition that does not hold", query: `mutation { promotionUpdate(input: {id: "ten-off", itemConditions: [{template: "shoes", field: "worn", type: BOOLEAN, value: "yes"}]}) { userErrors { field message } } }`,
				data: `{"promotionUpdate":{"userErrors":[{"field":["input","itemConditions","0","value"],"message":"itemConditions.0.value must be of the type boolean, got \"yes\"."}]}}`},
			{name: "no more conditions", query: `mutation { promotionUpdate(input: {id: "ten-off", itemConditions: null}) { promotion { itemConditions { field } } } }`,
				data: `{"promotionUpdate":{"promotion":{"itemConditions":[]}}}`},
			{name: "no conditions, a percentage", query: `{ promotion(id: "ten-off") { itemConditions { field } targetCatalogUuids } }`,
				data: `{"promotion":{"itemConditions":[],"targetCatalogUuids":null}}`},
		})
	})
}

// The variants by options have the options of the children, and the money of a price is its display price.
func TestTypedPricesAndVariants(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openDemo(t, e)
		var data struct {
			Product struct {
				Children []struct {
					UUID            string
					ChildVariations []struct{ Option struct{ UUID string } }
				}
				VariantOptions []struct {
					UUID        string
					OptionUuids []string
				}
			}
		}
		s.Post(t, `{ product(by: {slug: "latte"}) { children { uuid childVariations { option { uuid } } } variantOptions { uuid optionUuids } } }`, nil).Read(t, &data)
		require.Len(t, data.Product.VariantOptions, 3)
		for i, variant := range data.Product.VariantOptions {
			require.Equal(t, data.Product.Children[i].UUID, variant.UUID, "in the order of the children")
			require.Len(t, variant.OptionUuids, 1)
			require.Equal(t, data.Product.Children[i].ChildVariations[0].Option.UUID, variant.OptionUuids[0])
		}
		type shown struct {
			Price struct {
				IncludesTax                bool
				Money, WithTax, WithoutTax json.RawMessage
			}
		}
		for _, headers := range [][]string{{}, {"Accept-Language", "fr", "X-Moltin-Currency", "EUR"}} {
			var list struct{ Products struct{ Nodes []shown } }
			const money = `{ amount currency formatted }`
			s.Post(t, `{ products(first: 100) { nodes { price { includesTax money `+money+` withTax `+money+` withoutTax `+money+` } } } }`, nil, headers...).Read(t, &list)
			require.Greater(t, len(list.Products.Nodes), 10)
			for _, product := range list.Products.Nodes {
				with, without := string(product.Price.Money), "null"
				if !product.Price.IncludesTax {
					with, without = without, with
				}
				require.Equal(t, [2]string{with, without}, [2]string{string(product.Price.WithTax), string(product.Price.WithoutTax)})
			}
		}
	})
}
