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

// Limits apply before validation, whose rules take quadratic time, and before any read: there is
// no store here.
func TestExpensiveDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	const core = `{ settings { pageLength } }`
	for _, c := range []struct {
		name, query string
		variables   graphtest.Variables
		code        store.Code
		says        string
	}{
		{"fields nested 31 deep", graphtest.Nested(15, `{ catalogNodes { nodes `, `{ id }`, ` } }`), nil, store.Unprocessable, "nests fields 31 deep; at most 20"},
		{"fields nested 2,001 deep", graphtest.Nested(1_000, `{ catalogNodes { nodes `, `{ id }`, ` } }`), nil, store.Invalid, "depth"},
		{"nothing but brackets", strings.Repeat("{", 14_000), nil, store.Invalid, ""},
		{"lists nested 500,000 deep", "{ nodes(ids: " + strings.Repeat("[", 500_000) + ") { id } }", nil, store.Unprocessable, "is 500023 bytes long; at most 262144"},
		{"inputs nested 3,000 deep", `{ products(filter: ` + graphtest.Nested(3_000, `{and: `, `{}`, `}`) + `) { totalCount } }`, nil, store.Invalid, ""},
		{"inline fragments nested 3,000 deep", graphtest.Nested(3_000, `{ ... `, `{ settings { pageLength } }`, ` }`), nil, store.Invalid, ""},
		{"3,000 aliases", `{` + graphtest.Many(3_000, ` a#: settings { pageLength }`) + ` }`, nil, store.Unprocessable, "has 15001 tokens or more; at most 15000"},
		{"5,200 fields by aliases", `{` + graphtest.Many(1_300, ` a#: settings { pageLength currency locale }`) + ` }`, nil, store.Unprocessable, "selects 5200 fields; at most"},
		{"fragments that double thirty times", `{ ...f0 }` + graphtest.Many(30, ` fragment f# on Query { ...f% ...f% }`) + ` fragment f30 on Query ` + core, nil, store.Unprocessable, "selects 2147483648 fields"},
		{"fragments that double a hundred times", `{ ...f0 }` + graphtest.Many(100, ` fragment f# on Query { ...f% ...f% }`) + ` fragment f100 on Query ` + core, nil, store.Unprocessable, "selects"},
		{"a fragment within itself", `{ ...a } fragment a on Query { settings { pageLength } ...a }`, nil, store.Invalid, "within itself"},
		{"fragments in a circle", `{ ...a } fragment a on Query { ...b } fragment b on Query { ...c } fragment c on Query { ...a }`, nil, store.Invalid, "within itself"},
		{"an unknown fragment", `{ ...nowhere }`, nil, store.Invalid, "nowhere"},
		{"10,000 times the same field", `{ settings {` + strings.Repeat(" pageLength", 10_000) + ` } }`, nil, store.Unprocessable, "selects 10001 fields"},
		{"10,000 ids", `{ nodes(ids: [` + strings.Repeat(`"a" `, 10_000) + `]) { id } }`, nil, store.Unprocessable, "at most 100 elements, got 10000"},
		{"100,000 ids in a variable", `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, graphtest.Variables{"ids": slices.Repeat([]any{"a"}, 100_000)}, store.Unprocessable, "at most 100 elements, got 100000"},
		{"4,000 times the same argument", `{ products(` + strings.Repeat(`first: 1 `, 4_000) + `) { totalCount } }`, nil, store.Invalid, ""},
		{"2,000 directives", `{ settings { pageLength ` + strings.Repeat(`@include(if: true) `, 2_000) + ` } }`, nil, store.Unprocessable, "has 2000 directives; at most 500"},
		{"3,000 variables", `query(` + graphtest.Many(3_000, ` $v#: Int`) + `) ` + core, nil, store.Unprocessable, "defines 3000 variables; at most 250"},
		{"20,000 operations", graphtest.Many(20_000, ` query q# { __typename }`), nil, store.Unprocessable, "is 548890 bytes long; at most 262144"},
		{"a number of 100,000 digits", `{ products(first: ` + strings.Repeat("9", 100_000) + `) { totalCount } }`, nil, store.Invalid, ""},
		{"a number past 64 bits", `{ products(first: 99999999999999999999) { totalCount } }`, nil, store.Invalid, ""},
		{"a number past 64 bits in a variable", `query($n: Int) { products(first: $n) { totalCount } }`, graphtest.Variables{"n": 1e30}, store.Invalid, ""},
		{"pages of pages of pages", `{ catalogNodes(first: 100) { nodes { products(first: 100) { nodes { children { uuid children { uuid } } } } } } }`, nil, store.Unprocessable, "catalogNodes(first: 100).products(first: 100): 10,000 rows; the operation may cost 60,000, and could cost "},
		{"pages of pages by variables", `query($n: Int!, $m: Int!) { catalogNodes(first: $n) { nodes { products(last: $m) { nodes { componentProducts { uuid sku name slug id } } } } } }`,
			graphtest.Variables{"n": 100, "m": 100}, store.Unprocessable, "catalogNodes(first: $n).products(last: $m): 10,000 rows; the operation may cost 60,000, and could cost "},
		{"pages of pages by defaults of variables", `query($n: Int! = 100) { catalogNodes(first: $n) { nodes { products(first: $n) { nodes { componentProducts { uuid sku name slug id } } } } } }`,
			nil, store.Unprocessable, "catalogNodes(first: $n).products(first: $n): 10,000 rows; the operation may cost 60,000, and could cost "},
		{"pages of pages by fragments", `{ catalogNodes(first: 100) { ...a } } fragment a on CatalogNodeConnection { nodes { products(first: 100) { ...b } } } fragment b on ProductConnection { nodes { componentProducts { uuid sku name slug id } } }`,
			nil, store.Unprocessable, "catalogNodes(first: 100).products(first: 100): 10,000 rows; the operation may cost 60,000, and could cost "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := graphtest.Serve(nil)
			a := s.Post(t, c.query, c.variables)
			require.NotEmpty(t, a.Errors, "%s", a.Body)
			require.Equal(t, c.code, a.Errors[0].Extensions.Code, "%.300s", a.Body)
			require.Contains(t, a.Errors[0].Message, c.says)
			require.Empty(t, s.Log.String())
		})
	}
}

// Unused definitions are validated too, so they count: ten thousand repeated fields take half a
// minute.
func TestUnusedDefinitionsCountTowardsLimits(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(" pageLength", 6_000)
	for _, c := range []struct{ name, query, operation string }{
		{"a fragment that nobody spreads", `query a { __typename } fragment b on Settings {` + many + ` }`, ""},
		{"another operation", `query a { __typename } query b { settings {` + many + ` } }`, "a"},
		{"a fragment of another operation", `query a { __typename } query b { settings { ...c } } fragment c on Settings {` + many + ` }`, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := graphtest.Serve(nil)
			body := fmt.Sprintf(`{"query":%q,"operationName":%q}`, c.query, c.operation)
			a := s.Send(t, graphtest.As(graphtest.NewRaw(t, body), graphtest.Admin()))
			require.NotEmpty(t, a.Errors, "%.300s", a.Body)
			require.Contains(t, a.Errors[0].Message, "The document selects", "%.300s", a.Body)
			require.Equal(t, store.Unprocessable, a.Errors[0].Extensions.Code)
		})
	}
}

// The page sizes of a fragment depend on the variables of the operation that runs, not of another
// one that spreads it.
func TestCostUsesTheVariablesOfTheOperation(t *testing.T) {
	t.Parallel()
	const fragments = ` fragment a on Query { catalogNodes(first: $n) { nodes { products(first: $n) { nodes { componentProducts { uuid sku name slug id } } } } } }`
	for name, query := range map[string]string{
		"before it": `query small($n: Int = 1) { ...a } query large($n: Int = 100) { ...a }` + fragments,
		"behind it": `query large($n: Int = 100) { ...a } query small($n: Int = 1) { ...a }` + fragments,
	} {
		t.Run(name, func(t *testing.T) {
			a := graphtest.Serve(nil).Send(t, graphtest.As(graphtest.NewRaw(t, fmt.Sprintf(`{"query":%q,"operationName":"large"}`, query)), graphtest.Admin()))
			require.NotEmpty(t, a.Errors)
			require.Contains(t, a.Errors[0].Message, "catalogNodes(first: $n).products(first: $n): 10,000 rows; the operation may cost 60,000, and could cost ", "%.300s", a.Body)
		})
	}
}

// Validation compares fields of one name pair by pair: five thousand take seconds.
func TestRepeatedFieldsAreRefused(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"a field":                   `{ settings {` + strings.Repeat(" pageLength", 2_500) + ` } }`,
		"fields of repeated fields": `{` + strings.Repeat(` settings {`+strings.Repeat(" pageLength", 50)+` }`, 50) + ` }`,
		"inline fragments":          `{` + strings.Repeat(` ... { settings { pageLength } }`, 1_250) + ` }`,
	} {
		t.Run(name, func(t *testing.T) {
			a := graphtest.Serve(nil).Post(t, query, nil)
			require.NotEmpty(t, a.Errors)
			require.Equal(t, store.Unprocessable, a.Errors[0].Extensions.Code, "%.300s", a.Body)
		})
	}
}

func TestDeepVariables(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		deep := graphtest.Variables{"sku": graphtest.Variables{"eq": "ANVIL"}}
		for range 200 {
			deep = graphtest.Variables{"and": []any{deep}}
		}
		a := s.Post(t, `query($f: ProductFilter) { products(filter: $f) { totalCount } }`, graphtest.Variables{"f": deep})
		require.Empty(t, a.Errors, "%.300s", a.Body)
		require.JSONEq(t, `{"products":{"totalCount":1}}`, string(a.Data))

		for _, depth := range []int{600, 60_000} { // reading an input grows with the square of its depth
			body := `{"query":"query($f: ProductFilter) { products(filter: $f) { totalCount } }","variables":{"f":` + graphtest.Nested(depth, `{"and":`, `{}`, `}`) + `}}`
			a = s.Send(t, graphtest.As(graphtest.NewRaw(t, body), graphtest.Admin()))
			require.Equal(t, []store.Code{store.Unprocessable}, a.Codes(), "JSON that is nested deeper than anyone reads: %.300s", a.Body)
			require.Contains(t, a.Errors[0].Message, "nests lists and objects 501 deep or more; at most 500 are allowed: nest less.")
		}
	})
}
