package graph_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// Apollo, urql and Relay cache objects by type and id. They merge all fields that they read under
// one id and show the newest values. So one id must not have two values of a field.

// Clients' caches take any field named id for a key.
func TestTypesWithAnIDImplementNode(t *testing.T) {
	for _, definition := range ownTypes() {
		if definition.Kind != ast.Object && definition.Kind != ast.Interface || definition.Name == "Node" {
			continue
		}
		for _, name := range []string{"id", "_id"} {
			if definition.Fields.ForName(name) != nil {
				require.Contains(t, definition.Interfaces, "Node", "%s has an %s that is no global id; call it uuid", definition.Name, name)
			}
		}
	}
}

// normalizedCache is such a cache: values by type and id, then by the path of fields with their
// arguments.
type normalizedCache map[string]map[string]string

// keep adds an object of a response to the cache. It returns an error if another value is cached.
func (n normalizedCache) keep(set ast.SelectionSet, object map[string]any, owner, way string) error {
	kind, _ := object["__typename"].(string)
	if id, ok := object["id"].(string); ok && isNode(kind) {
		owner, way = kind+":"+id, ""
	}
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.InlineFragment:
			if selection.TypeCondition == kind || selection.TypeCondition == "Node" {
				if err := n.keep(selection.SelectionSet, object, owner, way); err != nil {
					return err
				}
			}
		case *ast.Field:
			value, answered := object[selection.Alias]
			if !answered {
				continue
			}
			if err := n.keepValue(selection, value, owner, way+"."+fieldKey(selection)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n normalizedCache) keepValue(field *ast.Field, value any, owner, way string) error {
	switch value := value.(type) {
	case []any:
		if err := n.note(owner, way+"#", len(value)); err != nil {
			return err
		}
		for i, item := range value {
			if err := n.keepValue(field, item, owner, way+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if len(field.SelectionSet) == 0 { // JSON
			return n.note(owner, way, value)
		}
		if err := n.note(owner, way+"@", []any{value["__typename"], value["id"]}); err != nil {
			return err
		}
		return n.keep(field.SelectionSet, value, owner, way)
	}
	return n.note(owner, way, value)
}

func (n normalizedCache) note(owner, way string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if n[owner] == nil {
		n[owner] = map[string]string{}
	}
	if kept, ok := n[owner][way]; ok && kept != string(text) {
		return fmt.Errorf("%s has two values at %s: %s, and %s", owner, way, kept, text)
	}
	n[owner][way] = string(text)
	return nil
}

// fieldKey returns the cache's key of a field with its arguments.
func fieldKey(field *ast.Field) string {
	var arguments []string
	for _, argument := range field.Arguments {
		arguments = append(arguments, argument.Name+":"+argument.Value.String())
	}
	slices.Sort(arguments)
	return field.Name + "(" + strings.Join(arguments, ",") + ")"
}

func isNode(kind string) bool {
	definition := graphtest.Schema().Types[kind]
	return definition != nil && slices.Contains(definition.Interfaces, "Node")
}

// queryGenerator draws queries from the whole schema.
type queryGenerator struct {
	*rand.Rand
	schema *ast.Schema
	global []string // ids of things there are
	text   strings.Builder
	fields int
}

// argumentValue returns a value for an argument, by coordinate or by name; "" for optional ones.
func (a *queryGenerator) argumentValue(coordinate string, argument *ast.ArgumentDefinition) string {
	quoted := func(values ...string) string { return strconv.Quote(values[a.IntN(len(values))]) }
	products := []string{"anvil", "brush", "chalk", "easel", "easel-oak", "glue", "kit", "frame", "drill-draft", lamp}
	switch coordinate + "." + argument.Name {
	case "Query.product.by", "Query.authoredProduct.by":
		return "{id: " + quoted(products...) + "}"
	case "Query.catalogNode.by":
		return []string{"{id: ", "{slug: "}[a.IntN(2)] + quoted("tools", "hand-tools", "paints", "sale", "workshop", "box") + "}"
	case "Query.authoredCatalogNode.id":
		return quoted("tools", "hand-tools", "paints", "sale", "workshop", "box")
	case "Query.hierarchy.id", "Query.authoredHierarchy.id":
		return quoted("workshop", "seasons", "attic")
	case "Query.catalog.id":
		return quoted("main", "outlet")
	case "Query.catalogRule.id":
		return quoted("everyone", "club")
	case "Query.promotion.id":
		return quoted("ten-off", "auto")
	case "Query.stockTransaction.id":
		return quoted("ledger-1", "ledger-5")
	case "Query.catalogRelease.id", "Query.catalogReleaseDiff.fromId", "Query.catalogReleaseDiff.toId":
		return quoted("1", "2")
	case "Query.job.id":
		return quoted("job-1")
	case "Query.node.id":
		return quoted(a.global...)
	case "Query.nodes.ids":
		return "[" + quoted(a.global...) + "," + quoted(a.global...) + "]"
	case "Query.stocksById.productIds":
		return "[" + quoted(products...) + "," + quoted(products...) + "]"
	case "Query.productConfigured.id":
		return `"kit"`
	case "Query.productConfigured.choices":
		return fmt.Sprintf(`[{component: "wood", options: [{id: "frame", quantity: %d}]}]`, 1+a.IntN(3))
	case "Query.cartPreview.lines":
		return fmt.Sprintf(`[{productId: %s, quantity: %d}, {productId: "kit"}]`, quoted(products...), 1+a.IntN(3))
	case "Query.searchSuggestions.text":
		return quoted("a", "bru", "anvli", "paint brush")
	case "Query.synonym.id":
		return quoted("lutes", "organ")
	case "Query.redirect.path":
		return quoted("old-tools", "tools", "workshop/tools/anvil", "old-anvil")
	case "Query.file.id", "Query.authoredFile.id":
		return quoted("photo-1", "photo-2")
	case "Query.pricebook.id":
		return quoted("standard", "vip")
	case "Query.authoredPrice.id":
		return quoted("standard-anvil", "vip-anvil")
	case "Query.authoredPriceModifier.id":
		return quoted("bulk-1")
	case "Query.authoredAttribute.id":
		return quoted("brand", "uses")
	case "Query.authoredRedirect.id":
		return quoted("help", "old-tools")
	}
	switch argument.Name {
	case "productId":
		return quoted(products...)
	case "promotionId":
		return quoted("ten-off", "auto")
	case "catalogId":
		return quoted("main")
	case "hierarchyId":
		return quoted("workshop", "seasons")
	case "code":
		return quoted("TEN-OFF", "auto_auto")
	case "slug":
		return []string{"CARD_PROCESSOR", "MANUAL"}[a.IntN(2)]
	case "first":
		return strconv.Itoa(1 + a.IntN(4))
	case "offset":
		if a.IntN(2) == 0 {
			return strconv.Itoa(a.IntN(3))
		}
	case "filter":
		switch {
		case argument.Type.Name() == "ProductFilter" && a.IntN(3) == 0:
			return []string{`{search: "a"}`, `{tags: {in: ["paint", "light"]}}`, `{sku: {eq: "ANVIL"}}`, `{not: {tags: {eq: "paint"}}}`, `{or: [{onSale: true}, {sku: {eq: "ANVIL"}}]}`}[a.IntN(5)]
		case argument.Type.Name() == "CatalogNodeFilter" && a.IntN(3) == 0:
			return []string{`{name: {in: ["Tools", "Sale"]}}`, `{ids: ["tools", "workshop"]}`}[a.IntN(2)]
		}
	case "orderBy":
		if strings.HasPrefix(argument.Type.Name(), "Product") && a.IntN(3) == 0 {
			return []string{`{field: NAME}`, `{field: PRICE}`, `{field: UPDATED_AT, direction: DESC}`}[a.IntN(3)]
		}
	}
	return ""
}

// selection writes a selection of a type.
func (a *queryGenerator) selection(kind string, depth int) {
	definition := a.schema.Types[kind]
	a.text.WriteString("{ __typename")
	if definition.Fields.ForName("id") != nil {
		a.text.WriteString(" id")
	}
	if definition.IsAbstractType() {
		for range 3 {
			possible := a.schema.GetPossibleTypes(definition)
			member := possible[a.IntN(len(possible))].Name
			a.text.WriteString(" ... on " + member + " ")
			a.selection(member, depth)
		}
	} else {
		fields := definition.Fields
		for range 3 + a.IntN(6) {
			a.field(definition.Name, fields[a.IntN(len(fields))], depth)
		}
	}
	a.text.WriteString(" }")
}

// field selects a field under an alias, unless it leads too deep.
func (a *queryGenerator) field(of string, field *ast.FieldDefinition, depth int) {
	kind := a.schema.Types[field.Type.Name()]
	composite := kind.IsCompositeType()
	if composite && depth == 0 || strings.HasPrefix(field.Name, "__") {
		return
	}
	var arguments []string
	for _, argument := range field.Arguments {
		if value := a.argumentValue(of+"."+field.Name, argument); value != "" {
			arguments = append(arguments, argument.Name+": "+value)
		}
	}
	a.fields++
	fmt.Fprintf(&a.text, " f%d: %s", a.fields, field.Name)
	if len(arguments) > 0 {
		a.text.WriteString("(" + strings.Join(arguments, ", ") + ")")
	}
	if composite {
		a.text.WriteString(" ")
		a.selection(kind.Name, depth-1)
	}
}

// query returns a query of a few root fields.
func (a *queryGenerator) query() string {
	a.text.Reset()
	a.fields = 0
	a.text.WriteString("{ __typename")
	for range 1 + a.IntN(3) {
		a.field("Query", a.schema.Query.Fields[a.IntN(len(a.schema.Query.Fields))], 5)
	}
	a.text.WriteString(" }")
	return a.text.String()
}

// globalIDs returns the id of one object of each type in the test shop.
func globalIDs() (ids []string) {
	for _, of := range [][]string{
		{store.TypeProduct, "anvil", "easel", "easel-oak", "kit", "brush"}, {store.TypeCatalogNode, "tools", "sale", "workshop"}, {store.TypeHierarchy, "workshop", "seasons"},
		{store.TypeFile, "photo-1", "photo-2"}, {store.TypeStock, "anvil", "drill-draft"}, {store.TypeRelease, "1", "2"}, {store.TypeJob, "job-1"},
		{store.TypePromotion, "ten-off", "auto"}, {store.TypePromotionCode, "code-1", "code-3"}, {store.TypeCatalog, "main", "outlet"},
		{store.TypeCatalogRule, "everyone", "club"}, {store.TypeAuthoredHierarchy, "workshop", "attic"}, {store.TypeAuthoredCatalogNode, "tools", "box"}, {store.TypeAuthoredProduct, "anvil", "drill-draft"}, {store.TypeSynonym, "lutes", "organ"},
		{store.TypePricebook, "standard", "vip"}, {store.TypeAuthoredPrice, "standard-anvil", "vip-anvil"}, {store.TypeAuthoredModifier, "bulk-1"}, {store.TypeAuthoredFile, "photo-1", "photo-2"}, {store.TypeAuthoredAttribute, "brand", "uses"}, {store.TypeAuthoredRedirect, "help", "old-tools"},
	} {
		for _, id := range of[1:] {
			ids = append(ids, store.GlobalID(of[0], id))
		}
	}
	return ids
}

// family is a parent with several children, which share its variations.
const family = `
{"type":"product","id":"bike","attributes":{"name":"Bike","sku":"BIKE","slug":"bike","status":"live","product_types":["parent"],"base_product":true,"created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z","variations":[{"id":"size","name":"Size","sort_order":1,"options":[{"id":"s38","name":"38","sort_order":1},{"id":"s40","name":"40","sort_order":2},{"id":"s42","name":"42","sort_order":3}]}]},"relationships":{}}
{"type":"product","id":"bike-38","attributes":{"name":"Bike 38","sku":"BIKE-38","slug":"bike-38","status":"live","product_types":["child"],"base_product":false,"base_product_id":"bike","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-07T00:00:00.000Z","options":["s38"]},"relationships":{"parent":{"data":{"type":"product","id":"bike"}}}}
{"type":"product","id":"bike-40","attributes":{"name":"Bike 40","sku":"BIKE-40","slug":"bike-40","status":"live","product_types":["child"],"base_product":false,"base_product_id":"bike","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-06T00:00:00.000Z","options":["s40"]},"relationships":{"parent":{"data":{"type":"product","id":"bike"}}}}
{"type":"product","id":"bike-42","attributes":{"name":"Bike 42","sku":"BIKE-42","slug":"bike-42","status":"live","product_types":["child"],"base_product":false,"base_product_id":"bike","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-05T00:00:00.000Z","options":["s42"]},"relationships":{"parent":{"data":{"type":"product","id":"bike"}}}}
{"type":"node","id":"bikes","attributes":{"name":"Bikes","curated_products":["bike-42"]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"bike"},{"type":"product","id":"bike-38"},{"type":"product","id":"bike-40"},{"type":"product","id":"bike-42"},{"type":"product","id":"anvil"}]}}}
{"type":"node","id":"wheels","attributes":{"name":"Wheels","curated_products":["anvil"]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"bike-42"},{"type":"product","id":"anvil"}]}}}
`

// Any two paths to an object show the same value of a field, for one shopper at one time.
func TestOneIDHasOneValuePerField(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop()+family)
		seedJob(t, e, "job-1")
		for _, headers := range [][]string{nil, {"Accept-Language", "fr", "X-Moltin-Currency", "EUR"}} {
			a := &queryGenerator{Rand: rand.New(rand.NewPCG(seed, 0)), schema: graphtest.Schema(), global: append(globalIDs(), store.GlobalID(store.TypeProduct, "bike-40"), store.GlobalID(store.TypeCatalogNode, "bikes"))}
			cache := normalizedCache{}
			for n := range 500 {
				query := a.query()
				document, faults := gqlparser.LoadQueryWithRules(a.schema, query, rules.NewDefaultRules())
				require.Empty(t, faults, query)
				answer := s.Post(t, query, nil, headers...)
				for _, e := range answer.Errors {
					require.Contains(t, []store.Code{store.NotFound, store.Invalid, store.Unprocessable}, e.Extensions.Code, "%s\n%s", e.Message, query)
				}
				var data map[string]any
				require.NoError(t, json.Unmarshal(answer.Data, &data), query)
				require.NoError(t, cache.keep(document.Operations[0].SelectionSet, data, "Query", ""), "query %d of PORTICO_TEST_SEED=%d:\n%s", n, seed, query)
			}
			for _, kind := range a.schema.GetPossibleTypes(a.schema.Types["Node"]) {
				require.True(t, cache.has(kind.Name), "no %s was read", kind.Name)
			}
		}
	})
}

// has reports whether objects of a type are cached.
func (n normalizedCache) has(kind string) bool {
	for owner := range n {
		if strings.HasPrefix(owner, kind+":") {
			return true
		}
	}
	return false
}

// selectAll selects the fields without arguments, and the objects below them, but no connections.
func selectAll(kind string, depth int) string {
	definition := graphtest.Schema().Types[kind]
	var b strings.Builder
	b.WriteString("{ __typename")
	for _, possible := range definition.Types {
		b.WriteString(" ... on " + possible + " " + selectAll(possible, depth))
	}
	for _, field := range definition.Fields {
		inner := graphtest.Schema().Types[field.Type.Name()]
		required := slices.ContainsFunc(field.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil })
		switch {
		case strings.HasPrefix(field.Name, "__") || required || strings.HasSuffix(inner.Name, "Connection"):
		case inner.Kind == ast.Interface:
			b.WriteString(" " + field.Name + " { __typename id }")
		case inner.IsLeafType():
			b.WriteString(" " + field.Name)
		case depth > 0:
			b.WriteString(" " + field.Name + " " + selectAll(inner.Name, depth-1))
		}
	}
	return b.String() + " }"
}

// Clients cache the payload of a mutation under its id too, so it must equal the next read by that
// id.
func TestMutationPayloadMatchesTheNextRead(t *testing.T) {
	t.Parallel()
	more := map[string]string{
		"a product twice in one batch":   `mutation { stockTransact(input: {changes: [{productId: "brush", action: INCREMENT, quantity: 3}, {productId: "anvil", action: INCREMENT, quantity: 1}, {productId: "brush", action: DECREMENT, quantity: 1}]}) { userErrors { message } } }`,
		"a dry run":                      `mutation { promotionUpdate(input: {id: "ten-off", name: "Eleven off", dryRun: true}) { userErrors { message } } }`,
		"a job that is canceled":         `mutation { jobCancel(input: {id: "job-1"}) { userErrors { message } } }`,
		"a code that is used for a cart": `mutation { promotionCodesCreate(input: {promotionId: "ten-off", codes: [{maxUses: 2}, {code: "B"}]}) { userErrors { message } } }`,
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		seedJob(t, e, "job-1")
		graphtest.LoadCodes(t, s)
		documents := rootFields() // which go in any order
		for name, document := range more {
			documents["Mutation."+name] = document
		}
		for _, coordinate := range slices.Sorted(maps.Keys(documents)) {
			if !strings.HasPrefix(coordinate, "Mutation.") {
				continue
			}
			t.Run(strings.TrimPrefix(coordinate, "Mutation."), func(t *testing.T) {
				parsed, faults := gqlparser.LoadQueryWithRules(graphtest.Schema(), documents[coordinate], rules.NewDefaultRules())
				require.Empty(t, faults)
				var text strings.Builder
				for _, selection := range parsed.Operations[0].SelectionSet {
					field := selection.(*ast.Field)
					text.WriteString(" " + field.Name + "(input: " + field.Arguments[0].Value.String() + ") " + selectAll(field.Definition.Type.Name(), 3))
				}
				cache := normalizedCache{}
				read := func(query string) {
					document, faults := gqlparser.LoadQueryWithRules(graphtest.Schema(), query, rules.NewDefaultRules())
					require.Empty(t, faults)
					answer := s.Post(t, query, nil)
					require.Empty(t, answer.Errors, query)
					var data map[string]any
					require.NoError(t, json.Unmarshal(answer.Data, &data))
					require.NoError(t, cache.keep(document.Operations[0].SelectionSet, data, document.Operations[0].Name, ""), "%s answers %s", query, answer.Data)
				}
				read("mutation m {" + text.String() + " }")
				for _, owner := range slices.Sorted(maps.Keys(cache)) {
					if kind, id, isNode := strings.Cut(owner, ":"); isNode && kind != "Job" { // a job goes on
						read("query " + kind + " { node(id: " + strconv.Quote(id) + ") { __typename id ... on " + kind + " " + selectAll(kind, 2) + " } }")
					}
				}
			})
		}
	})
}

// A preview of an object has all its fields but the id, and lists of what only a written one has.
func TestPreviewHasAllFieldsButTheID(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, field := range graphtest.Schema().Types["Promotion"].Fields {
		if field.Name != "id" && !strings.HasSuffix(field.Type.Name(), "Connection") {
			want = append(want, field.Name+": "+field.Type.String())
		}
	}
	for _, field := range graphtest.Schema().Types["PromotionPreview"].Fields {
		got = append(got, field.Name+": "+field.Type.String())
	}
	require.Equal(t, want, got)
}
