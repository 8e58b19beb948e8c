package executor

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
	"portico/store"
)

// mutationInput returns the value of the argument input of a mutation; nil for other fields.
func mutationInput(field graphql.CollectedField) *ast.Value {
	if field.ObjectDefinition.Name != "Mutation" {
		return nil
	}
	if input := field.Arguments.ForName("input"); input != nil {
		return input.Value
	}
	return nil
}

// inputWalker visits the nulls and scalars of an input. The type of the input says which members are lists: one element in the
// place of a list is its first, as GraphQL has it. A member whose variable has no value is absent.
type inputWalker struct {
	schema    *ast.Schema
	variables map[string]any

	// visit gets the path of a value, such as items, 0, name, the input object that has it, and the value: nil for null, and
	// as it was sent for scalars. The path is valid during the call.
	visit func(path []string, in *ast.Definition, value any)
}

// literal visits a value of the type of in the document. in is the input object that has it; nil for the input itself.
func (w *inputWalker) literal(path []string, in *ast.Definition, of *ast.Type, value *ast.Value) {
	members := w.schema.Types[of.NamedType]
	switch {
	case value.Kind == ast.Variable:
		if sent, given := w.variables[value.Raw]; given {
			w.sent(path, in, of, sent)
		}
	case value.Kind == ast.NullValue:
		w.visit(path, in, nil)
	case of.Elem != nil && value.Kind != ast.ListValue:
		w.literal(element(path, 0), in, of.Elem, value)
	case of.Elem != nil:
		for i, child := range value.Children {
			w.literal(element(path, i), in, of.Elem, child.Value)
		}
	case members.Kind != ast.InputObject:
		w.visit(path, in, value.Raw)
	default:
		for _, child := range value.Children {
			if member := members.Fields.ForName(child.Name); member != nil {
				w.literal(append(path, child.Name), members, member.Type, child.Value)
			}
		}
	}
}

// sent is literal for a value of a variable. The lists that the validator makes of single elements are not []any.
func (w *inputWalker) sent(path []string, in *ast.Definition, of *ast.Type, value any) {
	if value == nil {
		w.visit(path, in, nil)
		return
	}
	if of.Elem == nil {
		members := w.schema.Types[of.NamedType]
		if members.Kind != ast.InputObject {
			w.visit(path, in, value)
			return
		}
		object, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if member := members.Fields.ForName(name); member != nil {
				w.sent(append(path, name), members, member.Type, object[name])
			}
		}
		return
	}
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice {
		w.sent(element(path, 0), in, of.Elem, value)
		return
	}
	for i := range list.Len() {
		w.sent(element(path, i), in, of.Elem, list.Index(i).Interface())
	}
}

// element returns the path of an element of a list. It may share the memory of the path: paths are built and used one at a
// time.
func element(path []string, i int) []string { return append(path, strconv.Itoa(i)) }

// snakeCase returns a path of members as in store.Error.
func snakeCase(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// nullClears are the endings of mutations in whose inputs null clears a member. In other mutations null is the same as
// absent.
var nullClears = []string{"Update", "Upsert", "Set"}

// withInputNulls calls opctx.WithNulls for the input of a mutation in which null clears a member.
func withInputNulls(ctx context.Context, schema *ast.Schema) context.Context {
	field := graphql.GetRootFieldContext(ctx).Field
	input := mutationInput(field)
	if input == nil || !slices.ContainsFunc(nullClears, func(end string) bool { return strings.HasSuffix(field.Name, end) }) {
		return ctx
	}
	return opctx.WithNulls(ctx, inputNulls(schema, field.Definition.Arguments.ForName("input").Type, input, graphql.GetOperationContext(ctx).Variables))
}

// inputNulls returns the paths of the members of an input that are null, in snake case and sorted, such as
// items.0.main_image_id. Nulls within scalars, such as JSON, are none.
func inputNulls(schema *ast.Schema, of *ast.Type, input *ast.Value, variables map[string]any) (nulls store.Nulls) {
	w := inputWalker{schema: schema, variables: variables, visit: func(path []string, _ *ast.Definition, value any) {
		if name := snakeCase(strings.Join(path, ".")); value == nil && name != "idempotency_key" { // not a member of the resource
			nulls = append(nulls, name)
		}
	}}
	w.literal(nil, nil, of, input)
	slices.Sort(nulls)
	return nulls
}

// idKind is what an id in an input may be the global id of.
type idKind struct {
	noun  string   // of a resource, in errors
	types []string // that have a global id of it; nil if the id has no global form
}

var (
	productKind   = idKind{"a product", []string{store.TypeProduct, store.TypeAuthoredProduct}}
	stockKind     = idKind{"a product", []string{store.TypeProduct, store.TypeAuthoredProduct, store.TypeStock}}
	nodeKind      = idKind{"a node", []string{store.TypeCatalogNode, store.TypeAuthoredCatalogNode}}
	hierarchyKind = idKind{"a hierarchy", []string{store.TypeHierarchy, store.TypeAuthoredHierarchy}}
	parentKind    = idKind{"a node or hierarchy", slices.Concat(nodeKind.types, hierarchyKind.types)}
	fileKind      = idKind{"a file", []string{store.TypeFile, store.TypeAuthoredFile}}
	catalogKind   = idKind{"a catalog", []string{store.TypeCatalog}}
	ruleKind      = idKind{"a catalog rule", []string{store.TypeCatalogRule}}
	releaseKind   = idKind{"a release", []string{store.TypeRelease}}
	promotionKind = idKind{"a promotion", []string{store.TypePromotion}}
	pricebookKind = idKind{"a price book", []string{store.TypePricebook}}
	priceKind     = idKind{"a price", []string{store.TypeAuthoredPrice}}
	modifierKind  = idKind{"a price modifier", []string{store.TypeAuthoredModifier}}
	attributeKind = idKind{"an attribute", []string{store.TypeAuthoredAttribute}}
	synonymKind   = idKind{"a synonym", []string{store.TypeSynonym}}
	redirectKind  = idKind{"a redirect", []string{store.TypeAuthoredRedirect}}
	jobKind       = idKind{"a job", []string{store.TypeJob}}
)

// idMembers has the kinds of members of inputs by their name.
var idMembers = map[string]idKind{
	"productId": productKind, "productIds": productKind, "expectedProductIds": productKind, "componentProductIds": productKind,
	"catalogNodeId": parentKind, "parentId": parentKind, "hierarchyId": hierarchyKind, "hierarchyIds": hierarchyKind,
	"expectedHierarchyIds": hierarchyKind,
	"mainImageId":          fileKind, "catalogId": catalogKind, "targetCatalogIds": catalogKind, "releaseId": releaseKind,
	"promotionId": promotionKind, "pricebookId": pricebookKind,
}

// idsOfInputs has the kinds of id and ids, and of members that mean something else in an input, by the beginning of the
// input's name, longer ones first.
var idsOfInputs = []struct {
	input string // such as Hierarch, for HierarchyItemInput and the DeletionInput of hierarchiesDelete
	idKind
	members []string
}{
	{"ProductFile", fileKind, []string{"id"}},
	{"ProductVariation", idKind{}, []string{"id"}}, // the merchant's own
	{"ProductItem", productKind, []string{"id", "parentId"}},
	{"ProductsDelete", productKind, []string{"ids"}},
	{"Stock", stockKind, []string{"productId"}},
	{"CatalogRule", ruleKind, []string{"id"}},
	{"CatalogPricebook", pricebookKind, []string{"id"}},
	{"CatalogNode", nodeKind, []string{"id", "ids"}},
	{"Catalog", catalogKind, []string{"id"}},
	{"Hierarch", hierarchyKind, []string{"id", "ids"}},
	{"Promotion", promotionKind, []string{"id"}},
	{"Pricebook", pricebookKind, []string{"id", "ids"}},
	{"PriceModifier", modifierKind, []string{"id", "ids"}},
	{"Price", priceKind, []string{"id"}},
	{"AttributesDelete", attributeKind, []string{"ids"}},
	{"File", fileKind, []string{"id", "ids"}},
	{"Synonym", synonymKind, []string{"id"}},
	{"Redirect", redirectKind, []string{"id"}},
	{"Job", jobKind, []string{"id"}},
}

// sharedInputs are the inputs of several mutations, whose ids are those of what the mutation is about.
var sharedInputs = []string{"DeletionInput", "ObjectDeleteInput"}

// idKindOf returns what a member of an input of a mutation may be the global id of; without types for ids that have no global
// form.
func idKindOf(mutation, input, member string) idKind {
	if slices.Contains(sharedInputs, input) {
		input = strings.ToUpper(mutation[:1]) + mutation[1:]
	}
	for _, of := range idsOfInputs {
		if strings.HasPrefix(input, of.input) && slices.Contains(of.members, member) {
			return of.idKind
		}
	}
	return idMembers[member]
}

// checkInputIDs returns INVALID for the first global id in the input of a mutation that is the id of another type, whose
// own id may be that of a resource of this type too.
func checkInputIDs(ctx context.Context, schema *ast.Schema) error {
	field := graphql.GetRootFieldContext(ctx).Field
	input := mutationInput(field)
	if input == nil {
		return nil
	}
	var wrong *store.Error
	w := inputWalker{schema: schema, variables: graphql.GetOperationContext(ctx).Variables, visit: func(path []string, in *ast.Definition, value any) {
		id, isText := value.(string)
		if !isText || wrong != nil || in == nil {
			return
		}
		name := path[len(path)-1]
		if in.Fields.ForName(name) == nil { // the index of an element of a list, which follows the member's name
			name = path[len(path)-2]
		}
		if member := in.Fields.ForName(name); member == nil || member.Type.Name() != "ID" {
			return
		}
		kind := idKindOf(field.Name, in.Name, name)
		if of, _, global := store.ParseGlobalID(id); global && kind.types != nil && !slices.Contains(kind.types, of) {
			place := strings.Split(snakeCase("input."+strings.Join(path, ".")), ".")
			wrong = store.Invalidf(place, "is the global id of the type %s; send that of %s, or its own id", of, kind.noun)
		}
	}}
	w.literal(nil, nil, field.Definition.Arguments.ForName("input").Type, input)
	if wrong == nil {
		return nil
	}
	return wrong
}
