package graph_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"portico/graph/generated"
	"portico/graph/graphtest"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/gateway"
	"portico/store/release"
)

// written returns the schema as it is written.
func written(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../schema.graphqls")
	require.NoError(t, err)
	return string(text)
}

// ownTypes returns the schema's types without GraphQL's own.
func ownTypes() (types []*ast.Definition) {
	for _, definition := range graphtest.Schema().Types {
		if !definition.BuiltIn && !strings.HasPrefix(definition.Name, "__") {
			types = append(types, definition)
		}
	}
	return types
}

func TestEverythingInTheSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	described := func(coordinate, description string) {
		require.NotEmpty(t, strings.TrimSpace(description), "%s has no description", coordinate)
		require.Regexp(t, "[.:!?)`\"]$", strings.TrimSpace(description), "the description of %s is a sentence", coordinate)
	}
	require.NotEmpty(t, graphtest.Schema().Description, "the schema itself")
	for _, definition := range ownTypes() {
		root := definition.Name == "Query" || definition.Name == "Mutation" || definition.Name == "Subscription"
		if !root {
			described(definition.Name, definition.Description)
		}
		for _, value := range definition.EnumValues {
			described(definition.Name+"."+value.Name, value.Description)
		}
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			coordinate := definition.Name + "." + field.Name
			described(coordinate, field.Description)
			for _, argument := range field.Arguments {
				described(coordinate+"("+argument.Name+":)", argument.Description)
			}
		}
	}
}

func TestSchemaHasNoGeneratorDirectives(t *testing.T) {
	t.Parallel()
	require.NotRegexp(t, `@go\w+`, written(t))
	for name := range graphtest.Schema().Directives {
		require.Contains(t, []string{"include", "skip", "deprecated", "specifiedBy", "oneOf", "defer"}, name, "a directive of our own hides behaviour from REST")
	}
}

func TestCustomScalarsHaveASpecification(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		if definition.Kind == ast.Scalar {
			require.NotNil(t, definition.Directives.ForName("specifiedBy"), definition.Name)
		}
	}
}

// The generated code is current. CI generates it again.
func TestGeneratedCodeMatchesTheSchema(t *testing.T) {
	t.Parallel()
	parsed, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphqls", Input: written(t)})
	require.NoError(t, err)
	require.Equal(t, printed(parsed), printed(graphtest.Schema()), "run go generate ./graph")
}

func printed(s *ast.Schema) string {
	var b strings.Builder
	formatter.NewFormatter(&b).FormatSchema(s)
	return b.String()
}

// rootCoordinates returns the coordinates of the fields of Query, Mutation and Subscription.
func rootCoordinates(s *ast.Schema) (coordinates []string) {
	for _, root := range []*ast.Definition{s.Query, s.Mutation, s.Subscription} {
		if root == nil {
			continue
		}
		for _, field := range root.Fields {
			if !strings.HasPrefix(field.Name, "__") {
				coordinates = append(coordinates, root.Name+"."+field.Name)
			}
		}
	}
	return coordinates
}

// withoutScope returns the root fields without an entry in the table of scopes.
func withoutScope(s *ast.Schema) (forgotten []string) {
	for _, coordinate := range rootCoordinates(s) {
		if _, declared := auth.Scope(coordinate); !declared {
			forgotten = append(forgotten, coordinate)
		}
	}
	return forgotten
}

// A new field without a scope fails TestEveryRootFieldHasAScope.
func TestFieldsWithoutAScopeAreFound(t *testing.T) {
	t.Parallel()
	grown, err := gqlparser.LoadSchema(&ast.Source{Name: "grown.graphqls", Input: written(t) + `
		extend type Subscription { whispers: String }
		extend type Query { secret: String }
		extend type Mutation { reveal: String }`})
	require.NoError(t, err)
	require.Equal(t, []string{"Query.secret", "Mutation.reveal", "Subscription.whispers"}, withoutScope(grown))
}

// Each filter attribute has a member in the inputs, the filter values and the facets.
func TestEveryFilterAttributeHasItsMembers(t *testing.T) {
	t.Parallel()
	for _, attribute := range release.FilterAttributes() {
		if attribute == "id" {
			continue // ids
		}
		name := camel(attribute)
		require.NotNil(t, graphtest.Schema().Types["ProductFilter"].Fields.ForName(name), "ProductFilter of the schema has no member %s", name)
		require.NotPanics(t, func() { (&model.ProductFilter{}).SetText(attribute, nil) }, "model.ProductFilter.text knows no %s", attribute)
	}
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// Each root field says its scope, and what a storefront uses in its place, as the tables have it.
func TestRootFieldsSayTheirScope(t *testing.T) {
	t.Parallel()
	schema := graphtest.Schema()
	shopper := auth.WithPrincipal(t.Context(), &auth.Principal{ClientID: "shop", Scopes: auth.ShopperScopes()})
	named := 0
	for _, coordinate := range rootCoordinates(schema) {
		kind, name, _ := strings.Cut(coordinate, ".")
		scope, _ := auth.Scope(coordinate)
		sentences := strings.Split(strings.Join(strings.Fields(schema.Types[kind].Fields.ForName(name).Description), " "), ". ")
		last := sentences[len(sentences)-1]
		switch {
		case scope == auth.AnyScope:
			require.Equal(t, "Needs a token with any scope.", last, coordinate)
		case strings.Contains(strings.ToLower(name), "job"): // those of several kinds of jobs need the scope of the kind
			require.Contains(t, last, "scope", coordinate)
		default:
			require.Equal(t, "Needs the scope `"+scope+"`.", last, coordinate)
		}
		err := auth.Require(shopper, coordinate)
		if err == nil {
			continue
		}
		_, instead, ok := strings.Cut(err.Error(), "Storefronts use ")
		if !ok {
			continue
		}
		named++
		for of := range strings.SplitSeq(strings.TrimSuffix(instead, "."), " and ") {
			of, _, _ = strings.Cut(of, "(")
			if holder, field, inType := strings.Cut(of, "."); inType {
				require.NotNil(t, schema.Types[holder].Fields.ForName(field), "%s: %s", coordinate, err)
				continue
			}
			require.NoError(t, auth.Require(shopper, "Query."+of), "%s: %s", coordinate, err)
		}
	}
	require.Greater(t, named, 10)
}

func TestEveryRootFieldHasAScope(t *testing.T) {
	t.Parallel()
	require.Empty(t, withoutScope(graphtest.Schema()), "not in the table of scopes, so nobody may use it")
	fields := rootCoordinates(graphtest.Schema())
	for _, coordinate := range fields {
		scope, _ := auth.Scope(coordinate)
		require.Contains(t, append(access.Scopes(), auth.AnyScope), scope, coordinate)
		if strings.HasPrefix(coordinate, "Mutation.") { // some queries are for those who author, too
			require.True(t, strings.HasSuffix(scope, ":write"), "%s needs %s", coordinate, scope)
		}
	}
	for _, coordinate := range auth.Coordinates() {
		kind, field, isField := strings.Cut(coordinate, ".")
		if !isField || strings.Contains(kind, " ") {
			continue // a route
		}
		if name, argument, ok := strings.Cut(field, "("); ok {
			definition := graphtest.Schema().Types[kind].Fields.ForName(name)
			require.NotNil(t, definition.Arguments.ForName(strings.TrimSuffix(argument, ":)")), "%s is declared, but not in the schema", coordinate)
			continue
		}
		if kind == "Query" || kind == "Mutation" || kind == "Subscription" {
			require.Contains(t, fields, coordinate, "declared, but not in the schema")
			continue
		}
		definition := graphtest.Schema().Types[kind]
		require.NotNil(t, definition, "%s is declared, but not in the schema", coordinate)
		require.NotNil(t, definition.Fields.ForName(field), "%s is declared, but not in the schema", coordinate)
	}
}

// A field that can be refused is nullable, so that its error leaves the rest of the response.
func TestFieldsThatCanBeRefusedAreNullable(t *testing.T) {
	for _, coordinate := range rootCoordinates(graphtest.Schema()) {
		kind, name, _ := strings.Cut(coordinate, ".")
		of := graphtest.Schema().Types[kind].Fields.ForName(name).Type
		require.False(t, of.NonNull, "%s is %s", coordinate, of)
	}
	for _, coordinate := range auth.Coordinates() {
		kind, name, _ := strings.Cut(coordinate, ".")
		if definition := graphtest.Schema().Types[kind]; definition != nil && definition.Kind == ast.Object && !strings.Contains(name, "(") {
			require.False(t, definition.Fields.ForName(name).Type.NonNull, "%s needs a scope of its own, and is %s", coordinate, definition.Fields.ForName(name).Type)
		}
	}
}

// Every nullable field says what null means, except those that are null only
// with an error: the schema's own description says that once for all of them.
func TestNullableFieldsDescribeNull(t *testing.T) {
	require.Regexp(t, `A root field is null when its request is refused or fails`, graphtest.Schema().Description)
	for _, definition := range ownTypes() {
		if definition.Kind != ast.Object && definition.Kind != ast.Interface {
			continue
		}
		for _, field := range definition.Fields {
			if !field.Type.NonNull && !strings.HasPrefix(field.Name, "__") && !nullOnlyWithError(definition.Name, field) {
				require.Regexp(t, `(?i)\bnull\b`, field.Description, "%s.%s is %s, and does not say what null means", definition.Name, field.Name, field.Type)
			}
		}
	}
}

// A text or id that is not set is null, never "".
func TestTextsThatAreNotSetAreNull(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		if definition.Kind != ast.Object && definition.Kind != ast.Interface {
			continue
		}
		for _, field := range definition.Fields {
			if of := field.Type.String(); of == "String!" || of == "ID!" {
				require.NotRegexp(t, `(?i)\bempty\b|\bnot set\b`, field.Description, "%s.%s is a text that may be empty: make it nullable", definition.Name, field.Name)
			}
		}
	}
}

// nullOnlyWithError reports whether a root field, or one with a scope of its
// own, always has a value unless it fails: lists, payloads and these few.
func nullOnlyWithError(of string, field *ast.FieldDefinition) bool {
	switch coordinate := of + "." + field.Name; coordinate {
	case "Query.settings", "Query.gateway", "Query.catalogResolution", "Query.promotionCodeCheck", "Query.cartPreview", "Query.searchSuggestions",
		"Subscription.stockChanged", "Subscription.catalogPublished", "Stock.transactions", "Promotion.codes", "Promotion.usages":
		return true
	default:
		list := field.Type.Elem != nil && field.Type.Elem.NonNull
		return of == "Mutation" || of == "Query" && (list || strings.HasSuffix(field.Type.Name(), "Connection"))
	}
}

// Every mutation takes one input and returns userErrors (docs/architecture.md, decision 4). What several mutations share has a name
// of its own.
func TestMutationsHaveOneShape(t *testing.T) {
	t.Parallel()
	mutations, used := graphtest.Schema().Mutation.Fields, map[string]int{}
	for _, field := range mutations {
		require.Len(t, field.Arguments, 1, field.Name)
		used[field.Arguments[0].Type.Name()]++
		used[field.Type.Name()]++
	}
	for _, field := range mutations {
		input, payload := field.Arguments[0], field.Type
		require.Equal(t, "input", input.Name, field.Name)
		require.True(t, input.Type.NonNull && input.Type.Elem == nil, field.Name)
		require.True(t, !payload.NonNull && payload.Elem == nil, "nullable: one that is refused leaves the answers of the others")
		for kind, name := range map[string]string{"Input": input.Type.Name(), "Payload": payload.Name()} {
			own := strings.ToUpper(field.Name[:1]) + field.Name[1:] + kind
			require.True(t, strings.HasSuffix(name, kind) && (name == own) == (used[name] == 1), "%s: %s is its own or shared", field.Name, name)
		}
		faults := graphtest.Schema().Types[payload.Name()].Fields.ForName("userErrors")
		require.NotNil(t, faults, field.Name)
		require.Equal(t, "[UserError!]!", faults.Type.String())
	}
}

// The type Secret marks what is secret: each member of an input whose Go type is a secret, or whose name says so, has it.
func TestSecretMembersHaveTheTypeSecret(t *testing.T) {
	t.Parallel()
	schema, named := graphtest.Schema(), regexp.MustCompile(`(?i)password|secret|token|credential`)
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if definition.Kind == ast.InputObject && named.MatchString(field.Name) {
				require.Equal(t, "Secret", field.Type.Name(), "%s.%s", definition.Name, field.Name)
			}
			for _, argument := range field.Arguments {
				require.False(t, named.MatchString(argument.Name) && argument.Type.Name() != "Secret", "%s.%s(%s:)", definition.Name, field.Name, argument.Name)
			}
		}
	}
	found, seen := 0, map[*ast.Definition]bool{}
	var checkInput func(in reflect.Type, of *ast.Definition)
	checkInput = func(in reflect.Type, of *ast.Definition) {
		for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
			in = in.Elem()
		}
		if of.Kind != ast.InputObject || in.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for _, member := range of.Fields {
			field, ok := in.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, member.Name) })
			if !ok {
				continue
			}
			isSecret := field.Type == reflect.TypeFor[gateway.Secret]() || field.Type == reflect.TypeFor[*gateway.Secret]()
			require.Equal(t, isSecret, member.Type.Name() == "Secret", "%s.%s", of.Name, member.Name)
			if isSecret {
				found++
			} else {
				checkInput(field.Type, schema.Types[member.Type.Name()])
			}
		}
	}
	resolver := reflect.TypeFor[generated.MutationResolver]()
	for method := range resolver.Methods() {
		field := schema.Mutation.Fields[slices.IndexFunc(schema.Mutation.Fields, func(f *ast.FieldDefinition) bool { return strings.EqualFold(f.Name, method.Name) })]
		checkInput(method.Type.In(1), schema.Types[field.Arguments[0].Type.Name()])
	}
	require.Positive(t, found)
}

// Every connection takes the same arguments and has the same fields.
func TestConnectionsHaveOneShape(t *testing.T) {
	t.Parallel()
	var lists int
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			lists++
			for name, kind := range map[string]string{"first": "Int", "after": "String", "last": "Int", "before": "String", "offset": "Int"} {
				argument := field.Arguments.ForName(name)
				require.NotNil(t, argument, "%s.%s(%s:)", definition.Name, field.Name, name)
				require.Equal(t, kind, argument.Type.String())
			}
			row := strings.TrimSuffix(field.Type.Name(), "Connection")
			for name, kind := range map[string]string{"edges": "[" + row + "Edge!]!", "nodes": "[" + row + "!]!", "pageInfo": "PageInfo!", "totalCount": "Int!"} {
				member := graphtest.Schema().Types[field.Type.Name()].Fields.ForName(name)
				require.NotNil(t, member, "%s.%s", field.Type.Name(), name)
				require.Equal(t, kind, member.Type.String())
			}
		}
	}
	require.GreaterOrEqual(t, lists, 8)
}

func TestEveryErrorCodeIsInTheSchema(t *testing.T) {
	t.Parallel()
	var values []string
	for _, value := range graphtest.Schema().Types["ErrorCode"].EnumValues {
		values = append(values, value.Name)
	}
	for _, code := range store.Codes() {
		require.Contains(t, values, string(code))
	}
	require.Len(t, values, len(store.Codes()))
}
