package graph_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/store"
	"portico/store/storetest"
)

// A panic is the error of its field alone, whichever executor runs the query.
func TestAPanicIsTheErrorOfItsField(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		s := open(t, e, handmade())
		panics := graph.WithCodeLimit(func(context.Context, string) error { panic("the limit is broken") })
		for _, options := range [][]graph.HandlerOption{nil, {graph.WithoutPlans()}} {
			log := &storetest.Log{}
			broken := &service{s.store, graph.Shopper(graph.NewHandler(graph.NewResolver(s.store, panics), slog.New(slog.NewTextHandler(log, nil)), options...)), log}
			a := broken.post(t, `{ settings { currency } promotionCodeCheck(code: "X") { remainingUses } products(first: 1) { totalCount } }`, nil)
			require.Equal(t, []store.Code{store.Internal}, a.codes())
			require.Equal(t, []any{"promotionCodeCheck"}, a.Errors[0].Path)
			require.Regexp(t, `^\{"settings":\{"currency":"\w+"\},"promotionCodeCheck":null,"products":\{"totalCount":\d+\}\}$`, string(a.Data))
			require.Equal(t, 1, strings.Count(log.String(), "a resolver failed"), "it is logged once")
		}
	})
}

// What more than four Booleans decide on is left to gqlgen's executor; as many
// as there are plans for, each choice has its own.
func TestConditions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		x := bothExecutors(t, open(t, e, handmade()))
		for conditions := 1; conditions <= 5; conditions++ {
			clear(x.left)
			var defined, fields []string
			for i := range conditions {
				defined = append(defined, fmt.Sprintf("$c%d: Boolean! = true", i))
				fields = append(fields, fmt.Sprintf("f%d: __typename @include(if: $c%d) ...F @skip(if: $c%d)", i, i, i))
			}
			query := "query (" + strings.Join(defined, ", ") + ") { settings { currency " + strings.Join(fields, " ") + " } } fragment F on Settings { locale pageLength @include(if: $c0) }"
			for choice := range 1 << conditions {
				values := variables{}
				for i := range conditions {
					if choice>>i&1 == 1 {
						values[fmt.Sprintf("c%d", i)] = choice&1 == 0
					}
				}
				x.same(t, query, values, func(r *http.Request) *http.Request { return by(r, admin()) })
			}
			if conditions <= 4 {
				require.Equal(t, map[string]int{"plan": 1 << conditions}, x.left)
			} else {
				require.Equal(t, map[string]int{"gqlgen": 1 << conditions}, x.left)
			}
		}
	})
}
