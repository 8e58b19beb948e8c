package executor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/executor"
	"portico/graph/graphtest"
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
				assert.NotEmpty(t, types, "%s.%s of %s takes a global id: add its types to input_ids.go", of.Name, member.Name, mutation)
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
