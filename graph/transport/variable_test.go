package transport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

func TestVariableCoercion(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, c := range []struct {
			kind, use  string // of the variable v
			value      string // as JSON; none for ""
			argument   string // at fault, if any
			says       string
			totalCount int
		}{
			{"Int", "first: $v", `5`, "", "", 8},
			{"Int", "first: $v", `5.0`, "", "", 8},
			{"Int", "first: $v", `50e-1`, "", "", 8},
			{"Int", "first: $v", `null`, "", "", 8},
			{"Int", "first: $v", ``, "", "", 8},
			{"Int", "first: $v", `"5"`, "v", "$v must be an Int, got a string", 0},
			{"Int", "first: $v", `5.5`, "v", "$v must be an Int, a whole number", 0},
			{"Int", "first: $v", `1e30`, "v", "$v must be an Int, a whole number", 0},
			{"Int", "first: $v", `1e999999999`, "v", "$v must be an Int, a whole number", 0},
			{"Int", "first: $v", `1` + strings.Repeat("0", 1000), "v", "$v must be an Int, a whole number", 0},
			{"Int", "first: $v", `2147483648`, "v", "$v must be an Int, a whole number from -2147483648 to 2147483647", 0},
			{"DateTime", "filter: {bounds: {updatedAt: {gt: $v}}}", `{}`, "v", "$v must be a DateTime, got an object", 0},
			{"Int", "first: $v", `true`, "v", "$v must be an Int, got a boolean", 0},
			{"Int", "first: $v", `[5]`, "v", "$v must be an Int, got a list", 0},
			{"Int!", "first: $v", `null`, "v", "$v must not be null: it is an Int!", 0},
			{"Int!", "first: $v", ``, "v", "$v must be given: it is an Int!", 0},
			{"Int! = 3", "first: $v", ``, "", "", 8},
			{"Int! = 3", "first: $v", `null`, "v", "must not be null", 0},
			{"[ID!]", "filter: {ids: $v}", `["anvil"]`, "", "", 1},
			{"[ID!]", "filter: {ids: $v}", `"anvil"`, "", "", 1},
			{"[ID!]", "filter: {ids: $v}", `5`, "", "", 0},
			{"[ID!]", "filter: {ids: $v}", `[5, "anvil"]`, "", "", 1},
			{"[ID!]", "filter: {ids: $v}", `null`, "", "", 8},
			{"[ID!]", "filter: {ids: $v}", ``, "", "", 8},
			{"[ID!]", "filter: {ids: $v}", `["anvil", null]`, "v.1", "$v.1 must not be null", 0},
			{"[ID!]", "filter: {ids: $v}", `["anvil", 5.5]`, "v.1", "$v.1 must be an ID, a string or an integer", 0},
			{"[ID!]", "filter: {ids: $v}", `[5.0]`, "v.0", "must be an ID", 0},
			{"[ID!]", "filter: {ids: $v}", `[true]`, "v.0", "$v.0 must be an ID, got a boolean", 0},
			{"String!", "filter: {sku: {eq: $v}}", `"ANVIL"`, "", "", 1},
			{"String!", "filter: {sku: {eq: $v}}", `5`, "v", "$v must be a String, got a number", 0},
			{"TextFilter", "filter: {sku: $v}", `{"eq": "ANVIL"}`, "", "", 1},
			{"TextFilter", "filter: {sku: $v}", `{"in": ["ANVIL"]}`, "", "", 1},
			{"TextFilter", "filter: {sku: $v}", `{"in": "ANVIL"}`, "", "", 1},
			{"TextFilter", "filter: {sku: $v}", `{"eq": "ANVIL", "in": ["ANVIL"]}`, "v", "$v must have exactly one of eq, in, which must not be null", 0},
			{"TextFilter", "filter: {sku: $v}", `{"eq": "ANVIL", "in": null}`, "v", "$v must have exactly one of eq, in", 0},
			{"TextFilter", "filter: {sku: $v}", `{"eq": "ANVIL", "__typename": "TextFilterValues"}`, "", "", 1},
			{"TextFilter", "filter: {sku: $v}", `{}`, "v", "$v must have exactly one of eq, in, which must not be null", 0},
			{"TextFilter", "filter: {sku: $v}", `{"eq": null}`, "v", "$v must have exactly one of eq, in, which must not be null", 0},
			{"TextFilter", "filter: {sku: $v}", `"ANVIL"`, "v", "$v must be a TextFilter, got a string", 0},
			{"ProductFilter", "filter: $v", `{"and": [{"sku": {"eqq": "a"}}]}`, "v.and.0.sku.eqq", "is not a member of TextFilter, which has eq, in", 0},
			{"ProductFilter", "filter: $v", `{"and": {"sku": {"eq": "ANVIL"}}}`, "", "", 1},
			{"ProductFilter", "filter: $v", `{"and": null, "ids": null, "search": null, "bounds": {"id": null}}`, "", "", 8},
			{"ProductFilter", "filter: $v", `{"search": 5}`, "v.search", "must be a String, got a number", 0},
			{"ProductFilter", "filter: $v", `{"__typename": "ProductFilter"}`, "", "", 8},
			{"ProductOrder", "orderBy: $v", `{"field": "NAME"}`, "", "", 8},
			{"ProductOrder", "orderBy: $v", `{}`, "v.field", "$v.field must be given: it is a ProductOrderField!", 0},
			{"ProductOrder", "orderBy: $v", `{"field": "name"}`, "v.field", "must be a ProductOrderField: ID, CREATED_AT", 0},
			{"ProductOrder", "orderBy: $v", `{"field": 1}`, "v.field", "must be a ProductOrderField: ID, CREATED_AT", 0},
			{"ProductOrder", "orderBy: $v", `{"field": "NAME", "direction": null}`, "v.direction", "must not be null", 0},
		} {
			t.Run(c.kind+" "+c.value, func(t *testing.T) {
				values := `{}`
				if c.value != "" {
					values = `{"v":` + c.value + `,"passed over":[]}`
				}
				a := s.Send(t, graphtest.As(graphtest.NewRaw(t, fmt.Sprintf(`{"query":"query($v: %s) { products(%s) { totalCount } }","variables":%s}`, c.kind, c.use, values)), graphtest.Admin()))
				if c.argument == "" {
					var got struct{ Products struct{ TotalCount int } }
					a.Read(t, &got)
					require.Equal(t, c.totalCount, got.Products.TotalCount)
					return
				}
				require.Equal(t, []store.Code{store.Invalid}, a.Codes(), "%s", a.Body)
				require.Equal(t, c.argument, strings.Join(a.Errors[0].Extensions.Argument, "."), "%s", a.Body)
				require.Contains(t, a.Errors[0].Message, c.says)
			})
		}
	})
}

// The response lists all errors of variables.
func TestEveryInvalidVariableIsReported(t *testing.T) {
	t.Parallel()
	a := graphtest.Serve(nil).Post(t, `query($id: ID!, $n: Int!, $f: ProductFilter) { node(id: $id) { id } products(first: $n, filter: $f) { totalCount } }`,
		graphtest.Variables{"n": "5", "f": graphtest.Variables{"skuu": 1, "name": graphtest.Variables{"eq": 5}, "slug": graphtest.Variables{"in": 5}}})
	require.Equal(t, []store.Code{store.Invalid, store.Invalid, store.Invalid, store.Invalid, store.Invalid}, a.Codes(), "%s", a.Body)
	var arguments []string
	for _, e := range a.Errors {
		arguments = append(arguments, strings.Join(e.Extensions.Argument, "."))
	}
	require.Equal(t, []string{"id", "n", "f.name.eq", "f.skuu", "f.slug.in"}, arguments)

	wrong := slices.Repeat([]any{"x"}, 5_000)
	a = graphtest.Serve(nil).Post(t, `query($n: [ID!]!, $i: Int!) { nodes(ids: $n) { id } products(first: $i) { totalCount } }`, graphtest.Variables{"n": append(wrong, nil), "i": 5.5})
	require.Len(t, a.Errors, 2)
	a = graphtest.Serve(nil).Post(t, `query($f: ProductFilter) { products(filter: $f) { totalCount } }`, graphtest.Variables{"f": graphtest.Variables{"and": slices.Repeat([]any{graphtest.Variables{"skuu": 1}}, 5_000)}})
	requireTruncatedErrors(t, a)
}

// Too many values are refused before they are decoded.
func TestVariableLimits(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a list of a million":    `{"query":"query($ids: [ID!]!) { nodes(ids: $ids) { id } }","variables":{"ids":["a"` + strings.Repeat(`,"a"`, 1_000_000) + `]}}`,
		"a million lists":        `{"query":"{ __typename }","variables":{"x":[[]` + strings.Repeat(`,[]`, 1_000_000) + `]}}`,
		"members nobody reads":   `{"query":"{ __typename }","x":[0` + strings.Repeat(`,0`, 1_000_000) + `]}`,
		"extensions":             `{"query":"{ __typename }","extensions":{"x":[0` + strings.Repeat(`,0`, 1_000_000) + `]}}`,
		"a list of lists within": `{"query":"{ __typename }","variables":{"x":` + graphtest.Nested(100_000, "[", "", "]") + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := graphtest.Serve(nil).Send(t, graphtest.As(graphtest.NewRaw(t, body), graphtest.Admin()))
			require.Equal(t, []store.Code{store.Unprocessable}, a.Codes(), "%.300s", a.Body)
			require.Regexp(t, `^The request (has|nests) .*\d+.*; at most \d+ are allowed: `, a.Errors[0].Message)
		})
	}
	a := graphtest.Serve(nil).Send(t, graphtest.As(graphtest.NewRaw(t, `{"query":"{ __typename }","x":"`+strings.Repeat(`,[{\"\\`, 100_000)+`"}`), graphtest.Admin()))
	require.Empty(t, a.Errors, "a text is one value, whatever is in it: %.300s", a.Body)
	a = graphtest.Serve(nil).Post(t, `query($ids: [ID!]!) { stocksById(productIds: $ids) { id } }`, graphtest.Variables{"ids": slices.Repeat([]any{"a"}, 30_000)})
	require.Equal(t, []store.Code{store.Unprocessable}, a.Codes())
	require.Contains(t, a.Errors[0].Message, "at most 100 elements, got 30000")
}
