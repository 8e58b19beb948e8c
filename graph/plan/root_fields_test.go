package plan_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"pgregory.net/rapid"

	"portico/graph/plan"
)

var rootSchema = gqlparser.MustLoadSchema(&ast.Source{Input: `type Query { value: String needed: String! }`})

// rootBehavior is what a root field does, in this order.
type rootBehavior struct {
	charges []int // each may be refused, which fails the field
	fails   int   // number of further errors
	bytes   int   // of its value; negative for null
	hole    bool  // it is a hole
}

// rootFixture runs queries whose root fields behave as their response names say.
type rootFixture struct {
	runner    *plan.Runner
	behaviors map[string]rootBehavior
	limit     int64 // of charges; a trial has a part of it
	trial     atomic.Bool

	spent, refused, counted atomic.Int64
	wait                    func() // in each field; may be nil
}

const trialPart = 8

func newRootFixture(parallel, bytes int) *rootFixture {
	x := &rootFixture{behaviors: map[string]rootBehavior{}, limit: 1 << 30}
	object := &plan.Object{Name: "Query", Satisfies: []string{"Query"}, Fields: map[string]*plan.FieldInfo{
		"value": {Number: 1, Resolver: true}, "needed": {Number: 2, NonNull: true, Resolver: true}}}
	x.runner = plan.NewRunner(object, func(ctx context.Context, r *plan.Run, fields *plan.Fields) bool {
		return r.RootFields(ctx, fields, "Query", x.write)
	}, func(_ context.Context, r *plan.Run, _ *plan.Field, row any) bool { return r.String(row.(string)) })
	x.runner.SetLimit(plan.Limit{Bytes: bytes, Large: 1 << 20, Parallel: parallel, Trial: func(context.Context) (func(bool) bool, bool) {
		spent, refused := x.spent.Load(), x.refused.Load()
		x.trial.Store(true)
		return func(keep bool) bool {
			x.trial.Store(false)
			refused := x.refused.Load() != refused
			if refused || !keep {
				x.spent.Store(spent)
			}
			return refused
		}, spent <= x.limit/trialPart
	}})
	return x
}

func (x *rootFixture) write(ctx context.Context, r *plan.Run, f *plan.Field) bool {
	name := graphql.GetRootFieldContext(ctx).Field.Alias
	if x.wait != nil {
		x.wait()
	}
	does := x.behaviors[name]
	for _, charge := range does.charges {
		runtime.Gosched()
		most := x.limit
		if x.trial.Load() {
			most /= trialPart
		}
		if x.spent.Add(int64(charge)) > most {
			x.refused.Add(1)
			return r.Fail(ctx, errors.New(name+" costs too much"))
		}
	}
	for i := range does.fails {
		r.Fail(ctx, fmt.Errorf("%s fails, %d", name, i))
	}
	switch {
	case does.bytes < 0 && f.Number == 2:
		return r.Missing(ctx)
	case does.fails > 0 || does.bytes < 0:
		return false
	case does.hole && r.Hole(f, name):
		return true
	}
	return r.String(strings.Repeat("x", does.bytes))
}

// result is all that a run leaves.
type result struct {
	data, filled string
	errors       []string
	err          error
	spent        int64
	counted      int64
}

func (x *rootFixture) run(t require.TestingT, query string, holes bool) (got result) {
	document, err := gqlparser.LoadQueryWithRules(rootSchema, query, rules.NewDefaultRules())
	require.Nil(t, err)
	operation := document.Operations[0]
	ctx := graphql.WithOperationContext(context.Background(), &graphql.OperationContext{Doc: document, Operation: operation,
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
			if !plan.IsRepeated(ctx) {
				x.counted.Add(1)
			}
			return next(ctx)
		}})
	shown := 0
	ctx = graphql.WithResponseContext(ctx, func(ctx context.Context, err error) *gqlerror.Error {
		if shown++; shown > 4 {
			return nil // as an executor that limits errors
		}
		return graphql.DefaultErrorPresenter(ctx, err)
	}, func(context.Context, any) error { return nil })
	p := x.runner.Compile(operation, nil)
	var body []byte
	if holes {
		var left *plan.Holes
		body, left, got.err = x.runner.RunWithHoles(ctx, p, []byte("data: "))
		var rows []string
		left.Rows(func(row any) { rows = append(rows, row.(string)) })
		if got.err == nil {
			var filled []byte
			filled, got.err = x.runner.Fill(ctx, p, body, left, func(i int) any { return rows[i] }, nil)
			got.filled = string(filled)
		}
	} else {
		body, got.err = x.runner.Run(ctx, p, []byte("data: "))
	}
	got.data = string(body)
	for _, err := range graphql.GetErrors(ctx) {
		got.errors = append(got.errors, err.Error()+fmt.Sprint(err.Locations))
	}
	if got.err == nil {
		got.spent, got.counted = x.spent.Load(), x.counted.Load()
	}
	return got
}

// Side by side, root fields return the same bytes and the same errors in the same order as one after
// the other, charge the same, and fail at the same place.
func TestRootFieldsSideBySideMatchInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit, bytes := rapid.Int64Range(0, 60).Draw(t, "limit"), rapid.SampledFrom([]int{0, 200, 2000}).Draw(t, "bytes")
		inOrder, sideBySide := newRootFixture(1, bytes), newRootFixture(4, bytes)
		var query strings.Builder
		for i := range rapid.IntRange(1, 9).Draw(t, "fields") {
			name := fmt.Sprintf("f%d", i)
			fmt.Fprintf(&query, "%s: %s ", name, rapid.SampledFrom([]string{"value", "value", "value", "needed", "__typename"}).Draw(t, "field"))
			does := rootBehavior{rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "charges"), rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "fails"),
				rapid.SampledFrom([]int{-1, 0, 1, 50, 150, 700}).Draw(t, "size"), rapid.Bool().Draw(t, "hole")}
			inOrder.behaviors[name], sideBySide.behaviors[name] = does, does
		}
		inOrder.limit, sideBySide.limit = limit, limit
		holes := rapid.Bool().Draw(t, "holes")
		want, got := inOrder.run(t, "{ "+query.String()+"}", holes), sideBySide.run(t, "{ "+query.String()+"}", holes)
		require.Equal(t, want, got)
	})
}

// Up to Limit.Parallel root fields wait at the same time: ten fields take three rounds instead of ten.
func TestRootFieldsWaitTogether(t *testing.T) {
	t.Parallel()
	x := newRootFixture(4, 0)
	var mu sync.Mutex
	waiting, rounds, release := 0, 0, make(chan struct{})
	x.wait = func() {
		mu.Lock()
		waiting++
		mine, group := release, 4
		if rounds == 2 {
			group = 2 // of ten
		}
		if waiting == group {
			waiting, release, rounds = 0, make(chan struct{}), rounds+1
			close(mine)
		}
		mu.Unlock()
		select {
		case <-mine:
		case <-time.After(time.Minute): // they run one after the other
			panic("no other field is waiting")
		}
	}
	var query strings.Builder
	for i := range 10 {
		fmt.Fprintf(&query, "f%d: value ", i)
	}
	got := x.run(t, "{ "+query.String()+"}", false)
	require.NoError(t, got.err)
	require.Equal(t, 3, rounds)
	require.Equal(t, 10, strings.Count(got.data, `""`))
}

// A response larger than Limit.Large is written in order, once, and leaves no trace of the first run.
func TestLargeRootFields(t *testing.T) {
	t.Parallel()
	var got [2]result
	for i, parallel := range []int{1, 4} {
		x := newRootFixture(parallel, 8<<20)
		for _, name := range []string{"a", "b", "c"} {
			x.behaviors[name] = rootBehavior{bytes: 600 << 10, charges: []int{5}}
		}
		x.behaviors["d"] = rootBehavior{fails: 1, charges: []int{5}}
		got[i] = x.run(t, "{ a: value b: value c: value d: value }", false)
		require.NoError(t, got[i].err)
	}
	require.Equal(t, got[0], got[1])
	require.Greater(t, len(got[0].data), 3*600<<10)
}

// A panic of a field that runs beside others reaches the caller, as the error of the run.
func TestRootFieldPanics(t *testing.T) {
	t.Parallel()
	x := newRootFixture(4, 0)
	x.wait = func() { panic("broken") }
	got := x.run(t, "{ a: value b: value c: value }", false)
	require.ErrorContains(t, got.err, "broken")
	require.Equal(t, "data: ", got.data)
}
