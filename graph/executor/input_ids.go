package executor

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/store"
)

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
	"productId": productKind, "productIds": productKind, "componentProductIds": productKind,
	"catalogNodeId": parentKind, "parentId": parentKind, "hierarchyId": hierarchyKind, "hierarchyIds": hierarchyKind,
	"mainImageId": fileKind, "catalogId": catalogKind, "targetCatalogIds": catalogKind, "releaseId": releaseKind,
	"promotionId": promotionKind, "pricebookId": pricebookKind,
}

// idsOfInputs has the kinds of id and ids, and of members that mean something else in an input, by the beginning of the
// input's name, longer ones first.
var idsOfInputs = []struct {
	input string // such as Hierarch, for HierarchyUpdateInput and HierarchiesUpsertInput
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
