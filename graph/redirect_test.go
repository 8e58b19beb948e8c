package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// TestMovedPagesOfTheDemo moves categories and products of the demo, and follows their old paths.
func TestMovedPagesOfTheDemo(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openDemo(t, e)
		type moves map[string]string // paths to "PATH uuid", or "" for null
		for _, step := range []struct {
			name, mutation string
			want           moves
		}{
			{"a category below another", `catalogNodesUpsert(input: {items: [{id: "node-beans", parentId: "node-drinks"}]}) { userErrors { message } }`, moves{
				"beans": "portico-coffee/drinks/beans node-beans", "portico-coffee/beans": "portico-coffee/drinks/beans node-beans",
				"portico-coffee/beans/beans-house": "portico-coffee/drinks/beans/beans-house prod-beans-house", "beans/beans-house": "portico-coffee/drinks/beans/beans-house prod-beans-house",
				"portico-coffee/drinks/beans": "", "drinks/beans/beans-house": "", "beans-house": "", "beans/none": "",
			}},
			{"the one above, and its slug", `catalogNodesUpsert(input: {items: [{id: "node-drinks", slug: "to-drink"}]}) { userErrors { message } }`, moves{
				"beans": "portico-coffee/to-drink/beans node-beans", "drinks": "portico-coffee/to-drink node-drinks", "drinks/beans": "portico-coffee/to-drink/beans node-beans",
				"beans/beans-house": "portico-coffee/to-drink/beans/beans-house prod-beans-house", "drinks/beans/beans-house": "portico-coffee/to-drink/beans/beans-house prod-beans-house",
			}},
			{"the hierarchy", `hierarchiesUpsert(input: {items: [{id: "hierarchy-shop", slug: "shop"}]}) { userErrors { message } }`, moves{
				"portico-coffee": "shop hierarchy-shop", "portico-coffee/beans/beans-house": "shop/to-drink/beans/beans-house prod-beans-house", "portico-coffee/to-drink": "shop/to-drink node-drinks",
				"to-drink": "",
			}},
			{"a path that is taken again", `catalogNodesUpsert(input: {items: [{id: "node-new", hierarchyId: "hierarchy-shop", name: "New", slug: "beans"}]}) { userErrors { message } }`, moves{
				"beans": "", "shop/beans": "", "portico-coffee/beans": "shop/to-drink/beans node-beans", "beans/beans-house": "shop/to-drink/beans/beans-house prod-beans-house",
			}},
			{"a product of another category", `productsUpsert(input: {items: [{id: "prod-beans-house", slug: "house"}]}) { userErrors { message } }
				catalogNodesUpsert(input: {items: [{id: "node-beans", slug: "roasts"}]}) { userErrors { message } }`, moves{
				"portico-coffee/beans/beans-house": "shop/to-drink/roasts/house prod-beans-house", "beans-house": "shop/to-drink/roasts/house prod-beans-house",
				"to-drink/beans/beans-house": "shop/to-drink/roasts/house prod-beans-house", "to-drink/roasts/beans-house": "",
			}},
		} {
			resp := s.Post(t, "mutation { "+step.mutation+" }", nil)
			require.Empty(t, resp.Errors, step.name)
			require.NotContains(t, string(resp.Data), "message", step.name)
			storetest.Publish(t, s.Store, "catalog-coffee")
			for path, want := range step.want {
				var got struct {
					Redirect *struct {
						Path                 string
						Product, CatalogNode *struct{ UUID string }
					}
					CatalogNode, Product *struct{ UUID string }
				}
				s.Post(t, `query($path: String!) {
					redirect(path: $path) { path product { uuid } catalogNode { uuid } } catalogNode(by: {path: $path}) { uuid } product(by: {path: $path}) { uuid } }`,
					graphtest.Variables{"path": path}).Read(t, &got)
				leads := ""
				if r := got.Redirect; r != nil {
					leads = r.Path
					for _, at := range []*struct{ UUID string }{r.Product, r.CatalogNode} {
						if at != nil {
							leads += " " + at.UUID
						}
					}
					require.Nil(t, got.CatalogNode, "%s: %s", step.name, path)
					require.Nil(t, got.Product, "%s: %s", step.name, path)
				}
				require.Equal(t, want, leads, "%s: %s", step.name, path)
			}
		}
		resp := s.Post(t, `mutation { redirectsUpsert(input: {items: [{from: "roasts", to: "to-drink"}, {from: "to-drink/roasts", to: "to-drink"}]}) { warnings { message } userErrors { message } } }`, nil)
		require.JSONEq(t, fmt.Sprintf(`{"redirectsUpsert":{"userErrors":[],"warnings":[{"message":%q}]}}`,
			`items.1.from is also the path of the node "node-beans" in the store: storefronts that ask for redirects first do not show it.`), string(resp.Data), "no node has the path roasts")
	})
}
