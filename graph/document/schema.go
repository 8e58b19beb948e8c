package document

import (
	"maps"

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
