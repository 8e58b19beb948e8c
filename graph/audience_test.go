package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"portico/graph/audience"
	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/store/access"
	"portico/store/storetest"
)

// everythingOf returns a selection of all fields of a type that need no argument, depth levels deep.
func everythingOf(s *ast.Schema, of *ast.Definition, depth int) (set ast.SelectionSet) {
	for _, field := range of.Fields {
		required := func() bool {
			for _, argument := range field.Arguments {
				if argument.Type.NonNull && argument.DefaultValue == nil {
					return true
				}
			}
			return false
		}
		if strings.HasPrefix(field.Name, "__") || required() {
			continue
		}
		selected := &ast.Field{Alias: field.Name, Name: field.Name}
		if target := s.Types[field.Type.Name()]; target.IsCompositeType() {
			if depth == 0 {
				continue
			}
			if selected.SelectionSet = everythingOf(s, target, depth-1); len(selected.SelectionSet) == 0 {
				continue
			}
		}
		set = append(set, selected)
	}
	return set
}

// selectEverything returns an operation that selects all of its root field name that an audience sees.
func selectEverything(t *testing.T, s *ast.Schema, operation, name string) string {
	t.Helper()
	parsed, err := parser.ParseQuery(&ast.Source{Input: operation})
	require.NoError(t, err)
	root := map[ast.Operation]*ast.Definition{ast.Query: s.Query, ast.Mutation: s.Mutation, ast.Subscription: s.Subscription}[parsed.Operations[0].Operation]
	for _, selection := range parsed.Operations[0].SelectionSet {
		if field := selection.(*ast.Field); field.Name == name && len(field.SelectionSet) > 0 {
			field.SelectionSet = everythingOf(s, s.Types[root.Fields.ForName(name).Type.Name()], 2)
		}
	}
	var text strings.Builder
	formatter.NewFormatter(&text).FormatQueryDocument(parsed)
	return text.String()
}

// Nothing that the schema shows a token is refused to it: a field that checks a scope of its own is in the table of scopes.
func TestAudiencesMayUseWhatTheySee(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		seedJob(t, e, "job-1")
		graphtest.LoadCodes(t, s)
		schemas := audience.New(document.Schema())
		sets := [][]string{auth.ShopperScopes()}
		for _, scope := range access.Scopes() {
			others := slices.DeleteFunc(access.Scopes(), func(other string) bool { return other == scope })
			sets = append(sets, []string{scope}, others)
		}
		for _, scopes := range sets {
			schema := schemas.For(scopes).Schema
			for _, coordinate := range rootCoordinates(schema) {
				if needed, _ := auth.Scope(coordinate); needed != auth.AnyScope && !slices.Contains(scopes, needed) {
					continue // a job: the example is one that publishes
				}
				_, name, _ := strings.Cut(coordinate, ".")
				query := selectEverything(t, schema, rootFields()[coordinate], name)
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client(scopes...)))
				require.NotContains(t, a.Codes(), forbidden[0], "%v: %s\n%s", scopes, a.Body, query)
			}
		}
	})
}

// Introspection with a token shows what it may use, by a plan and by gqlgen's executor. Without one it is refused, or shows
// everything where it is open.
func TestIntrospectionShowsWhatATokenMayUse(t *testing.T) {
	t.Parallel()
	const query = `{ __schema { mutationType { name } queryType { fields { name args { name } } } types { name } }
		gateway: __type(name: "Gateway") { name } stock: __type(name: "Stock") { fields { name } } node: __type(name: "Node") { possibleTypes { name } } }`
	for name, options := range map[string][]transport.Option{"plans": nil, "gqlgen": {transport.WithoutPlans()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &graphtest.Service{Handler: graphtest.NewHandler(nil, options...)}
			storefront := string(s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.PublicClient())).Data)
			require.Contains(t, storefront, `"mutationType":null`)
			require.Contains(t, storefront, `"gateway":null`)
			require.Contains(t, storefront, `"name":"CartPreview"`)
			require.NotContains(t, storefront, `"name":"transactions"`)
			require.NotContains(t, storefront, `catalogResolution`)
			require.NotContains(t, storefront, `Gateway`)
			require.NotContains(t, storefront, `Authored`)
			admin := string(s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Admin())).Data)
			require.Contains(t, admin, `"gateway":{"name":"Gateway"}`)
			require.Contains(t, admin, `"name":"transactions"`)

			open := &graphtest.Service{Handler: graphtest.NewHandler(nil, append(options, transport.OpenIntrospection())...)}
			require.JSONEq(t, admin, string(open.Post(t, query, nil).Data), "the demo, without a token")
			require.JSONEq(t, storefront, string(open.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.PublicClient())).Data))
		})
	}
}
