package executor_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph/executor"
	"portico/graph/graphtest"
	"portico/store"
)

// Each member of an input that takes a global id has its types, so that no id of another type is taken for its own.
func TestEveryGlobalIDOfAnInputHasItsTypes(t *testing.T) {
	t.Parallel()
	schema, seen, ids := graphtest.Schema(), map[string]bool{}, 0
	nodes := schema.GetPossibleTypes(schema.Types["Node"])
	var walk func(mutation string, of *ast.Definition)
	walk = func(mutation string, of *ast.Definition) {
		if of.Kind != ast.InputObject || seen[of.Name] && !slices.Contains(executor.SharedInputs, of.Name) {
			return
		}
		seen[of.Name] = true
		for _, member := range of.Fields {
			walk(mutation, schema.Types[member.Type.Name()])
			if member.Type.Name() != "ID" {
				continue
			}
			types := executor.IDTypesOf(mutation, of.Name, member.Name)
			if strings.Contains(strings.ToLower(member.Description), "global id") {
				ids++
				assert.NotEmpty(t, types, "%s.%s of %s takes a global id: add its types to input.go", of.Name, member.Name, mutation)
			}
			for _, name := range types {
				assert.True(t, slices.ContainsFunc(nodes, func(node *ast.Definition) bool { return node.Name == name }), "%s is no type with a global id", name)
			}
		}
	}
	for _, field := range schema.Mutation.Fields {
		for _, argument := range field.Arguments {
			walk(field.Name, schema.Types[argument.Type.Name()])
		}
	}
	require.Greater(t, ids, 40)
	require.Empty(t, executor.IDTypesOf("productsUpsert", "ProductVariationInput", "id"))
	require.Empty(t, executor.IDTypesOf("catalogRuleCreate", "CatalogRuleCreateInput", "accountIds"))
}

// spelling is a way to write an input: as a literal or in variables, and with or without the brackets of lists of one
// element, which GraphQL lets a client leave out.
type spelling struct {
	schema   *ast.Schema
	brackets bool
}

// Each member of each input that null may clear is found, in each spelling, at any depth.
func TestNullsAreFoundInEverySpelling(t *testing.T) {
	t.Parallel()
	schema, found := graphtest.Schema(), 0
	for _, mutation := range schema.Mutation.Fields {
		if !slices.ContainsFunc(executor.NullClears, func(end string) bool { return strings.HasSuffix(mutation.Name, end) }) {
			continue
		}
		of := mutation.Arguments.ForName("input").Type
		for _, path := range nullablePaths(schema, of, nil) {
			found++
			for _, brackets := range []bool{true, false} {
				s := spelling{schema, brackets}
				first := schema.Types[of.Name()].Fields.ForName(path[0])
				rest := s.withNull(of, path).(map[string]any)
				rest[path[0]] = variable("member")
				want := store.Nulls{s.path(of, path)}
				if want[0] == "idempotency_key" {
					want = nil
				}
				require.Equal(t, want, s.nulls(t, of, s.withNull(of, path), nil, nil), "%s: a literal", mutation.Name)
				require.Equal(t, want, s.nulls(t, of, variable("input"), s.withNull(of, path), of), "%s: a variable", mutation.Name)
				require.Equal(t, want, s.nulls(t, of, rest, s.withNull(of, path).(map[string]any)[path[0]], first.Type), "%s: a variable in a literal", mutation.Name)
			}
		}
	}
	require.Greater(t, found, 150)
}

// What is absent, empty or within a scalar is not null.
func TestWhatIsNoNull(t *testing.T) {
	t.Parallel()
	schema := graphtest.Schema()
	of := schema.Mutation.Fields.ForName("productsUpsert").Arguments.ForName("input").Type
	s := spelling{schema, true}
	for _, item := range []map[string]any{
		{"name": "", "tags": []any{}, "translations": []any{}},
		{"extensions": map[string]any{"a": nil, "b": []any{nil}}},
		{"name": variable("absent"), "seo": map[string]any{"title": variable("absent")}},
	} {
		require.Empty(t, s.nulls(t, of, map[string]any{"items": []any{item}}, nil, nil), item)
	}
}

// variable is a variable in a value.
type variable string

// nullablePaths returns the paths of all members that may be null, below a type.
func nullablePaths(schema *ast.Schema, of *ast.Type, above []string) (paths [][]string) {
	definition := schema.Types[of.Name()]
	if definition.Kind != ast.InputObject || slices.ContainsFunc(above, func(name string) bool { return name == "and" || name == "or" || name == "not" }) { // filters hold filters
		return nil
	}
	for _, member := range definition.Fields {
		path := append(slices.Clone(above), member.Name)
		if !member.Type.NonNull {
			paths = append(paths, path)
		}
		paths = append(paths, nullablePaths(schema, member.Type, path)...)
	}
	return paths
}

// path returns a path as opctx.Nulls has it, with the positions in lists.
func (s spelling) path(of *ast.Type, path []string) string {
	var b strings.Builder
	for i, name := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		for of.Elem != nil {
			b.WriteString("0.")
			of = of.Elem
		}
		for _, r := range name {
			if r >= 'A' && r <= 'Z' {
				b.WriteByte('_')
			}
			b.WriteString(strings.ToLower(string(r)))
		}
		of = s.schema.Types[of.NamedType].Fields.ForName(name).Type
	}
	return b.String()
}

// withNull returns a value of a type that is null at a path, and has what is required besides.
func (s spelling) withNull(of *ast.Type, path []string) any {
	if len(path) == 0 {
		return nil
	}
	if of.Elem != nil {
		return s.list(s.withNull(of.Elem, path))
	}
	members := s.required(of).(map[string]any)
	members[path[0]] = s.withNull(s.schema.Types[of.NamedType].Fields.ForName(path[0]).Type, path[1:])
	return members
}

func (s spelling) list(element any) any {
	if s.brackets {
		return []any{element}
	}
	return element
}

// required returns a value of a type, with no more than is required.
func (s spelling) required(of *ast.Type) any {
	if of.Elem != nil {
		return s.list(s.required(of.Elem))
	}
	switch definition := s.schema.Types[of.NamedType]; {
	case definition.Kind == ast.Enum:
		return definition.EnumValues[0].Name
	case definition.Kind == ast.InputObject:
		members := map[string]any{}
		for _, member := range definition.Fields {
			if member.Type.NonNull && member.DefaultValue == nil {
				members[member.Name] = s.required(member.Type)
			}
		}
		return members
	case of.NamedType == "Int":
		return 1
	case of.NamedType == "Boolean":
		return true
	}
	return "2024-01-01T00:00:00Z"
}

// nulls returns the nulls of an input. It has a variable with a value of a type, if that is not nil.
func (s spelling) nulls(t *testing.T, of *ast.Type, input, value any, ofValue *ast.Type) store.Nulls {
	t.Helper()
	declared := "$absent: String"
	name := "absent"
	if ofValue != nil {
		if name = "input"; ofValue != of {
			name = "member"
		}
		declared = "$" + name + ": " + ofValue.String()
	}
	text := fmt.Sprintf("mutation (%s) { m(input: %s) }", declared, s.literal(of, input))
	document, err := parser.ParseQuery(&ast.Source{Input: text})
	require.NoError(t, err, text)
	operation, variables := document.Operations[0], map[string]any{}
	if ofValue != nil {
		variables[name] = value
	}
	operation.VariableDefinitions[0].Definition = s.schema.Types[operation.VariableDefinitions[0].Type.Name()]
	variables, err = validator.VariableValues(s.schema, operation, variables)
	require.NoError(t, err, text)
	return executor.InputNulls(s.schema, of, operation.SelectionSet[0].(*ast.Field).Arguments[0].Value, variables)
}

// literal returns a value as a document has it.
func (s spelling) literal(of *ast.Type, value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case variable:
		return "$" + string(value)
	case []any:
		texts := make([]string, len(value))
		for i, element := range value {
			texts[i] = "null"
			if of.Elem != nil {
				texts[i] = s.literal(of.Elem, element)
			}
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case map[string]any:
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(value)) {
			at := of
			for at.Elem != nil {
				at = at.Elem
			}
			if member := s.schema.Types[at.NamedType].Fields.ForName(name); member != nil {
				at = member.Type
			}
			texts = append(texts, name+": "+s.literal(at, value[name]))
		}
		return "{" + strings.Join(texts, ", ") + "}"
	case int:
		return strconv.Itoa(value)
	case string:
		if s.schema.Types[of.Name()].Kind == ast.Enum {
			return value
		}
	}
	text, _ := json.Marshal(value)
	return string(text)
}
