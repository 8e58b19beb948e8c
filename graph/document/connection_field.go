package document

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// fieldsOnCorrectType is the library's rule of the name. For a field that a connection or an edge lacks, it suggests the field of
// the rows, such as nodes { name } for name.
var fieldsOnCorrectType = core.Rule{Name: rules.FieldsOnCorrectTypeRule.Name, RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	var suggestion string // for the field that the library's rule looks at next
	observers.OnField(func(walker *core.Walker, field *ast.Field) {
		suggestion = suggestRowField(walker.Schema, field)
	})
	rules.FieldsOnCorrectTypeRule.RuleFunc(observers, func(options ...core.ErrorOption) {
		addError(append(options, func(err *gqlerror.Error) {
			if suggestion != "" && !strings.Contains(err.Message, "Did you mean") {
				err.Message += ` Did you mean "` + suggestion + `"?`
			}
		})...)
	})
}}

// suggestRowField returns where a connection or an edge has an unknown field; empty if it does not know.
func suggestRowField(schema *ast.Schema, field *ast.Field) string {
	parent := field.ObjectDefinition
	if field.Definition != nil || parent == nil || !strings.HasSuffix(parent.Name, "Connection") && !strings.HasSuffix(parent.Name, "Edge") {
		return ""
	}
	for _, name := range []string{"nodes", "node", "edges", "pageInfo"} {
		if of := parent.Fields.ForName(name); of != nil && schema.Types[of.Type.Name()].Fields.ForName(field.Name) != nil {
			return name + " { " + field.Name + " }"
		}
	}
	if len(field.SelectionSet) > 0 && parent.Fields.ForName("nodes") != nil {
		return "nodes" // for a list of another name, such as items
	}
	return ""
}
