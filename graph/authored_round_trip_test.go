package graph_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// What an author can write, an author can read back: each member of an item of each mutation that takes items. What was read is sent back as it is: that changes nothing, and makes the same shop again where there was
// none.
func TestAuthoredResourcesCanBeWrittenAgain(t *testing.T) {
	t.Parallel()
	demo, err := os.ReadFile("../internal/demo/shop.ndjson")
	require.NoError(t, err)
	shops := map[string]string{"the test shop": graphtest.Shop(), "the demo": string(demo)}
	if lines, err := os.ReadFile("../../shared/data/adventureworks.ndjson"); err == nil && testkit.QuickOrFull(1, 2) == 2 {
		shops["AdventureWorks"] = string(lines) // if the file is there
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		for name, lines := range shops {
			t.Run(name, func(t *testing.T) {
				s := graphtest.Open(t, e, lines)
				read := readAuthored(t, s)
				want := authoredLines(t, s)
				read.write(t, s, "UNCHANGED")
				requireLines(t, want, authoredLines(t, s))

				other := graphtest.Serve(storetest.OpenEmpty(t, e))
				read.write(t, other, "CREATED")
				requireLines(t, want, authoredLines(t, other))
			})
		}
	})
}

// Amounts that were written are read in the form in which they are sent: what was read is sent back and changes nothing.
func TestAmountsCanBeSentBack(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		const amounts = `amounts: [{money: {currency: "USD", amount: "1250"}, includesTax: true, tiers: [{name: "few", minimumQuantity: 3, money: {currency: "USD", amount: "1200"}}, {minimumQuantity: 9, money: {currency: "USD", amount: "0"}}]},
			{money: {currency: "JPY", amount: "9007199254740991"}}]`
		sent := s.Post(t, `mutation { pricesUpsert(input: {items: [{pricebookId: "vip", sku: "NEW", `+amounts+`}]}) { userErrors { message } }
			salesUpsert(input: {items: [{pricebookId: "vip", sku: "NEW", name: "summer", validFrom: "2024-01-01", `+amounts+`}]}) { userErrors { message } } }`, nil)
		require.JSONEq(t, `{"pricesUpsert":{"userErrors":[]},"salesUpsert":{"userErrors":[]}}`, string(sent.Data))
		read := authored{prices: readPages(t, s, "authoredPrices", `filter: {skus: ["NEW"]}, `, "AuthoredPrice")}
		require.Len(t, read.prices, 1)
		read.addSales()
		read.write(t, s, "UNCHANGED")
	})
}

// A page takes the same statements whatever its length, and as many as one that shows names alone.
func TestAuthoredProductsTakeAStatementForAPage(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for query, count := range map[string]int{
			`{ authoredProducts(first: 1) { nodes { name } } }`:                                                                                                 1,
			`{ authoredProducts(first: 100) { nodes { ` + authoredSelection(graphtest.Schema().Types["AuthoredProduct"]) + `} } }`:                              1,
			`{ authoredProducts(first: 1) { nodes { prices { sku pricebook { name } } } } }`:                                                                    3,
			`{ authoredProducts(first: 100) { nodes { prices { ` + authoredSelection(graphtest.Schema().Types["AuthoredPrice"]) + ` pricebook { name } } } } }`: 3,
			`{ authoredPrices(first: 100) { nodes { pricebook { name } } } }`:                                                                                   2,
		} {
			r := graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client("catalog:write"))
			ctx, statements := store.CountStatements(r.Context())
			require.Empty(t, s.Send(t, r.WithContext(ctx)).Errors)
			require.Equal(t, count, statements.Count(), strings.Join(statements.Queries(), "\n"))
		}
	})
}

// authored is all that is authored in a shop, as GraphQL shows it.
type authored struct {
	attributes, files, products, hierarchies, nodes, pricebooks, modifiers, prices, sales, synonyms, redirects []map[string]any
}

// authoredSelection selects all members of a type but edges to other resources, and those that are deprecated.
func authoredSelection(of *ast.Definition) string {
	schema, text := graphtest.Schema(), ""
	for _, field := range of.Fields {
		below := schema.Types[field.Type.Name()]
		switch {
		case field.Directives.ForName("deprecated") != nil || slices.Contains([]string{"Product", "AuthoredPrice"}, below.Name) || strings.HasPrefix(field.Name, "__"):
		case slices.Contains([]string{"Pricebook", "AuthoredHierarchy", "AuthoredCatalogNode"}, below.Name):
			text += field.Name + " { uuid } "
		case field.Name == "productUuids" && len(field.Arguments) > 0:
			text += field.Name + "(first: 100) "
		case below.Kind == ast.Object:
			text += field.Name + " { " + authoredSelection(below) + "} "
		default:
			text += field.Name + " "
		}
	}
	return text
}

func readAuthored(t *testing.T, s *graphtest.Service) (read authored) {
	t.Helper()
	read.attributes = readPages(t, s, "authoredAttributes", "", "AuthoredAttribute")
	read.files = readPages(t, s, "authoredFiles", "", "AuthoredFile")
	read.pricebooks = readPages(t, s, "pricebooks", "", "Pricebook")
	read.modifiers = readPages(t, s, "authoredPriceModifiers", "", "AuthoredPriceModifier")
	read.prices = readPages(t, s, "authoredPrices", "", "AuthoredPrice")
	read.addSales()
	read.synonyms = readPages(t, s, "synonyms", "", "Synonym")
	read.redirects = readPages(t, s, "authoredRedirects", "", "AuthoredRedirect")
	read.products = readPages(t, s, "authoredProducts", "", "AuthoredProduct")
	read.hierarchies = readPages(t, s, "authoredHierarchies", "", "AuthoredHierarchy")
	read.nodes = readPages(t, s, "authoredCatalogNodes", "", "AuthoredCatalogNode")
	return read
}

// addSales adds the sales of all prices, as items name them.
func (a *authored) addSales() {
	for _, price := range a.prices {
		for _, sale := range price["sales"].([]any) {
			a.sales = append(a.sales, sale.(map[string]any))
			maps.Copy(sale.(map[string]any), map[string]any{"pricebook": price["pricebook"], "sku": price["sku"]})
		}
	}
}

// readPages returns all rows of a list.
func readPages(t *testing.T, s *graphtest.Service, list, arguments, of string) (rows []map[string]any) {
	t.Helper()
	query := `query($after: String) { list: ` + list + `(` + arguments + `first: 100, after: $after) { nodes { ` + authoredSelection(graphtest.Schema().Types[of]) + `} pageInfo { hasNextPage endCursor } } }`
	var after any
	for {
		a := s.Post(t, query, graphtest.Variables{"after": after})
		require.Empty(t, a.Errors)
		var page struct {
			List struct {
				Nodes    []map[string]any
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
			}
		}
		decoder := json.NewDecoder(bytes.NewReader(a.Data))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&page))
		rows = append(rows, page.List.Nodes...)
		if after = page.List.PageInfo.EndCursor; !page.List.PageInfo.HasNextPage {
			return rows
		}
	}
}

// write sends all that was read. Each must have the outcome.
func (a authored) write(t *testing.T, s *graphtest.Service, outcome string) {
	t.Helper()
	for _, kind := range []struct {
		mutation, item string
		rows           []map[string]any
	}{{"attributesUpsert", "AttributeItemInput", a.attributes}, {"filesUpsert", "FileItemInput", a.files}, {"hierarchiesUpsert", "HierarchyItemInput", a.hierarchies}, {"catalogNodesUpsert", "CatalogNodeItemInput", a.nodes}, {"productsUpsert", "ProductItemInput", a.products},
		{"pricebooksUpsert", "PricebookItemInput", a.pricebooks}, {"priceModifiersUpsert", "PriceModifierItemInput", a.modifiers},
		{"pricesUpsert", "PriceItemInput", a.prices}, {"salesUpsert", "SaleItemInput", a.sales}, {"synonymsUpsert", "SynonymItemInput", a.synonyms}, {"redirectsUpsert", "RedirectItemInput", a.redirects}} {
		for rows := range slices.Chunk(kind.rows, 200) {
			var items []any
			for _, row := range rows {
				items = append(items, sentBack(t, kind.item, row))
			}
			var written struct {
				Done struct {
					Items []struct {
						UUID, Outcome string
						Changes       json.RawMessage
					}
					UserErrors []map[string]any
				}
			}
			sent := s.Post(t, `mutation($items: [`+kind.item+`!]!) { done: `+kind.mutation+`(input: {items: $items}) { items { uuid outcome changes { field before after } } userErrors { field message } } }`, graphtest.Variables{"items": items})
			require.Empty(t, sent.Errors)
			sent.Read(t, &written)
			require.Empty(t, written.Done.UserErrors)
			expected := outcome
			if kind.mutation == "salesUpsert" && outcome == "CREATED" {
				expected = "UPDATED" // the price exists by then
			}
			for _, item := range written.Done.Items {
				require.Equal(t, expected, item.Outcome, "%s %s: %s", kind.mutation, item.UUID, item.Changes)
			}
		}
	}
	for _, node := range a.nodes {
		attached := node["productUuids"].([]any)
		require.Less(t, len(attached), 100, "%s has another page", node["uuid"])
		curated := slices.DeleteFunc(slices.Clone(node["curatedProductUuids"].([]any)), func(id any) bool { return !slices.Contains(attached, id) })
		sent := s.Post(t, `mutation($id: ID!, $attached: [ID!]!, $curated: [ID!]!) {
			catalogNodeProductsSet(input: {id: $id, productIds: $attached}) { userErrors { message } } catalogNodeCurate(input: {id: $id, productIds: $curated}) { userErrors { message } } }`,
			graphtest.Variables{"id": node["uuid"], "attached": attached, "curated": curated})
		require.JSONEq(t, `{"catalogNodeProductsSet":{"userErrors":[]},"catalogNodeCurate":{"userErrors":[]}}`, string(sent.Data), node["uuid"])
	}
}

// sentBack returns an object that was read as an input, whose ids end with Id in the place of Uuid. Each
// member of the input but those that remove something must be readable.
func sentBack(t *testing.T, input string, read map[string]any) map[string]any {
	t.Helper()
	schema, sent := graphtest.Schema(), map[string]any{}
	for _, member := range schema.Types[input].Fields {
		name := member.Name
		if strings.HasPrefix(name, "remove") {
			continue
		}
		if _, same := read[name]; !same {
			name = strings.TrimPrefix(strings.NewReplacer("Ids", "Uuids", "Id", "Uuid").Replace("."+name), ".")
		}
		if member.Name == "id" {
			name = "uuid"
		}
		value, readable := read[name]
		if edge, is := read[strings.TrimSuffix(member.Name, "Id")]; is && !readable {
			of, _ := edge.(map[string]any) // nil for null
			value, readable = of["uuid"], true
		}
		require.True(t, readable, "%s.%s can be written, and not read back", input, member.Name)
		if below := member.Type.Name(); schema.Types[below].Kind == ast.InputObject {
			switch inner := value.(type) {
			case map[string]any:
				value = sentBack(t, below, inner)
			case []any:
				list := make([]any, len(inner))
				for i, element := range inner {
					list[i] = sentBack(t, below, element.(map[string]any))
				}
				value = list
			}
		}
		sent[member.Name] = value
	}
	return sent
}

// authoredLines returns what can be written by items, as exported, by type and id, without what is not the author's: the
// time of the last change, and base_product_id, which clients show and which imports may repeat from the parent.
func authoredLines(t *testing.T, s *graphtest.Service) map[string]any {
	t.Helper()
	lines := map[string]any{}
	for line := range strings.Lines(storetest.Export(t, s.Store)) {
		var resource struct {
			Type, ID                  string
			Attributes, Relationships map[string]any
			FileName                  string `json:"file_name"`
			MimeType                  string `json:"mime_type"`
			Public                    bool
			Link, Meta                any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &resource))
		if !slices.Contains([]string{"attribute", "file", "product", "hierarchy", "node", "pricebook", "product-price", "price_modifier", "synonym", "redirect"}, resource.Type) {
			continue
		}
		if parent, _ := resource.Relationships["parent"].(map[string]any); parent["data"] != nil && resource.Attributes["base_product_id"] == parent["data"].(map[string]any)["id"] {
			delete(resource.Attributes, "base_product_id")
		}
		if curated, _ := resource.Attributes["curated_products"].([]any); curated != nil { // an import may curate what is not attached
			attached, _ := json.Marshal(resource.Relationships["products"])
			if curated = slices.DeleteFunc(curated, func(id any) bool { return !strings.Contains(string(attached), strconv.Quote(id.(string))) }); len(curated) > 0 {
				resource.Attributes["curated_products"] = curated
			} else {
				delete(resource.Attributes, "curated_products")
			}
		}
		delete(resource.Attributes, "updated_at")
		lines[resource.Type+" "+resource.ID] = resource
	}
	return lines
}

func requireLines(t *testing.T, want, got map[string]any) {
	t.Helper()
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for key, line := range want {
		require.Equal(t, line, got[key], key)
	}
}
