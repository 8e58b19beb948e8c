package graph_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// What a mutation says of an id or SKU that does not exist.
const (
	acted    = "NOT_FOUND"         // the mutation acts on it
	required = "UNKNOWN_REFERENCE" // it must exist
	later    = "warning"           // it may be written afterwards
	ignored  = ""                  // it is to be removed
)

// A reference is a mutation with an id or SKU that does not exist: none or NONE.
type reference struct{ mutation, input, field, says string }

func references() []reference {
	const product = `id: "mug", sku: "MUG", name: "Mug", status: DRAFT, `
	const promotion = `name: "P", description: "", start: "2024-01-01T00:00:00Z", end: "2100-01-01T00:00:00Z", `
	const usd = `amounts: [{currency: "USD", amount: "100"}]`
	const priceUSD = `amounts: [{money: {currency: "USD", amount: "100"}}]`
	list := []reference{
		{"stockCreate", `productId: "none-yet", quantity: 1`, "productId", later},
		{"stockDelete", `productId: "none"`, "productId", acted},
		{"stockTransact", `changes: [{productId: "none", action: INCREMENT, quantity: 1}]`, "changes.0.productId", acted},
		{"promotionCodesCreate", `promotionId: "none", codes: [{code: "A"}]`, "promotionId", acted},
		{"promotionCodesDelete", `promotionId: "none", codes: ["A"]`, "promotionId", acted},
		{"promotionCodesGenerate", `promotionId: "none", count: 1`, "promotionId", acted},
		{"promotionDelete", `id: "none"`, "id", acted},
		{"catalogCreate", `name: "C", hierarchyIds: ["none"]`, "hierarchyIds.0", required},
		{"catalogCreate", `name: "C", pricebooks: [{id: "none", priority: 1}]`, "pricebooks.0.id", required},
		{"catalogUpdate", `id: "none", name: "C"`, "id", acted},
		{"catalogUpdate", `id: "main", hierarchyIds: ["none"]`, "hierarchyIds.0", required},
		{"catalogUpdate", `id: "main", pricebooks: [{id: "none", priority: 1}]`, "pricebooks.0.id", required},
		{"catalogDelete", `id: "none"`, "id", acted},
		{"catalogRuleCreate", `name: "R", catalogId: "none"`, "catalogId", required},
		{"catalogRuleUpdate", `id: "none"`, "id", acted},
		{"catalogRuleUpdate", `id: "everyone", catalogId: "none"`, "catalogId", required},
		{"catalogRuleDelete", `id: "none"`, "id", acted},
		{"hierarchiesDelete", `ids: ["none"]`, "ids.0", acted},
		{"catalogNodesUpsert", `items: [{id: "n", name: "N", hierarchyId: "none"}]`, "items.0.hierarchyId", required},
		{"catalogNodesUpsert", `items: [{id: "n", name: "N", parentId: "none"}]`, "items.0.parentId", required},
		{"catalogNodesUpsert", `items: [{id: "n", name: "N", hierarchyId: "attic", parentId: "none"}]`, "items.0.parentId", required},
		{"catalogNodesUpsert", `items: [{id: "n", name: "N", hierarchyId: "attic", mainImageId: "none"}]`, "items.0.mainImageId", later},
		{"catalogNodesUpsert", `items: [{id: "n", name: "N", hierarchyId: "attic", attributes: [{key: "none", value: 1}]}]`, "items.0.attributes.0.key", required},
		{"catalogNodesDelete", `ids: ["none"]`, "ids.0", acted},
		{"catalogNodeProductsAttach", `id: "none", productIds: ["anvil"]`, "id", acted},
		{"catalogNodeProductsAttach", `id: "box", productIds: ["none"]`, "productIds.0", required},
		{"catalogNodeProductsDetach", `id: "none", productIds: ["anvil"]`, "id", acted},
		{"catalogNodeProductsDetach", `id: "box", productIds: ["none"]`, "productIds.0", ignored},
		{"catalogNodeProductsSet", `id: "none", productIds: ["anvil"]`, "id", acted},
		{"catalogNodeProductsSet", `id: "box", productIds: ["none"]`, "productIds.0", required},
		{"catalogNodeCurate", `id: "none", productIds: ["anvil"]`, "id", acted},
		{"catalogNodeCurate", `id: "box", productIds: ["none"]`, "productIds.0", "UNPROCESSABLE"}, // as a product that is not in the node
		{"productsUpsert", `items: [{` + product + `parentId: "none"}]`, "items.0.parentId", later},
		{"productsUpsert", `items: [{` + product + `mainImageId: "none"}]`, "items.0.mainImageId", later},
		{"productsUpsert", `items: [{` + product + `files: [{id: "none"}]}]`, "items.0.files.0.id", later},
		{"productsUpsert", `items: [{` + product + `componentProductIds: ["none"]}]`, "items.0.componentProductIds.0", later},
		{"productsUpsert", `items: [{` + product + `components: [{key: "c", name: "C", min: 1, max: 1, options: [{productId: "none", quantity: 1}]}]}]`, "items.0.components.0.options.0.productId", later},
		{"productsUpsert", `items: [{` + product + `related: [{kind: "x", productIds: ["none"]}]}]`, "items.0.related.0.productIds.0", later},
		{"productsUpsert", `items: [{` + product + `priceModifiers: ["none"]}]`, "items.0.priceModifiers.0", later},
		{"productsUpsert", `items: [{` + product + `attributes: [{key: "none", value: 1}]}]`, "items.0.attributes.0.key", required},
		{"productsDelete", `ids: ["none"]`, "ids.0", acted},
		{"pricesDelete", `items: [{id: "none"}]`, "items.0", acted},
		{"pricesDelete", `items: [{pricebookId: "none", sku: "ANVIL"}]`, "items.0", acted},
		{"pricesDelete", `items: [{pricebookId: "standard", sku: "NONE"}]`, "items.0", acted},
		{"pricesUpsert", `items: [{pricebookId: "none", sku: "ANVIL", ` + priceUSD + `}]`, "items.0.pricebookId", required},
		{"pricesUpsert", `items: [{pricebookId: "standard", sku: "NONE", ` + priceUSD + `}]`, "items.0.sku", later},
		{"salesUpsert", `items: [{pricebookId: "none", sku: "ANVIL", name: "s", ` + priceUSD + `}]`, "items.0.pricebookId", required},
		{"salesUpsert", `items: [{pricebookId: "standard", sku: "NONE", name: "s", ` + priceUSD + `}]`, "items.0.sku", later},
		{"pricebooksDelete", `ids: ["none"]`, "ids.0", acted},
		{"priceModifiersDelete", `ids: ["none"]`, "ids.0", acted},
		{"attributesDelete", `ids: ["none"]`, "ids.0", acted},
		{"filesDelete", `ids: ["none"]`, "ids.0", acted},
		{"redirectsUpsert", `items: [{from: "/a", productId: "none"}]`, "items.0.productId", later},
		{"redirectsUpsert", `items: [{from: "/b", catalogNodeId: "none"}]`, "items.0.catalogNodeId", later},
		{"catalogPublish", `catalogId: "none"`, "catalogId", acted},
		{"catalogReleaseServe", `releaseId: "none"`, "releaseId", acted},
		{"catalogReleaseUpdate", `releaseId: "none", label: "x"`, "releaseId", acted},
		{"jobCancel", `id: "none"`, "id", acted},
	}
	for i, d := range []struct{ kind, details, field string }{
		{"itemFixedDiscount", usd + `, skus: ["NONE"]`, "skus"},
		{"itemPercentDiscount", `percent: "5", skus: ["NONE"]`, "skus"},
		{"xForY", `x: 2, y: 1, skus: ["NONE"]`, "skus"},
		{"xForAmount", `x: 2, ` + usd + `, skus: ["NONE"]`, "skus"},
		{"bundleFixedDiscount", usd + `, requirements: [{skus: ["NONE"], quantity: 1}]`, "requirements.0.skus"},
		{"bundleGift", `requirements: [{skus: ["NONE"], quantity: 1}], gifts: ["ANVIL"]`, "requirements.0.skus"},
		{"bundleGift", `requirements: [{skus: ["ANVIL"], quantity: 1}], gifts: ["NONE"]`, "gifts"},
	} {
		details, path := `details: {`+d.kind+`: {`+d.details+`}}`, "details."+d.kind+"."+d.field
		list = append(list, reference{"promotionCreate", promotion + fmt.Sprintf(`id: "p-%d", `, i) + details, path, later},
			reference{"promotionUpdate", fmt.Sprintf(`id: "p-%d", `, i) + details, path, later})
	}
	return append(list, reference{"promotionCreate", promotion + `targetCatalogIds: ["none"], details: {fixedDiscount: {` + usd + `}}`, "targetCatalogIds", later},
		reference{"promotionUpdate", `id: "ten-off", targetCatalogIds: ["none"]`, "targetCatalogIds", later},
		reference{"promotionUpdate", `id: "none", name: "P"`, "id", acted})
}

// Each id and SKU in the inputs of mutations is the object that the mutation acts on, or one that it refers to, which must exist
// or may be written later. docs/authoring.md says which.
func TestUnknownReferences(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		payload := graphtest.Schema()
		for _, c := range references() {
			selection := `userErrors {field code message}`
			if payload.Types[payload.Mutation.Fields.ForName(c.mutation).Type.Name()].Fields.ForName("warnings") != nil {
				selection += ` warnings {field message}`
			}
			var m struct {
				M struct {
					UserErrors, Warnings []struct {
						Field         []string
						Code, Message string
					}
				}
			}
			s.Send(t, graphtest.As(graphtest.NewPost(t, fmt.Sprintf(`mutation { m: %s(input: {%s}) {%s} }`, c.mutation, c.input, selection), nil), graphtest.Admin())).Read(t, &m)
			name := c.mutation + " " + c.input
			var said []string
			for _, e := range m.M.UserErrors {
				said = append(said, strings.Join(e.Field[1:], ".")+" "+e.Code)
				require.Contains(t, strings.ToLower(e.Message), "none", name)
			}
			for _, w := range m.M.Warnings {
				said = append(said, strings.Join(w.Field[1:], ".")+" warning")
				require.Contains(t, strings.ToLower(w.Message), "none", name)
			}
			if c.says == ignored {
				require.Empty(t, said, name)
			} else {
				require.Equal(t, []string{c.field + " " + c.says}, said, name)
			}
		}
	})
}

// An id that another object has is one error in all mutations that create.
func TestTakenIDs(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, c := range []struct{ mutation, input, field string }{
			{"promotionCreate", `id: "ten-off", name: "P", start: "2024-01-01T00:00:00Z", end: "2100-01-01T00:00:00Z", details: {percentDiscount: {percent: "5"}}`, "id"},
			{"stockCreate", `productId: "anvil", quantity: 1`, "productId"},
			{"catalogCreate", `id: "main", name: "C"`, "id"},
			{"catalogRuleCreate", `id: "everyone", name: "R", catalogId: "main"`, "id"},
			{"catalogNodesUpsert", `items: [{id: "attic", name: "N", parentId: "attic"}]`, "items.0.id"},
			{"hierarchiesUpsert", `items: [{id: "box", name: "H"}]`, "items.0.id"},
		} {
			var m struct {
				M struct {
					UserErrors []struct {
						Field []string
						Code  string
					}
				}
			}
			s.Send(t, graphtest.As(graphtest.NewPost(t, fmt.Sprintf(`mutation { m: %s(input: {%s}) { userErrors { field code } } }`, c.mutation, c.input), nil), graphtest.Admin())).Read(t, &m)
			require.Len(t, m.M.UserErrors, 1, c.mutation)
			require.Equal(t, "input."+c.field+" ALREADY_EXISTS", strings.Join(m.M.UserErrors[0].Field, ".")+" "+m.M.UserErrors[0].Code, c.mutation)
		}
	})
}

func TestReferencesAreTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, c := range references() {
		tested[c.mutation+" "+regexp.MustCompile(`\.\d+`).ReplaceAllString(c.field, "")] = true
	}
	// These are not references to what the service has.
	other := regexp.MustCompile(`^pricesDelete items\.(id|pricebookId|sku)$|^\w+Upsert items\.(id|sku|slug)$|^productsUpsert items\.(optionIds|variations.*)$|^(promotionCreate|catalogCreate|catalogRuleCreate) id$|(account|accountTag|customer|merchant)Ids?$| expected\w+(\.id)?$`)
	schema := graphtest.Schema()
	var walk func(mutation, path string, input *ast.Definition, above []string)
	walk = func(mutation, path string, input *ast.Definition, above []string) {
		for _, f := range input.Fields {
			at, of := path+f.Name, schema.Types[f.Type.Name()]
			if of.Kind == ast.InputObject && !strings.Contains(strings.Join(above, " ")+" ", of.Name+" ") {
				walk(mutation, at+".", of, append(above, of.Name))
			}
			if f.Type.Name() == "ID" || strings.HasSuffix(strings.ToLower(f.Name), "sku") || f.Name == "skus" || f.Name == "gifts" {
				name := mutation + " " + at
				require.True(t, tested[name] || other.MatchString(name), "%s has no test with an id that does not exist", name)
			}
		}
	}
	for _, f := range schema.Mutation.Fields {
		if input := f.Arguments.ForName("input"); input != nil {
			walk(f.Name, "", schema.Types[input.Type.Name()], nil)
		}
	}
}
