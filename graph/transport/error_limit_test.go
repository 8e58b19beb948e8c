package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

// requireTruncatedErrors requires 19 errors, and one that says that there are more.
func requireTruncatedErrors(t *testing.T, a *graphtest.Response) {
	t.Helper()
	require.Len(t, a.Errors, 20)
	require.Equal(t, "There are more errors. Fix these first.", a.Errors[19].Message)
	require.Less(t, a.Body.Len(), 32<<10)
}

func TestDocumentHasTwentyErrorsAtMost(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"conflicts of one name":   `{` + graphtest.Many(220, ` a: stocks(first: #) { totalCount }`) + ` }`,
		"conflicts in fragments":  `{` + graphtest.Many(100, ` ...f#`) + ` }` + graphtest.Many(100, ` fragment f# on Query { a: stocks(first: #) { totalCount } }`),
		"unknown fields":          `{` + graphtest.Many(400, ` nothing#`) + ` }`,
		"unused variables":        `query(` + graphtest.Many(200, ` $v#: Int`) + `) { __typename }`,
		"members that are wrong":  `{ products(filter: {and: [` + graphtest.Many(1_000, ` {sku: {eq: #}}`) + `]}) { totalCount } }`,
		"unknown fields, at once": `{` + graphtest.Many(21, ` nothing#`) + ` }`,
	} {
		t.Run(name, func(t *testing.T) { requireTruncatedErrors(t, graphtest.Serve(nil).Post(t, query, nil)) })
	}
	a := graphtest.Serve(nil).Post(t, `{`+graphtest.Many(20, ` nothing#`)+` }`, nil)
	require.Len(t, a.Errors, 20)
	require.Contains(t, a.Errors[19].Message, "nothing19", "twenty are told as they are")
}

// Errors quote at most a part of long names and values.
func TestQuotedTextIsTruncated(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40_000)
	for _, c := range []struct {
		query     string
		variables graphtest.Variables
	}{
		{`{` + graphtest.Many(10, ` a#: products(first: "`+strings.Repeat("x", 10_000)+`") { totalCount }`) + ` }`, nil},
		{`query($id: ID!) {` + graphtest.Many(30, ` a#: node(id: $id) { id }`) + ` }`, graphtest.Variables{"id": long}},
		{`query($f: ProductFilter) { products(filter: $f) { totalCount } }`, graphtest.Variables{"f": graphtest.Variables{long: 1}}},
	} {
		a := graphtest.Serve(nil).Post(t, c.query, c.variables)
		require.NotEmpty(t, a.Errors)
		require.Less(t, a.Body.Len(), 32<<10)
		require.NotContains(t, a.Body.String(), "\uFFFD", "no character is cut in two")
		for _, e := range a.Errors {
			require.Less(t, len(e.Message), 1_100)
		}
	}
}

// Each row of a list may fail on its own.
func TestResponseHasTwentyErrorsAtMost(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.BigShop(t))
		a := s.Post(t, `{ products(first: 100) { nodes { uuid childrenConnection(first: 0) { totalCount } } } }`, nil)
		requireTruncatedErrors(t, a)
		require.Equal(t, store.Unprocessable, a.Errors[0].Extensions.Code)

		a = s.Post(t, `{`+graphtest.Many(100, ` a#: products(first: 0) { totalCount }`)+` }`, nil)
		requireTruncatedErrors(t, a)

		a = s.Send(t, graphtest.NewPost(t, `{`+graphtest.Many(100, ` a#: stock(productId: "anvil") { total }`)+` }`, nil))
		requireTruncatedErrors(t, a)
		require.Equal(t, http.StatusOK, a.Code)

		codes := make([]graphtest.Variables, 100)
		for i := range codes {
			codes[i] = graphtest.Variables{"productId": fmt.Sprint("none-", i), "action": "DECREMENT", "quantity": 0}
		}
		a = s.Post(t, `mutation($changes: [StockChangeInput!]!) { stockTransact(input: {changes: $changes}) { userErrors { field } } }`, graphtest.Variables{"changes": codes})
		require.Empty(t, a.Errors)
		require.Equal(t, 21, strings.Count(string(a.Data), `"field"`), "a payload tells twenty, and how many more there are")
	})
}

// An error's path is a path of the response. extensions.argument and the message name the
// argument.
func TestErrorsNameTheMember(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, c := range []struct {
			query    string
			argument string
			path     []any
		}{
			{`{ products(filter: {skuu: {eq: "a"}}) { totalCount } }`, "filter.skuu", nil},
			{`{ products(filter: {and: [{sku: {eq: "a"}}, {sku: {eqq: "a"}}]}) { totalCount } }`, "filter.and.1.sku.eqq", nil},
			{`{ products(filter: {and: [{sku: {eq: 5}}]}) { totalCount } }`, "filter.and.0.sku.eq", nil},
			{`{ products(filter: {manufacturerPartNum: {eq: "x", in: ["y"]}}) { totalCount } }`, "filter.manufacturerPartNum", nil},
			{`{ products(filter: {sku: {eq: null}}) { totalCount } }`, "filter.sku.eq", nil},
			{`{ products(filter: {sku: {in: null}}) { totalCount } }`, "filter.sku.in", nil},
			{`{ products(filter: {sku: {}}) { totalCount } }`, "filter.sku", nil},
			{`query($s: String) { products(filter: {sku: {eq: $s}}) { totalCount } }`, "", nil},
			{`{ products { nodes { childrenConnection(first: "5") { totalCount } } } }`, "first", nil},
			{`{ ...f } fragment f on Query { products(orderBy: {field: NAMEE}) { totalCount } }`, "orderBy.field", nil},
			{`query($n: Int = "5") { products(first: $n) { totalCount } }`, "n", nil},
			{`mutation { stockTransact(input: {changes: [{productId: "a", action: SET}]}) { userErrors { message } } }`, "input.changes.0", nil},
			{`{ products(filter: {bounds: {createdAt: {gt: "rubbish"}}}) { totalCount } }`, "filter.bounds.createdAt.gt", []any{"products"}},
			{`query($at: DateTime = "rubbish") { p: products(filter: {and: [{bounds: {updatedAt: {le: $at}}}]}) { totalCount } }`, "filter.and.0.bounds.updatedAt.le", []any{"p"}},
		} {
			a := s.Post(t, c.query, nil)
			require.NotEmpty(t, a.Errors, c.query)
			require.Equal(t, store.Invalid, a.Errors[0].Extensions.Code, "%s", a.Body)
			require.Equal(t, c.argument, strings.Join(a.Errors[0].Extensions.Argument, "."), "%s: %s", c.query, a.Body)
			require.Contains(t, a.Errors[0].Message, c.argument)
			require.Equal(t, c.path, a.Errors[0].Path, c.query)
		}
	})
}
