package graph_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/storetest"
)

// reach is a type with a global id and the query that finds its objects by its own field.
type reach struct {
	coordinate string // whose scope it needs
	field      string // of Query, with $id
	visible    string // the own id of one that is there
	hidden     []string
}

// reaches has an entry for every type with a global id.
func reaches() map[string]reach {
	return map[string]reach{
		store.TypeProduct:     {"Query.product", `product(by: {id: $id}) { id }`, "anvil", []string{"drill-draft", "attic-only-draft", "nobody"}},
		store.TypeCatalogNode: {"Query.catalogNode", `catalogNode(by: {id: $id}) { id }`, "tools", []string{"box", "nowhere"}},
		store.TypeHierarchy:   {"Query.hierarchy", `hierarchy(id: $id) { id }`, "workshop", []string{"attic", "tools"}},
		store.TypeFile:        {"Query.file", `file(id: $id) { id }`, "photo-1", []string{"photo-draft", "photo-none", "none"}},
		store.TypeStock:       {"Query.stock", `stock(productId: $id) { id }`, "anvil", []string{"glue"}},

		store.TypeRelease:             {"Query.catalogReleases", ``, "1", []string{"99", "main"}},
		store.TypeJob:                 {"Query.job", `job(id: $id) { id }`, "job-1", []string{"none"}},
		store.TypePromotion:           {"Query.promotion", `promotion(id: $id) { id }`, "ten-off", []string{"none"}},
		store.TypePromotionCode:       {"Promotion.codes", ``, "code-1", []string{"none"}},
		store.TypeCatalog:             {"Query.catalog", `catalog(id: $id) { id }`, "main", []string{"none"}},
		store.TypeCatalogRule:         {"Query.catalogRule", `catalogRule(id: $id) { id }`, "club", []string{"none"}},
		store.TypeAuthoredHierarchy:   {"Query.authoredHierarchy", `authoredHierarchy(id: $id) { id }`, "attic", []string{"box"}},
		store.TypePricebook:           {"Query.pricebook", `pricebook(id: $id) { id }`, "vip", []string{"none"}},
		store.TypeAuthoredPrice:       {"Query.authoredPrice", `authoredPrice(id: $id) { id }`, "standard-secret", []string{"none"}},
		store.TypeAuthoredModifier:    {"Query.authoredPriceModifier", `authoredPriceModifier(id: $id) { id }`, "bulk-1", []string{"none", "bulk"}},
		store.TypeAuthoredFile:        {"Query.authoredFile", `authoredFile(id: $id) { id }`, "photo-draft", []string{"none"}},
		store.TypeAuthoredAttribute:   {"Query.authoredAttribute", `authoredAttribute(id: $id) { id }`, "brand", []string{"none"}},
		store.TypeAuthoredRedirect:    {"Query.authoredRedirect", `authoredRedirect(id: $id) { id }`, "help", []string{"none"}},
		store.TypeSynonym:             {"Query.synonym", `synonym(id: $id) { id }`, "lutes", []string{"none"}},
		store.TypeAuthoredProduct:     {"Query.authoredProduct", `authoredProduct(by: {id: $id}) { id }`, "drill-draft", []string{"none"}},
		store.TypeAuthoredCatalogNode: {"Query.authoredCatalogNode", `authoredCatalogNode(id: $id) { id }`, "box", []string{"attic"}},
	}
}

// secretFiles are files of a draft and of no product.
const secretFiles = `
{"type":"file","id":"photo-draft","file_name":"next.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/next-years-model.jpg"},"meta":{"timestamps":{"created_at":"2023-01-01T00:00:00.000Z"}}}
{"type":"file","id":"photo-none","file_name":"none.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/none.jpg"},"meta":{"timestamps":{"created_at":"2023-01-01T00:00:00.000Z"}}}
{"type":"product","id":"attic-only-draft","attributes":{"name":"Next year's","sku":"NEXT","slug":"next","status":"draft","base_product":false,"created_at":"2023-01-05T00:00:00.000Z","updated_at":"2024-01-05T00:00:00.000Z"},"relationships":{"main_image":{"data":{"type":"main_image","id":"photo-draft"}},"files":{"data":[{"type":"file","id":"photo-draft"}]}}}
`

// node applies the access rule of the type's own field, for each token: none, a storefront's, one
// with every scope but the needed one, and one with that scope.
func TestNodeFollowsTheAccessRuleOfTheType(t *testing.T) {
	t.Parallel()
	for _, definition := range graphtest.Schema().GetPossibleTypes(graphtest.Schema().Types["Node"]) {
		require.Contains(t, reaches(), definition.Name, "say how a %s is found by its id", definition.Name)
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop()+secretFiles)
		seedJob(t, e, "job-1")
		for kind, of := range reaches() {
			needed, declared := auth.Scope(of.coordinate)
			require.True(t, declared, of.coordinate)
			var others []string
			for _, scope := range access.Scopes() {
				if scope != needed && (kind != store.TypeJob || scope != "promotions:write") {
					others = append(others, scope)
				}
			}
			tokens := map[string]*auth.Principal{
				"none": nil, "a storefront's": graphtest.Client("catalog:read", "inventory:read"), "every other scope": graphtest.Client(others...),
				"the scope": graphtest.Client("catalog:read", needed), "every scope": graphtest.Admin(),
			}
			for name, token := range tokens {
				t.Run(kind+", "+name, func(t *testing.T) {
					for _, own := range append([]string{of.visible}, of.hidden...) {
						requireSameRule(t, s, of, token, kind, own)
					}
				})
			}
			// The field with the scope shows the object, otherwise the comparison would be empty.
			global := store.GlobalID(kind, of.visible)
			require.Equal(t, global, nodeID(t, s, graphtest.Client("catalog:read", needed), global), kind)
			require.Empty(t, nodeID(t, s, nil, global), kind)
			if needed != "catalog:read" && needed != "inventory:read" {
				require.Empty(t, nodeID(t, s, graphtest.Client("catalog:read", "inventory:read"), global), kind)
			}
			for _, hidden := range of.hidden {
				require.Empty(t, nodeID(t, s, graphtest.Client("catalog:read", "inventory:read"), store.GlobalID(kind, hidden)), "%s %s", kind, hidden)
			}
		}
		require.NotEmpty(t, nodeID(t, s, graphtest.Client("catalog:read", "catalog:write"), store.GlobalID(store.TypeFile, "photo-draft")), "who writes the catalog sees all its files")

		// A shopper of another catalog sees the objects of that catalog, also by node.
		outlet := func(kind, id string) string {
			r := graphtest.NewPost(t, `{ node(id: `+global(kind, id)+`) { id } }`, nil)
			token := graphtest.Client("catalog:read")
			token.AccountID, token.CustomerID, token.AccountTags = "acme", "bob", []string{"gold"}
			var data struct{ Node *struct{ ID string } }
			a := s.Send(t, graphtest.As(r, token))
			require.NoError(t, json.Unmarshal(a.Data, &data))
			if data.Node == nil {
				return ""
			}
			return data.Node.ID
		}
		require.NotEmpty(t, outlet(store.TypeCatalogNode, "sale"))
		require.Empty(t, outlet(store.TypeCatalogNode, "tools"))
		require.Empty(t, outlet(store.TypeHierarchy, "workshop"))
		require.Empty(t, outlet(store.TypeProduct, "easel"))
		require.NotEmpty(t, outlet(store.TypeFile, "photo-1"), "which a product of the outlet shows")
	})
}

// requireSameRule compares node and nodes with the type's own field.
func requireSameRule(t *testing.T, s *graphtest.Service, of reach, token *auth.Principal, kind, own string) {
	t.Helper()
	global := store.GlobalID(kind, own)
	var list struct{ Nodes []*struct{ ID string } }
	r := graphtest.NewPost(t, `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, graphtest.Variables{"ids": []string{global}})
	a := s.Send(t, graphtest.As(r, token))
	require.NoError(t, json.Unmarshal(a.Data, &list))
	found := nodeID(t, s, token, global)
	require.Equal(t, found != "", len(list.Nodes) == 1 && list.Nodes[0] != nil, "node and nodes show the same: %s %s", kind, own)
	if of.field == "" {
		return
	}
	var data map[string]*struct{ ID string }
	b := s.Send(t, graphtest.As(graphtest.NewPost(t, `query($id: ID!) { `+of.field+` }`, graphtest.Variables{"id": own}), token))
	require.NoError(t, json.Unmarshal(b.Data, &data))
	for field, thing := range data {
		require.Equal(t, thing != nil, found != "", "%s and node show the same of %s %s: %s, %s", field, kind, own, b.Body, a.Body)
		require.Equal(t, b.Codes(), a.Codes(), "%s and node refuse alike: %s %s", field, kind, own)
	}
}

// nodeID returns the id of the object that node finds; "" for none.
func nodeID(t *testing.T, s *graphtest.Service, token *auth.Principal, global string) string {
	t.Helper()
	var data struct{ Node *struct{ ID string } }
	a := s.Send(t, graphtest.As(graphtest.NewPost(t, `query($id: ID!) { node(id: $id) { id } }`, graphtest.Variables{"id": global}), token))
	require.NoError(t, json.Unmarshal(a.Data, &data))
	if data.Node == nil {
		return ""
	}
	return data.Node.ID
}
