package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/generated"
	"portico/graph/graphtest"
	"portico/graph/model"
	"portico/store"
	"portico/store/catalog"
	"portico/store/release/routing"
	"portico/store/stock"
)

// mirror returns what it was sent, so that tests see how the generated code maps enum values in
// both directions.
type mirror struct {
	*graph.Resolver
	order *model.ListOrder

	reason   routing.ResolutionReason
	tieBreak routing.TieBreak
	answer   *generated.StockTransactPayload
}

func (m *mirror) Query() generated.QueryResolver { return mirrorQuery{m.Resolver.Query(), m} }
func (m *mirror) Mutation() generated.MutationResolver {
	return mirrorMutation{m.Resolver.Mutation(), m}
}

type mirrorQuery struct {
	generated.QueryResolver
	*mirror
}

func (q mirrorQuery) Stocks(_ context.Context, _ *model.ListBounds, _ *model.IntBounds, order *model.ListOrder, _ *int, _ *string, _ *int, _ *string, _ *int) (*model.StockConnection, error) {
	q.order = order
	return model.NewConnection(&store.Slice[*model.Stock]{}, []*model.Stock{}), nil
}

// CatalogResolution returns every value of its enums.
func (q mirrorQuery) CatalogResolution(context.Context, *model.ShopperContextInput, *time.Time) (*model.CatalogResolution, error) {
	x := &routing.CatalogResolution{At: graphtest.Noon}
	for _, drop := range []routing.RuleDrop{routing.DropSchedule, routing.DropOtherShopper, routing.DropNoMatch, routing.DropNotPublished} {
		x.Candidates = append(x.Candidates, &routing.RuleVerdict{Rule: &catalog.Rule{}, Dropped: drop})
	}
	x.Reason, x.TieBreak = q.reason, q.tieBreak
	return model.NewCatalogResolution(x), nil
}

func TestCatalogResolutionEnumsRoundTrip(t *testing.T) {
	t.Parallel()
	var data struct {
		CatalogResolution struct {
			Reason, TieBreak string
			Candidates       []struct{ Dropped string }
		}
	}
	reasons := map[routing.ResolutionReason]string{routing.ResolvedByRule: "RULE", routing.ResolvedByDefault: "DEFAULT_RULE", routing.ResolvedByAge: "OLDEST_CATALOG", routing.ResolvedToNothing: "NOTHING_PUBLISHED", routing.ResolvedByRequest: "REQUESTED_RELEASE"}
	ties := []routing.TieBreak{routing.TieFewestMissed, routing.TieOldest, routing.TieImportedFirst, routing.TieSmallestID}
	require.Len(t, reasons, len(valuesOf("CatalogResolutionReason")))
	for reason, want := range reasons {
		for i, tie := range ties {
			m := &mirror{Resolver: graph.NewResolver(nil), reason: reason, tieBreak: tie}
			m.ask(t, `{ catalogResolution { reason tieBreak candidates { dropped } } }`, nil, &data)
			require.Equal(t, want, data.CatalogResolution.Reason)
			require.Equal(t, valuesOf("CatalogTieBreak")[i], data.CatalogResolution.TieBreak)
		}
	}
	var dropped []string
	for _, candidate := range data.CatalogResolution.Candidates {
		dropped = append(dropped, candidate.Dropped)
	}
	require.Equal(t, valuesOf("CatalogRuleDrop"), dropped)
}

type mirrorMutation struct {
	generated.MutationResolver
	*mirror
}

func (m mirrorMutation) StockTransact(_ context.Context, input generated.StockTransactInput) (*generated.StockTransactPayload, error) {
	m.answer = &generated.StockTransactPayload{}
	for _, change := range input.Changes {
		line := &stock.Transaction{Action: change.Action, CreatedAt: time.Unix(0, 0)}
		m.answer.Transactions = append(m.answer.Transactions, &model.StockTransaction{Transaction: line})
	}
	for _, code := range store.Codes() {
		if !model.IsCorrectable(code) {
			continue
		}
		m.answer.UserErrors = append(m.answer.UserErrors, &model.UserError{Error: &store.Error{Code: code, Detail: "A fault."}})
	}
	return m.answer, nil
}

// ask runs an operation on the mirror.
func (m *mirror) ask(t *testing.T, query string, values graphtest.Variables, into any) {
	t.Helper()
	server := handler.New(generated.NewExecutableSchema(generated.Config{Resolvers: m}))
	server.AddTransport(transport.POST{})
	w := httptest.NewRecorder()
	server.ServeHTTP(w, graphtest.NewPost(t, query, values))
	require.Equal(t, http.StatusOK, w.Code)
	var answer struct {
		Data   json.RawMessage
		Errors []graphtest.Error
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	require.Empty(t, answer.Errors)
	require.NoError(t, json.Unmarshal(answer.Data, into))
}

// valuesOf returns an enum's values.
func valuesOf(enum string) (names []string) {
	for _, value := range graphtest.Schema().Types[enum].EnumValues {
		names = append(names, value.Name)
	}
	return names
}

func TestStockActionsRoundTrip(t *testing.T) {
	t.Parallel()
	meant := map[string]stock.Action{"INCREMENT": stock.StockIncrement, "DECREMENT": stock.StockDecrement,
		"ALLOCATE": stock.StockAllocate, "DEALLOCATE": stock.StockDeallocate, "SET": stock.StockSet}
	require.Len(t, meant, len(stock.Actions()))
	for _, name := range valuesOf("StockAction") {
		for form, document := range map[string]string{
			"argument": `mutation { stockTransact(input: {changes: [{productId: "a", action: ` + name + `, quantity: 1}]}) { transactions { action } } }`,
			"variable": `mutation($a: StockAction!) { stockTransact(input: {changes: [{productId: "a", action: $a, quantity: 1}]}) { transactions { action } } }`,
		} {
			t.Run(name+" as "+form, func(t *testing.T) {
				m := &mirror{Resolver: graph.NewResolver(nil)}
				var data struct {
					StockTransact struct{ Transactions []struct{ Action string } }
				}
				m.ask(t, document, graphtest.Variables{"a": name}, &data)
				require.Equal(t, meant[name], m.answer.Transactions[0].Action, "what the resolver gets")
				require.Equal(t, name, data.StockTransact.Transactions[0].Action, "what the client gets")
			})
		}
	}
}

func TestListOrdersMapToTheStore(t *testing.T) {
	t.Parallel()
	fields := map[string]store.SortBy{"ID": store.SortID, "CREATED_AT": store.SortCreatedAt, "UPDATED_AT": store.SortUpdatedAt}
	require.ElementsMatch(t, valuesOf("ListOrderField"), []string{"ID", "CREATED_AT", "UPDATED_AT"})
	require.ElementsMatch(t, valuesOf("OrderDirection"), []string{"ASC", "DESC"})
	for field, by := range fields {
		for _, direction := range valuesOf("OrderDirection") {
			for form, document := range map[string]string{
				"argument":  fmt.Sprintf(`{ stocks(orderBy: {field: %s, direction: %s}) { __typename } }`, field, direction),
				"variables": `query($f: ListOrderField!, $d: OrderDirection!) { stocks(orderBy: {field: $f, direction: $d}) { __typename } }`,
				"input":     `query($o: ListOrder) { stocks(orderBy: $o) { __typename } }`,
			} {
				t.Run(field+" "+direction+" as "+form, func(t *testing.T) {
					m := &mirror{Resolver: graph.NewResolver(nil)}
					var data any
					values := map[string]graphtest.Variables{"variables": {"f": field, "d": direction},
						"input": {"o": graphtest.Variables{"field": field, "direction": direction}}}[form]
					m.ask(t, document, values, &data)
					require.Equal(t, store.Sort{By: by, Descending: direction == "DESC"}, m.order.Sort())
				})
			}
		}
	}
	t.Run("ascending unless said otherwise", func(t *testing.T) {
		m := &mirror{Resolver: graph.NewResolver(nil)}
		var data any
		m.ask(t, `{ stocks(orderBy: {field: ID}) { __typename } }`, nil, &data)
		require.Equal(t, store.Sort{By: store.SortID}, m.order.Sort())
	})
}

func TestErrorCodesAreInUpperCase(t *testing.T) {
	t.Parallel()
	m := &mirror{Resolver: graph.NewResolver(nil)}
	var data struct {
		StockTransact struct{ UserErrors []struct{ Code string } }
	}
	m.ask(t, `mutation { stockTransact(input: {changes: []}) { userErrors { code } } }`, nil, &data)
	var codes []string
	for _, e := range data.StockTransact.UserErrors {
		codes = append(codes, e.Code)
	}
	require.Equal(t, valuesOf("UserErrorCode")[:len(codes)], codes, "the first ones, before the reasons")
	require.Subset(t, valuesOf("ErrorCode"), codes)
}

// The real resolvers reject unknown orders and actions too.
func TestUnknownEnumValueIsInvalid(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil)
	for name, r := range map[string]*http.Request{
		"argument":   graphtest.NewPost(t, `{ stocks(orderBy: {field: NAME}) { totalCount } }`, nil),
		"lower case": graphtest.NewPost(t, `{ stocks(orderBy: {field: id}) { totalCount } }`, nil),
		"variable":   graphtest.NewPost(t, `query($f: ListOrderField!) { stocks(orderBy: {field: $f}) { totalCount } }`, graphtest.Variables{"f": "NAME"}),
		"text":       graphtest.NewPost(t, `{ stocks(orderBy: {field: "ID"}) { totalCount } }`, nil),
		"a mutation": graphtest.NewPost(t, `mutation { stockTransact(input: {changes: [{productId: "a", action: set, quantity: 1}]}) { transactions { uuid } } }`, nil),
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []store.Code{store.Invalid}, s.Send(t, graphtest.As(r, graphtest.Admin())).Codes())
		})
	}
}
