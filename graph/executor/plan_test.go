package executor_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/graphtest"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// A panic fails its field alone, with either executor.
func TestPanicFailsOnlyItsField(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		panics := graph.WithCodeLimit(func(context.Context, string) error { panic("the limit is broken") })
		for executor, options := range map[string][]transport.Option{"plan": nil, "gqlgen": {transport.WithoutPlans()}} {
			log, ran := &testkit.LogBuffer{}, map[string]int{}
			options = append(options, transport.CountExecutors(func(executor string) { ran[executor]++ }))
			broken := &graphtest.Service{Store: s.Store, Handler: opctx.Middleware(transport.NewHandler(graph.NewResolver(s.Store, panics), slog.New(slog.NewTextHandler(log, nil)), options...)), Log: log}
			a := broken.Post(t, `{ settings { currency } promotionCodeCheck(code: "X") { remainingUses } products(first: 1) { totalCount } }`, nil)
			require.Equal(t, []store.Code{store.Internal}, a.Codes())
			require.Equal(t, []any{"promotionCodeCheck"}, a.Errors[0].Path)
			require.Regexp(t, `^\{"settings":\{"currency":"\w+"\},"promotionCodeCheck":null,"products":\{"totalCount":\d+\}\}$`, string(a.Data))
			require.Equal(t, 1, strings.Count(log.String(), "a resolver failed"), "it is logged once")
			require.Contains(t, log.String(), "plan_test.go", "with where it happened")
			require.Equal(t, map[string]int{executor: 1}, ran, "another executor does not run the query again")
		}
	})
}

// Each combination of Booleans has a plan of its own, for any number of Booleans.
func TestEachChoiceOfBooleansHasAPlan(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		random := rand.New(rand.NewPCG(seed, 1))
		x := newExecutors(t, graphtest.Open(t, e, graphtest.Shop()))
		for booleans := 1; booleans <= 20; booleans++ {
			clear(x.runs)
			choices := min(1<<booleans, 16)
			for choice := range choices {
				query, values := graphtest.ConditionalQuery(booleans, func(i int) bool { return booleans <= 4 && choice>>i&1 == 1 || booleans > 4 && random.IntN(2) == 0 })
				x.same(t, query, values, func(r *http.Request) *http.Request { return graphtest.As(r, graphtest.Admin()) })
			}
			require.Equal(t, map[string]int{"plan": choices}, x.runs)
		}
	})
}

// A field with several errors reports each, with either executor.
func TestEachErrorOfAFieldIsReported(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		x := newExecutors(t, graphtest.Open(t, e, graphtest.Shop()))
		const query = `{ cartPreview(lines: [{productId: "anvil", quantity: 0}, {productId: "brush", quantity: 0}]) { total { amount } } }`
		require.Equal(t, 2, x.same(t, query, nil, func(r *http.Request) *http.Request { return graphtest.As(r, graphtest.Admin()) }))
	})
}
