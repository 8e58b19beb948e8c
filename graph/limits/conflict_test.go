package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"pgregory.net/rapid"

	"portico/graph/generated"
)

// schema is the server's.
var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// conflicts returns the conflicting fields of a valid document.
func conflicts(schema *ast.Schema, document *ast.QueryDocument) (errs gqlerror.List) {
	for _, operation := range document.Operations {
		CheckConflicts(schema, operation, func(err *gqlerror.Error) { errs = append(errs, err) })
	}
	return errs
}

// drawSelections draws a selection set of few names, so that some conflict.
func drawSelections(t *rapid.T, on string, depth int, fragments *[]string) string {
	leaves := map[string][]string{
		"Node":              {"id", "__typename"},
		"Product":           {"uuid", "name", "sku", "tags", "id", "createdAt"},
		"CatalogNode":       {"uuid", "name", "hasChildren", "id", "updatedAt"},
		"ProductConnection": {"totalCount"},
	}
	objects := map[string]map[string]string{
		"Product": {"parent": "Product", "children": "Product", "catalogNodes": "CatalogNode",
			"childrenConnection(first: 1)": "ProductConnection", "childrenConnection(first: 2)": "ProductConnection"},
		"CatalogNode":       {"parent": "CatalogNode", "products(first: 1)": "ProductConnection", "products(offset: 0, first: 1)": "ProductConnection"},
		"ProductConnection": {"nodes": "Product"},
	}
	var b strings.Builder
	b.WriteString("{ ")
	for range rapid.IntRange(1, 4).Draw(t, "selections") {
		alias := rapid.SampledFrom([]string{"", "", "a: ", "b: "}).Draw(t, "alias")
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case kind <= 1 || depth == 0 || on == "Node" && kind <= 2:
			b.WriteString(alias + rapid.SampledFrom(leaves[on]).Draw(t, "leaf") + " ")
		case kind <= 3 && on != "Node":
			field := rapid.SampledFrom(slices.Sorted(maps.Keys(objects[on]))).Draw(t, "object")
			b.WriteString(alias + field + " " + drawSelections(t, objects[on][field], depth-1, fragments))
		default:
			to := on
			if on == "Node" {
				to = rapid.SampledFrom([]string{"Product", "CatalogNode", "Node"}).Draw(t, "type")
			}
			inner := drawSelections(t, to, depth-1, fragments)
			if kind == 4 {
				b.WriteString("... on " + to + " " + inner)
				continue
			}
			*fragments = append(*fragments, fmt.Sprintf("fragment f%d on %s %s", len(*fragments), to, inner))
			b.WriteString(strings.Repeat(fmt.Sprintf("...f%d ", len(*fragments)-1), rapid.IntRange(1, 2).Draw(t, "times")))
		}
	}
	b.WriteString("} ")
	return b.String()
}

// The library's rule compares fields pair by pair. Both must find a conflict in the same documents.
func TestConflictsMatchTheLibrary(t *testing.T) {
	t.Parallel()
	stock := rules.NewRules(rules.OverlappingFieldsCanBeMergedRule)
	found, clean := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var fragments []string
		query := `{ node(id: "x") ` + drawSelections(t, "Node", 4, &fragments) + `} ` + strings.Join(fragments, " ")
		document, err := parser.ParseQuery(&ast.Source{Input: query})
		require.NoError(t, err)
		pairs := validator.ValidateWithRules(schema, document, stock)
		ours := conflicts(schema, document)
		require.Equal(t, len(pairs) > 0, len(ours) > 0, "%s\nthe library: %v\nours: %v", query, pairs, ours)
		if len(ours) > 0 {
			found++
		} else {
			clean++
		}
	})
	require.NotZero(t, found)
	require.NotZero(t, clean)
}

func TestConflictMessages(t *testing.T) {
	t.Parallel()
	for query, says := range map[string]string{
		`{ a: stocks(first: 1) { totalCount } a: stocks(first: 2) { totalCount } }`:                               `Fields "a" conflict because they have differing arguments. Use different aliases`,
		`{ settings { a: currency a: locale } }`:                                                                  `Fields "a" conflict because "currency" and "locale" are different fields`,
		`{ settings { ...f currency } } fragment f on Settings { currency: locale }`:                              `"locale" and "currency" are different fields`,
		`{ node(id: "x") { ... on Product { a: name } ... on CatalogNode { a: hasChildren } } }`:                  `they return conflicting types`,
		`{ products(filter: {sku: {eq: "a"}}) { totalCount } products(filter: {sku: {eq: "b"}}) { totalCount } }`: `they have differing arguments`,
		`{ a: products(first: 1) { nodes { b: name } } a: products(first: 1) { nodes { b: sku } } }`:              `Fields "b" conflict because "name" and "sku" are different fields`,
		`{ node(id: "x") { ... on Product { a: uuid } a: id } }`:                                                  `"uuid" and "id" are different fields`,
	} {
		document, faults := gqlparser.LoadQueryWithRules(schema, query, rules.NewRules(rules.KnownTypeNamesRule))
		require.Empty(t, faults, query)
		errs := conflicts(schema, document)
		require.Len(t, errs, 1, query)
		require.Contains(t, errs[0].Message, says, query)
	}
}
