package audience_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"portico/graph/audience"
	"portico/graph/document"
	"portico/internal/auth"
	"portico/store/access"
	"portico/store/storetest/testkit"
)

// printed returns a schema with its types and members in alphabetical order, with descriptions.
func printed(s *ast.Schema) string {
	var b strings.Builder
	formatter.NewFormatter(&b).FormatSchema(s)
	return b.String()
}

// load parses and checks the text of a schema.
func load(t *testing.T, text string) *ast.Schema {
	t.Helper()
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema", Input: text})
	require.NoError(t, err)
	return schema
}

// coordinates calls see for each field, argument and member of an input in a schema.
func coordinates(s *ast.Schema, see func(coordinate string)) {
	for _, definition := range s.Types {
		for _, field := range definition.Fields {
			if definition.BuiltIn || strings.HasPrefix(field.Name, "__") {
				continue
			}
			see(definition.Name + "." + field.Name)
			for _, argument := range field.Arguments {
				see(definition.Name + "." + field.Name + "(" + argument.Name + ":)")
			}
		}
	}
}

// scopeSets returns sets of scopes: none, each alone, all, and all without each; in the full tests with up to three in place
// of one.
func scopeSets() (sets [][]string) {
	known, few := access.Scopes(), testkit.QuickOrFull(1, 3)
	for bits := range 1 << len(known) {
		var set []string
		for i, scope := range known {
			if bits>>i&1 == 1 {
				set = append(set, scope)
			}
		}
		if len(set) <= few || len(set) >= len(known)-few {
			sets = append(sets, set)
		}
	}
	return sets
}

// Every set of scopes gives a valid schema, which has what these scopes allow, and nothing else.
func TestEveryAudience(t *testing.T) {
	t.Parallel()
	full := document.Schema()
	schemas := audience.New(full)
	for _, scopes := range scopeSets() {
		view := schemas.For(scopes)
		require.Equal(t, printed(load(t, view.Text())), printed(view.Schema), "%v", scopes)
		coordinates(view.Schema, func(coordinate string) {
			require.True(t, auth.Usable(coordinate, scopes), "%v: %s", scopes, coordinate)
		})
		for _, root := range []*ast.Definition{full.Query, full.Mutation, full.Subscription} {
			for _, field := range root.Fields {
				shown := view.Schema.Types[root.Name] != nil && view.Schema.Types[root.Name].Fields.ForName(field.Name) != nil
				introspection := strings.HasPrefix(field.Name, "__")
				require.Equal(t, introspection || auth.Usable(root.Name+"."+field.Name, scopes), shown, "%v: %s.%s", scopes, root.Name, field.Name)
			}
		}
		for name, types := range view.Schema.PossibleTypes {
			for _, of := range types {
				require.Same(t, view.Schema.Types[of.Name], of, "%v: %s", scopes, name)
			}
		}
	}
}

func TestAllScopesSeeTheWholeSchema(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile("../../schema.graphqls")
	require.NoError(t, err)
	view := audience.New(document.Schema()).For(access.Scopes())
	require.Equal(t, printed(load(t, string(written))), printed(load(t, view.Text())))
	order := regexp.MustCompile(`(?m)^(type|input|enum|interface|scalar) \w+`)
	require.Equal(t, order.FindAllString(string(written), -1), order.FindAllString(view.Text(), -1), "in the order of the source")
}

// An object that node finds is shown by a field of its own, without which no audience would see its type.
func TestNodesHaveFieldsOfTheirOwn(t *testing.T) {
	t.Parallel()
	full := document.Schema()
	view := audience.New(full).For(access.Scopes())
	for _, of := range full.GetPossibleTypes(full.Types["Node"]) {
		require.NotNil(t, view.Schema.Types[of.Name], "only node leads to %s", of.Name)
	}
}

// What a storefront's token sees.
func TestStorefrontsAudience(t *testing.T) {
	t.Parallel()
	storefront := audience.New(document.Schema()).For(auth.ShopperScopes()).Schema
	require.Nil(t, storefront.Mutation)
	for _, name := range []string{"Gateway", "GatewaySlug", "Job", "JobKind", "Promotion", "PromotionCode", "Catalog", "CatalogRule", "AuthoredCatalogNode",
		"AuthoredHierarchy", "StockTransaction", "StockAction", "UserError", "PromotionCodeCheck", "Secret"} {
		require.NotNil(t, document.Schema().Types[name], "%s is a type", name)
		require.Nil(t, storefront.Types[name], name)
	}
	for _, name := range []string{"Product", "CatalogNode", "Stock", "CartPreview", "ActivePromotion", "Settings", "CatalogRelease", "ErrorCode", "Node"} {
		require.NotNil(t, storefront.Types[name], name)
	}
	require.Nil(t, storefront.Types["Stock"].Fields.ForName("transactions"))
	require.Nil(t, storefront.Types["CatalogRelease"].Fields.ForName("catalog"))
	require.Nil(t, storefront.Types["CatalogResolution"])
	require.Nil(t, storefront.Types["ShopperContextInput"])
	require.Nil(t, storefront.Query.Fields.ForName("catalogRelease").Arguments.ForName("id"))

	catalogs := audience.New(document.Schema()).For([]string{"catalog:read"}).Schema
	require.Nil(t, catalogs.Types["Stock"])
	require.Nil(t, catalogs.Types["Product"].Fields.ForName("stock"))

	codes := audience.New(document.Schema()).For([]string{"promotions:write"}).Schema
	require.NotNil(t, codes.Query.Fields.ForName("job"), "of generating codes")
	require.Nil(t, codes.Query.Fields.ForName("jobs"))
	require.Nil(t, codes.Types["Promotion"].Fields.ForName("codes"), "which are for promotions:read")
}

// graphqlText finds the documents of the sample storefront.
var graphqlText = regexp.MustCompile("(?s)\\bgraphql\\(`(.*?)`")

// The documents of the sample storefront need no more of the schema than its token's audience sees.
func TestStorefrontsDocuments(t *testing.T) {
	t.Parallel()
	schema := load(t, audience.New(document.Schema()).For(auth.ShopperScopes()).Text())
	files, err := filepath.Glob("../../examples/storefront/src/*.ts*")
	require.NoError(t, err)
	all := &ast.QueryDocument{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range graphqlText.FindAllStringSubmatch(string(text), -1) {
			parsed, err := parser.ParseQuery(&ast.Source{Name: file, Input: found[1]})
			require.NoError(t, err, file)
			all.Operations, all.Fragments = append(all.Operations, parsed.Operations...), append(all.Fragments, parsed.Fragments...)
		}
	}
	require.Greater(t, len(all.Operations), 5)
	require.Empty(t, validator.ValidateWithRules(schema, all, rules.NewDefaultRules()))
}

func TestHandler(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile("../../schema.graphqls")
	require.NoError(t, err)
	schemas := audience.New(document.Schema())
	handler := schemas.Handler(string(written), func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadRequest)
	})
	get := func(query string, header ...string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", audience.Path+query, nil), httptest.NewRecorder()
		if len(header) > 0 {
			r.Header.Set("If-None-Match", header[0])
		}
		handler.ServeHTTP(w, r)
		return w
	}
	full := get("")
	require.Equal(t, string(written), full.Body.String())
	storefront := get("?scopes=catalog:read,inventory:read")
	require.Equal(t, schemas.For(auth.ShopperScopes()).Text(), storefront.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", storefront.Header().Get("Content-Type"))
	require.NotEqual(t, full.Header().Get("ETag"), storefront.Header().Get("ETag"))
	require.Equal(t, http.StatusNotModified, get("?scopes=catalog:read,inventory:read", storefront.Header().Get("ETag")).Code)
	require.Equal(t, http.StatusNotModified, get("", full.Header().Get("ETag")).Code)
	for _, same := range []string{"?scopes=inventory%3Aread%2Ccatalog%3Aread", "?scopes=catalog:read+inventory:read", "?scopes=catalog:read&scopes=inventory:read,"} {
		require.Equal(t, storefront.Body.String(), get(same).Body.String(), same)
	}
	require.Equal(t, []string{"settings"}, fieldNames(load(t, get("?scopes=").Body.String()).Query), "of any token")
	for _, unknown := range []string{"?scopes=catalog:read,jobs:read", "?scopes=catalog", "?scopes=" + strings.Repeat("x", 1000)} {
		refused := get(unknown)
		require.Equal(t, http.StatusBadRequest, refused.Code)
		require.Contains(t, refused.Body.String(), "scopes must be known scopes, separated by commas: catalog:read, catalog:write, ")
		require.Less(t, refused.Body.Len(), 400)
	}
	require.Contains(t, get("?scopes=catalog:read,jobs:read").Body.String(), `got "jobs:read"`)
}

func fieldNames(of *ast.Definition) (names []string) {
	for _, field := range of.Fields {
		if !strings.HasPrefix(field.Name, "__") {
			names = append(names, field.Name)
		}
	}
	return names
}

// The views of many sets of scopes do not add up, and one set is made once.
func TestViewsAreBounded(t *testing.T) {
	t.Parallel()
	schemas := audience.New(document.Schema())
	storefront := schemas.For(auth.ShopperScopes())
	require.Same(t, storefront, schemas.For(slices.Concat([]string{"openid"}, auth.ShopperScopes())), "unknown scopes allow nothing")
	seen := map[*audience.View]bool{}
	for bits := range 100 {
		var set []string
		for i, scope := range access.Scopes() {
			if bits>>i&1 == 1 {
				set = append(set, scope)
			}
		}
		seen[schemas.For(set)] = true
		require.Same(t, storefront, schemas.For(auth.ShopperScopes()), "what is used stays")
	}
	require.Len(t, seen, 100)
	require.Equal(t, 32, schemas.Len())
}
