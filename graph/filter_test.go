package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// A text filter takes its value from variables that are not null.
func TestTextFilterTakesVariables(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, test := range []struct {
			query string
			value any
		}{
			{`query ($sku: String!) { products(filter: {sku: {eq: $sku}}) { nodes { uuid } } }`, "ANVIL"},
			{`query ($sku: [String!]!) { products(filter: {sku: {in: $sku}}) { nodes { uuid } } }`, []string{"ANVIL"}},
			{`query ($sku: String!) { products(filter: {sku: {in: [$sku]}}) { nodes { uuid } } }`, "ANVIL"},
			{`query ($sku: TextFilter) { products(filter: {sku: $sku}) { nodes { uuid } } }`, graphtest.Variables{"eq": "ANVIL"}},
			{`query ($sku: TextFilter!) { products(filter: {sku: $sku}) { nodes { uuid } } }`, graphtest.Variables{"eq": "ANVIL"}},
		} {
			a := s.Post(t, test.query, graphtest.Variables{"sku": test.value})
			require.Empty(t, a.Errors, test.query)
			require.JSONEq(t, `{"products":{"nodes":[{"uuid":"anvil"}]}}`, string(a.Data), test.query)
		}
		for _, value := range []any{nil, "ANVIL"} { // a nullable variable could be null
			a := s.Post(t, `query ($sku: String) { products(filter: {sku: {eq: $sku}}) { nodes { uuid } } }`, graphtest.Variables{"sku": value})
			require.Equal(t, invalid, a.Codes(), "%s", a.Body)
			require.Empty(t, a.Data)
			require.Contains(t, a.Errors[0].Message, "must be non-nullable")
		}
	})
}
