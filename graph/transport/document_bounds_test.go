package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/internal/auth"
	"portico/store"
	"portico/store/storetest"
)

// introspections has the introspection queries of tools.
var introspections = map[string]string{
	"GraphiQL": `query IntrospectionQuery { __schema { description queryType { name kind } mutationType { name kind } subscriptionType { name kind } types { ...FullType } directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } } } }
		fragment FullType on __Type { kind name description specifiedByURL isOneOf fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
		fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
		fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } } }`,
	"graphql-js 15": `query IntrospectionQuery { __schema { queryType { name } mutationType { name } subscriptionType { name } types { ...FullType } directives { name description locations args { ...InputValue } } } }
		fragment FullType on __Type { kind name description fields(includeDeprecated: true) { name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } inputFields { ...InputValue } interfaces { ...TypeRef } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
		fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
		fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }`,
	"possible types": `{ __schema { types { kind name possibleTypes { name } } } }`,
	"two types":      `{ query: __type(name: "Query") { name fields { name args { name type { name ofType { name } } } type { name ofType { name ofType { name } } } } } product: __type(name: "Product") { fields { name } } }`,
}

func TestIntrospectionQueriesOfToolsPass(t *testing.T) {
	t.Parallel()
	bounds := limits.Defaults()
	bounds.Cost = bounds.Cost * 5 / 6 // the schema will grow
	s := graphtest.ServeWithLimits(&graphtest.Service{}, bounds)
	for name, query := range introspections {
		for client, principal := range map[string]*auth.Principal{"anyone": graphtest.PublicClient(), "an admin": graphtest.Admin()} {
			t.Run(name+" by "+client, func(t *testing.T) {
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), principal))
				require.Empty(t, a.Errors, "%.300s", a.Body)
			})
		}
	}
	for name, query := range map[string]string{
		"twice in full": strings.Replace(introspections["GraphiQL"], "__schema {", "__schema { types { ...FullType } } again: __schema {", 1),
		"by aliases":    `{` + graphtest.Many(300, ` a#: __schema { types { name } }`) + ` }`,
		"of a type":     `{` + graphtest.Many(450, ` a#: __type(name: "Query") { fields { name args { name type { name } } type { name ofType { name } } } }`) + ` }`,
	} {
		a := graphtest.Serve(nil).Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.PublicClient()))
		require.Equal(t, []store.Code{store.Unprocessable}, a.Codes(), "%s: %.300s", name, a.Body)
		require.Contains(t, a.Errors[0].Message, " costs most; the operation may cost 60,000, and could cost ", name)
	}
}

// A document at a limit passes. One beyond it is refused with the count, the limit and what to do.
func TestEachDocumentLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		bounds func(*limits.Config)
		fits   string
		over   string
		says   string
	}{
		{"bytes", func(b *limits.Config) { b.Bytes = 14 }, `{ __typename  }`[:13] + ` }`[1:], `{  __typename  }`, "is 16 bytes long; at most 14 are allowed: send values as variables."},
		{"tokens", func(b *limits.Config) { b.Tokens = 4 }, `{ __typename }`, `{ a: __typename b: __typename }`, "has 5 tokens or more; at most 4 are allowed"},
		{"depth", func(b *limits.Config) { b.Depth = 3 }, `{ __schema { types { name } } }`, `{ __schema { types { ofType { name } } } }`, "nests fields 4 deep; at most 3 are allowed: nest less."},
		{"name", func(b *limits.Config) { b.Name = 10 }, `{ a123456789: __typename }`, `{ a1234567890: __typename }`, "has a name of 11 bytes; at most 10"},
		{"name of a variable's value", func(b *limits.Config) { b.Name = 10 }, `{ __typename }`, `{ products(orderBy: {field: ABCDEFGHIJK}) { id } }`, "has a name of 11 bytes; at most 10"},
		{"fields", func(b *limits.Config) { b.Fields = 3 }, `{ ...f ...f ...f } fragment f on Query { __typename }`, `{ ...f ...f ...f ...f } fragment f on Query { __typename }`, "selects 4 fields; at most 3"},
		{"fields of all operations", func(b *limits.Config) { b.Fields = 3 }, `query a { __typename }`, `query a { a: __typename b: __typename } query b { a: __typename b: __typename }`, "selects 4 fields; at most 3"},
		{"fields at the root", func(b *limits.Config) { b.RootFields = 2 }, `{ a: __typename b: __typename a: __typename }`, `{ a: __typename ... { b: __typename ...f } } fragment f on Query { c: __typename }`, "selects 3 fields at its root; at most 2"},
		{"aliases", func(b *limits.Config) { b.Aliases = 2 }, `{ __schema { types { a: name b: name } directives { a: name b: name } } }`, `{ __schema { types { a: name b: name } } __schema { types { c: name } } }`, "selects 3 fields of one object; at most 2"},
		{"repeats", func(b *limits.Config) { b.Repeats = 9 }, `{ a: __typename b: __typename a: __typename a: __typename }`, `{ a: __typename a: __typename ...f ...f } fragment f on Query { a: __typename }`, "is selected is 16; at most 9"},
		{"repeats in other places", func(b *limits.Config) { b.Repeats = 1 }, `{ __typename __schema { __typename types { __typename } } }`, `{ __typename __typename }`, "is selected is 4; at most 1"},
		{"operations", func(b *limits.Config) { b.Operations = 1 }, `query a { __typename }`, `query a { __typename } query b { __typename }`, "defines 2 operations; at most 1"},
		{"fragments", func(b *limits.Config) { b.Fragments = 1 }, `{ ...a } fragment a on Query { __typename }`, `{ ...a ...b } fragment a on Query { __typename } fragment b on Query { __typename }`, "defines 2 fragments; at most 1"},
		{"variables", func(b *limits.Config) { b.Variables = 1 }, `query($a: Boolean = true) { __typename @include(if: $a) }`, `query($a: Int, $b: Int) { __typename }`, "defines 2 variables; at most 1"},
		{"directives", func(b *limits.Config) { b.Directives = 1 }, `{ __typename @include(if: true) }`, `query @skip(if: false) { __typename @include(if: true) }`, "has 2 directives; at most 1"},
		{"steps", func(b *limits.Config) { b.Steps = 6 }, `{ ...a } fragment a on Query { ...b } fragment b on Query { __typename }`, `{ ...a } fragment a on Query { ...b ...b } fragment b on Query { __typename }`, "is read in 8 steps or more"},
		{"cost", func(b *limits.Config) { b.Cost = 7 }, `{ __type(name: "ID") { name } }`, `{ __type(name: "ID") { a: name b: name } }`, "the operation may cost 7, and could cost 8. Select fewer fields, or send several operations."},
	} {
		t.Run(c.name, func(t *testing.T) {
			bounds := limits.Defaults()
			c.bounds(&bounds)
			s := graphtest.ServeWithLimits(&graphtest.Service{}, bounds)
			if c.name != "fields of all operations" {
				a := s.Post(t, c.fits, nil)
				require.Empty(t, a.Errors, "%s", a.Body)
			}
			a := s.Post(t, c.over, nil)
			require.Equal(t, []store.Code{store.Unprocessable}, a.Codes(), "%s", a.Body)
			require.Contains(t, a.Errors[0].Message, c.says)
			require.Regexp(t, `^(The document .* \d+.*; at most \d+ are allowed: .*|.*; the operation may cost \d+, and could cost \d+\. .*)\.$`, a.Errors[0].Message)
		})
	}
}

// Rows of lists of unknown length are charged as they are read: between parents and children a
// short document can reach millions of rows.
func TestListsOfUnknownLengthCostTheirRows(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, documentFamily(40))
		const query = `{ product(by: {sku: "mother"}) { children { parent { children { parent { children { uuid } } } } } } }`
		a := s.Post(t, query, nil)
		require.NotEmpty(t, a.Errors, "%.300s", a.Body)
		for _, e := range a.Errors[:19] {
			require.Equal(t, store.Unprocessable, e.Extensions.Code)
			require.Regexp(t, `^children has (40|1,600|64,000) rows here, each of which costs \d+; the operation may cost 60,000\. Request fewer rows at a time`, e.Message)
		}
		a = s.Post(t, `{ product(by: {sku: "mother"}) { children { parent { children { uuid } } } } }`, nil)
		require.Empty(t, a.Errors, "%.300s", a.Body)
		require.Equal(t, 40*40, strings.Count(string(a.Data), "uuid"))
	})
}

// Each option of a bundle is charged once, so the charge grows with the options and not with their square.
func TestOptionsOfBundlesCostTheirRows(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		const bundles, components, options = 25, 4, 10
		lines := []string{`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"],"pricebook_ids":[]}}`}
		var attached, parts []string
		product := func(id, more string) {
			lines = append(lines, fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%q,"sku":%q,"slug":%q,"status":"live"%s}}`, id, id, id, id, more))
			attached = append(attached, fmt.Sprintf(`{"type":"product","id":%q}`, id))
		}
		for i := range components {
			var list []string
			for k := range options {
				id := fmt.Sprintf("option-%d-%d", i, k)
				product(id, "")
				list = append(list, fmt.Sprintf(`{"id":%q,"type":"product","quantity":1}`, id))
			}
			parts = append(parts, fmt.Sprintf(`"part-%d":{"name":"Part","min":1,"max":1,"sort_order":%d,"options":[%s]}`, i, i, strings.Join(list, ",")))
		}
		for i := range bundles {
			product(fmt.Sprint("bundle-", i), `,"components":{`+strings.Join(parts, ",")+`}`)
		}
		lines = append(lines, `{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+strings.Join(attached, ",")+`]}}}`)
		s := graphtest.Open(t, e, strings.Join(lines, "\n"))
		const query = `query ($n: Int!) { products(variants: CHILDREN, first: $n, filter: {bounds: {id: {lt: "c"}}}) { nodes { components { options { product { name sku } } } } } }`
		a := s.Post(t, query, graphtest.Variables{"n": bundles})
		require.Empty(t, a.Errors, "%.300s", a.Body)
		require.Equal(t, bundles*components*options, strings.Count(string(a.Data), `"sku"`))

		bounds := limits.Defaults()
		bounds.Cost = bundles * components * options * 2 // less than the rows cost
		a = graphtest.ServeWithLimits(s, bounds).Post(t, query, graphtest.Variables{"n": bundles})
		require.Contains(t, a.Codes(), store.Unprocessable, "%.300s", a.Body)
		require.Regexp(t, `^options has \d|^product: The operation may cost \d`, a.Errors[0].Message)
	})
}

// documentFamily returns a shop with one product and its n children.
func documentFamily(n int) string {
	lines := []string{
		`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
		`{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"],"pricebook_ids":[]}}`,
	}
	attached := make([]string, 0, n+1)
	product := func(id, relationships string) {
		lines = append(lines, fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%q,"sku":%q,"slug":%q,"status":"live","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"},"relationships":{%s}}`, id, id, id, id, relationships))
		attached = append(attached, fmt.Sprintf(`{"type":"product","id":%q}`, id))
	}
	product("mother", "")
	for i := range n {
		product(fmt.Sprint("child-", i), `"parent":{"data":{"type":"product","id":"mother"}}`)
	}
	return strings.Join(append(lines, `{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+strings.Join(attached, ",")+`]}}}`), "\n")
}

// gqlgen defines @defer. This server does not send responses in parts.
func TestDeferIsUnknown(t *testing.T) {
	t.Parallel()
	for _, query := range []string{`{ ... @defer { __typename } }`, `{ ...f @defer(label: "x") } fragment f on Query { __typename }`, `{ products { nodes { ... @defer { uuid } } } }`} {
		a := graphtest.Serve(nil).Post(t, query, nil)
		require.Equal(t, []store.Code{store.Invalid}, a.Codes(), "%s", a.Body)
		require.Contains(t, a.Errors[0].Message, `Unknown directive "@defer".`)
	}
	a := graphtest.Serve(nil).Post(t, `{ __schema { directives { name } } }`, nil)
	require.JSONEq(t, `{"__schema":{"directives":[{"name":"deprecated"},{"name":"include"},{"name":"oneOf"},{"name":"skip"},{"name":"specifiedBy"}]}}`, string(a.Data))
}

// gqlgen reads a member "headers" of the body. This server ignores it.
func TestHeadersInABodyAreIgnored(t *testing.T) {
	t.Parallel()
	r := graphtest.As(graphtest.NewRaw(t, `{"query":"{ __typename }","headers":{"Accept":["application/graphql-response+json"],"X-Own":["1"]}}`), graphtest.Admin())
	a := graphtest.Serve(nil).Send(t, r)
	require.Equal(t, "application/json", a.Header().Get("Content-Type"))
	require.Empty(t, r.Header.Get("X-Own"))
	require.Empty(t, r.Header.Get("Accept"))
}

// The cost of a cached document depends on the variables of each request.
func TestCachedDocumentCostDependsOnVariables(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil)
	const query = `query a($n: Int!) { catalogNodes(first: $n) { nodes { products(first: $n) { nodes { uuid name sku slug id } } } } } query b { __typename }`
	for _, c := range []struct {
		operation string
		n         any
		code      store.Code
	}{{"a", 1, store.Internal}, {"a", 100, store.Unprocessable}, {"a", 2, store.Internal}, {"b", 100, ""}, {"a", 100.0, store.Unprocessable}, {"a", "1", store.Invalid}} {
		n, _ := json.Marshal(c.n)
		a := s.Send(t, graphtest.As(graphtest.NewRaw(t, fmt.Sprintf(`{"query":%q,"operationName":%q,"variables":{"n":%s}}`, query, c.operation, n)), graphtest.Admin()))
		require.Equal(t, http.StatusOK, a.Code)
		if c.code == "" {
			require.Empty(t, a.Errors)
			continue
		}
		require.Equal(t, []store.Code{c.code}, a.Codes(), "%v: %s", c, a.Body) // INTERNAL: it came to run, and there is no store
	}
}
