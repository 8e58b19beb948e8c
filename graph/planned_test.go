package graph_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/store"
	"portico/store/storetest"
)

// A panic is the error of its field alone, whichever executor runs the query.
func TestAPanicIsTheErrorOfItsField(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := open(t, e, handmade())
		panics := graph.WithCodeLimit(func(context.Context, string) error { panic("the limit is broken") })
		for executor, options := range map[string][]transport.Option{"plan": nil, "gqlgen": {transport.WithoutPlans()}} {
			log, ran := &storetest.LogBuffer{}, map[string]int{}
			options = append(options, transport.CountExecutors(func(executor string) { ran[executor]++ }))
			broken := &service{s.store, opctx.Middleware(transport.NewHandler(graph.NewResolver(s.store, panics), slog.New(slog.NewTextHandler(log, nil)), options...)), log}
			a := broken.post(t, `{ settings { currency } promotionCodeCheck(code: "X") { remainingUses } products(first: 1) { totalCount } }`, nil)
			require.Equal(t, []store.Code{store.Internal}, a.codes())
			require.Equal(t, []any{"promotionCodeCheck"}, a.Errors[0].Path)
			require.Regexp(t, `^\{"settings":\{"currency":"\w+"\},"promotionCodeCheck":null,"products":\{"totalCount":\d+\}\}$`, string(a.Data))
			require.Equal(t, 1, strings.Count(log.String(), "a resolver failed"), "it is logged once")
			require.Contains(t, log.String(), "planned_test.go", "with where it happened")
			require.Equal(t, map[string]int{executor: 1}, ran, "another executor does not run the query again")
		}
	})
}

// conditional is a query with so many Booleans, and their values.
func conditional(booleans int, value func(i int) bool) (string, map[string]any) {
	var defined, fields strings.Builder
	values := map[string]any{}
	for i := range booleans {
		fmt.Fprintf(&defined, " $c%d: Boolean!", i)
		fmt.Fprintf(&fields, " f%d: currency @include(if: $c%d) ...F%d @skip(if: $c%d)", i, i, i, i)
		values[fmt.Sprint("c", i)] = value(i)
	}
	query := fmt.Sprintf("query (%s) { settings { %s } }", &defined, &fields)
	for i := range booleans {
		query += fmt.Sprintf(" fragment F%d on Settings { g%d: pageLength }", i, i)
	}
	return query, values
}

// Each choice of values has its own plan, however many Booleans there are.
func TestConditions(t *testing.T) {
	t.Parallel()
	seed := storetest.Seed(t, "PORTICO_CONDITIONS_SEED")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		random := rand.New(rand.NewPCG(seed, 1))
		x := bothExecutors(t, open(t, e, handmade()))
		for booleans := 1; booleans <= 20; booleans++ {
			clear(x.left)
			choices := min(1<<booleans, 16)
			for choice := range choices {
				query, values := conditional(booleans, func(i int) bool { return booleans <= 4 && choice>>i&1 == 1 || booleans > 4 && random.IntN(2) == 0 })
				x.same(t, query, values, func(r *http.Request) *http.Request { return by(r, admin()) })
			}
			require.Equal(t, map[string]int{"plan": choices}, x.left)
		}
	})
}

// A null is no value of a condition, though the type of a variable with a
// default allows it.
func TestAConditionIsNotNull(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := open(t, e, handmade())
		for _, directive := range []string{"skip", "include"} {
			query := "query ($c: Boolean = true) { settings { currency ...F } } fragment F on Settings { pageLength @" + directive + "(if: $c) }"
			for _, values := range []variables{{}, {"c": true}, {"c": false}} {
				require.Empty(t, s.post(t, query, values).Errors)
			}
			a := s.post(t, query, variables{"c": nil})
			require.Equal(t, invalid, a.codes(), "%s", a.Body)
			require.Equal(t, "The variable $c must not be null: @skip or @include depends on it; send true or false, or leave it out.", a.Errors[0].Message)
			require.Equal(t, []string{"c"}, a.Errors[0].Extensions.Argument)
			a = s.post(t, strings.Replace(query, "Boolean =", "Boolean! =", 1), variables{"c": nil})
			require.Equal(t, "The variable $c must not be null: it is a Boolean!.", a.Errors[0].Message)
		}
	})
}
