package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Errors of GraphQL quote what they complain of, which helps whoever wrote it.
// Where an operation speaks of a gateway, that may be its password, in the
// wrong place: so their errors name what the schema names, and nothing else
// that the caller wrote.

// confidential are words of operations that may hold a secret.
var confidential = []string{"gateway", "password", "secret"}

// hidden stands where an error would quote.
const hidden = "…"

// discreet takes out of the errors what an operation that may hold a secret
// says.
func (names schemaNames) discreet(params *graphql.RawParams, faults gqlerror.List) {
	if len(faults) == 0 {
		return
	}
	said := saidBy(params)
	lower := strings.ToLower(said)
	holds := slices.ContainsFunc(confidential, func(word string) bool { return strings.Contains(lower, word) })
	for _, fault := range faults {
		if !holds && !isSyntax(fault) {
			continue
		}
		fault.Message = names.hide(fault.Message, said)
		for i, step := range fault.Path {
			if name, ok := step.(ast.PathName); ok {
				fault.Path[i] = ast.PathName(names.hide(string(name), said))
			}
		}
	}
}

// isSyntax tells the parser's errors, which may be about a rest of anything;
// its locations tell where.
func isSyntax(fault *gqlerror.Error) bool {
	return strings.HasPrefix(fault.Message, "Unexpected ") || strings.HasPrefix(fault.Message, "Expected ")
}

// saidBy is all that the caller wrote.
func saidBy(params *graphql.RawParams) string {
	var b bytes.Buffer
	b.WriteString(params.Query + " " + params.OperationName + " ")
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(params.Variables) // which was JSON
	return b.String()
}

// hide replaces the words that were said and are no names.
func (names schemaNames) hide(message, said string) string {
	const around = `"'` + "`" + `.,:;()[]{}!?$@`
	spoken := map[string]bool{}
	for _, word := range strings.FieldsFunc(said, func(r rune) bool { return r <= ' ' || strings.ContainsRune(around, r) }) {
		spoken[word] = true
	}
	words := strings.Split(message, " ")
	for i, word := range words {
		core := strings.Trim(word, around)
		// A short word is found in any text, and quoted whole.
		if core != "" && !names[core] && (spoken[core] || len(core) > 3 && strings.Contains(said, core)) {
			words[i] = strings.Replace(word, core, hidden, 1)
		}
	}
	return strings.Join(words, " ")
}

// schemaNames are the names of a schema's types, fields, arguments and values.
type schemaNames map[string]bool

func newSchemaNames(schema *ast.Schema) schemaNames {
	names := schemaNames{}
	for name, definition := range schema.Types {
		names[name] = true
		for _, field := range definition.Fields {
			names[field.Name] = true
			for _, argument := range field.Arguments {
				names[argument.Name] = true
			}
		}
		for _, value := range definition.EnumValues {
			names[value.Name] = true
		}
	}
	return names
}
