package executor_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// introspectedType is a type of an introspection, whose members are null or not.
type introspectedType struct {
	Name, Kind                                                 string
	Fields, Interfaces, PossibleTypes, EnumValues, InputFields json.RawMessage
	IsOneOf                                                    *bool
	OfType                                                     *introspectedType
}

// Fields of the introspection are null for types of other kinds, as the specification has it, with each executor.
func TestIntrospectionIsNullForOtherKinds(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) { introspectionNulls(t, graphtest.Open(t, e, "")) })
}

func introspectionNulls(t *testing.T, s *graphtest.Service) {
	const members = `name kind fields { name } interfaces { name } possibleTypes { name } enumValues { name } inputFields { name } isOneOf`
	for _, beside := range []string{"", "settings { currency }"} { // by gqlgen's executor, and by a plan
		var data struct {
			Schema struct{ Types []introspectedType }
		}
		s.Post(t, `{ `+beside+` schema: __schema { types { `+members+` } } }`, nil).Read(t, &data)
		require.Greater(t, len(data.Schema.Types), 100)
		for _, of := range data.Schema.Types {
			for _, member := range []struct {
				name  string
				value json.RawMessage
				kinds []ast.DefinitionKind
			}{
				{"fields", of.Fields, []ast.DefinitionKind{ast.Object, ast.Interface}},
				{"interfaces", of.Interfaces, []ast.DefinitionKind{ast.Object, ast.Interface}},
				{"possibleTypes", of.PossibleTypes, []ast.DefinitionKind{ast.Interface, ast.Union}},
				{"enumValues", of.EnumValues, []ast.DefinitionKind{ast.Enum}},
				{"inputFields", of.InputFields, []ast.DefinitionKind{ast.InputObject}},
			} {
				require.Equal(t, slices.Contains(member.kinds, ast.DefinitionKind(of.Kind)), string(member.value) != "null", "%s of %s %s", member.name, of.Kind, of.Name)
			}
			require.Equal(t, of.Kind == "INPUT_OBJECT", of.IsOneOf != nil, of.Name)
		}
	}
	var wrapped struct {
		Type struct {
			Fields []struct{ Type introspectedType }
		}
	}
	s.Post(t, `{ type: __type(name: "PageInfo") { fields { type { `+members+` ofType { `+members+` } } } } }`, nil).Read(t, &wrapped)
	for _, field := range wrapped.Type.Fields {
		require.Equal(t, "null", string(field.Type.Fields))
		require.Nil(t, field.Type.IsOneOf)
	}
}
