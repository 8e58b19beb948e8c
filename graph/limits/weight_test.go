package limits

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A renamed field or argument would fall back to the weight of its kind.
func TestWeightsNameExistingFields(t *testing.T) {
	t.Parallel()
	members := map[string]bool{}
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			members[field.Name] = true
			for _, argument := range field.Arguments {
				members[argument.Name] = true
			}
		}
	}
	coordinates := slices.Concat(slices.Collect(maps.Keys(fieldWeights)), slices.Collect(maps.Keys(rowWeights)), meteredLists)
	for _, coordinate := range coordinates {
		object, field, _ := strings.Cut(coordinate, ".")
		require.NotNil(t, schema.Types[object], coordinate)
		require.NotNil(t, schema.Types[object].Fields.ForName(field), coordinate)
	}
	for member := range memberWeights {
		require.True(t, members[member], member)
	}
}

// A field that reads from the database costs more than one that its row holds. One with a statement
// of its own has an entry.
func TestFieldsThatReadFromTheDatabaseHaveAWeight(t *testing.T) {
	t.Parallel()
	estimator := NewCostEstimator(schema, Defaults())
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			coordinate := definition.Name + "." + field.Name
			weight := estimator.fieldWeight(definition, field)
			require.GreaterOrEqual(t, weight, 1., coordinate)
			if slices.Contains([]string{"Query", "Mutation", "Subscription"}, definition.Name) && !strings.HasPrefix(field.Name, "__") || len(field.Arguments) > 0 && !strings.HasPrefix(definition.Name, "__") && definition.Kind == "OBJECT" {
				require.GreaterOrEqual(t, weight, 6., coordinate)
			}
			if field.Name == "totalCount" && !slices.Contains([]string{"ProductConnection", "CatalogNodeConnection", "HierarchyConnection"}, definition.Name) {
				require.Greater(t, weight, 1., "%s counts by a statement; give it a weight", coordinate)
			}
		}
	}
}
