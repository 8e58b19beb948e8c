package auth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store/access"
)

func TestScopeTable(t *testing.T) {
	t.Parallel()
	coordinates := auth.Coordinates()
	require.IsIncreasing(t, coordinates)
	for _, coordinate := range coordinates {
		scope, declared := auth.Scope(coordinate)
		require.True(t, declared, coordinate)
		if scope != "" && scope != auth.AnyScope {
			require.Contains(t, access.Scopes(), scope, coordinate)
		}
		if strings.HasPrefix(coordinate, "Mutation.") {
			require.True(t, strings.HasSuffix(scope, ":write"), "%s needs %q", coordinate, scope)
		}
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	tests := []struct {
		coordinate, scope string
		declared          bool
	}{
		{"Query.stocks", "inventory:read", true},
		{"GET /v2/inventories", "inventory:read", true},
		{"GET /catalog/nodes/:id/relationships/products", "catalog:read", true},
		{"GET /v2/settings", auth.AnyScope, true},
		{"PUT /v2/settings", "settings:write", true},
		{"POST /oauth/access_token", "", true},
		{"GET /", "", true},
		{"DELETE /v2/settings", "", false},
		{"query.stocks", "", false},
		{"", "", false},
	}
	for _, test := range tests {
		scope, declared := auth.Scope(test.coordinate)
		require.Equal(t, test.scope, scope, test.coordinate)
		require.Equal(t, test.declared, declared, test.coordinate)
	}
}
