package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/web/metrics"
	"portico/store"
)

func TestOperationMetrics(t *testing.T) {
	t.Parallel()
	m := count()
	m.SetMaxOperations(2)
	known := context.WithValue(t.Context(), clientKey{}, "c1")
	m.CountOperation(known, metrics.Operation{Name: "Products", Kind: "query", Took: 3 * time.Millisecond})
	m.CountOperation(known, metrics.Operation{Name: "Products", Kind: "query", Took: time.Second,
		Codes: []store.Code{store.NotFound, store.Invalid}})
	m.CountOperation(known, metrics.Operation{Codes: []store.Code{store.Invalid}, Took: 1})
	m.CountOperation(known, metrics.Operation{Name: "Stock", Kind: "subscription"})
	m.CountSubscription(known, metrics.Operation{Name: "Stock", Kind: "subscription"})
	m.CountOperation(known, metrics.Operation{Name: "TooMany", Kind: "mutation", Took: 1})
	m.CountOperation(t.Context(), metrics.Operation{Name: "Stranger", Kind: "query", Took: 1})
	m.CountOperation(t.Context(), metrics.Operation{Name: "Checkout", Kind: "query", Trusted: true, Took: 1})
	text := m.text()
	for _, line := range []string{
		`portico_graphql_operations_total{kind="query",operation="Products",outcome="ok"} 1`,
		`portico_graphql_operations_total{kind="query",operation="Products",outcome="error"} 1`,
		`portico_graphql_operation_errors_total{code="NOT_FOUND",kind="query",operation="Products"} 1`,
		`portico_graphql_operation_errors_total{code="INVALID",kind="query",operation="Products"} 1`,
		`portico_graphql_operation_duration_seconds_count{kind="query",operation="Products"} 2`,
		`portico_graphql_operation_duration_seconds_bucket{kind="query",operation="Products",le="0.005"} 1`,
		`portico_graphql_operations_total{kind="none",operation="none",outcome="error"} 1`,
		`portico_graphql_operations_total{kind="subscription",operation="Stock",outcome="ok"} 1`,
		`portico_graphql_operation_duration_seconds_count{kind="subscription",operation="Stock"} 0`,
		`portico_graphql_subscriptions_begun_total{operation="Stock"} 1`,
		`portico_graphql_operations_total{kind="mutation",operation="other",outcome="ok"} 1`,
		`portico_graphql_operations_total{kind="query",operation="other",outcome="ok"} 1`,
		`portico_graphql_operations_total{kind="query",operation="Checkout",outcome="ok"} 1`,
	} {
		require.Contains(t, text, line+"\n")
	}
	for _, name := range []string{"TooMany", "Stranger"} {
		require.NotContains(t, text, name)
	}
}

// TestOperationNamesAreLimited sends a million operation names, authenticated, unauthenticated and
// trusted. The number of labels stays bounded.
func TestOperationNamesAreLimited(t *testing.T) {
	m := count()
	known := context.WithValue(t.Context(), clientKey{}, "c1")
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			name := fmt.Sprint("Name", i)
			m.CountOperation(known, metrics.Operation{Name: name, Kind: "query", Took: 1})
			m.CountOperation(t.Context(), metrics.Operation{Name: name, Kind: "mutation", Took: 1})
			m.CountOperation(t.Context(), metrics.Operation{Name: name, Kind: "query", Trusted: true, Took: 1})
		}
	}
	fill(0, 2000)
	before := strings.Count(m.text(), "\n")
	fill(2000, 20_000)
	require.Equal(t, before, strings.Count(m.text(), "\n"), "no more series than before")
	require.LessOrEqual(t, strings.Count(m.text(), "portico_graphql_operations_total{"), 2*4*(100+1000+2), "outcomes and kinds")
	number := 0
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint("Further", i)
	}
	require.Zero(t, testing.AllocsPerRun(900, func() {
		m.CountOperation(known, metrics.Operation{Name: names[number], Kind: "query", Took: 1})
		number++
	}))
}
