package document

import (
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/generated"
)

// Schema returns the schema without @defer. The library declares it, but no transport sends a
// response in parts, so deferred fields would be lost.
func Schema() *ast.Schema {
	schema := *generated.NewExecutableSchema(generated.Config{}).Schema()
	schema.Directives = maps.Clone(schema.Directives)
	delete(schema.Directives, "defer")
	return &schema
}

// withoutOneOf returns a schema to validate documents against. What takes an input with @oneOf checks itself that one member
// is set (graph/model), for literals and for variables, which the library does not check. Its error names the member. Until
// 2027-05-01, documents from before the directive are valid: with a nullable variable for a member, or null for another one.
func withoutOneOf(full *ast.Schema) *ast.Schema {
	schema := *full
	schema.Types = maps.Clone(full.Types)
	for name, definition := range full.Types {
		if definition.Directives.ForName("oneOf") != nil {
			lenient := *definition
			lenient.Directives = slices.DeleteFunc(slices.Clone(definition.Directives), func(d *ast.Directive) bool { return d.Name == "oneOf" })
			schema.Types[name] = &lenient
		}
	}
	return &schema
}
