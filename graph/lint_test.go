package graph_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/graphtest"
)

// A type has an id if and only if node finds it. Clients' caches rely on this.
func TestOnlyNodesHaveAnID(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		if definition.Kind != ast.Object {
			continue
		}
		id := definition.Fields.ForName("id")
		assert.Equal(t, id != nil, isOneThing(definition), "%s has an id, or is a Node, and not both", definition.Name)
		if id != nil {
			assert.Equal(t, "ID!", id.Type.String(), definition.Name)
		}
	}
}

func isOneThing(definition *ast.Definition) bool {
	return slices.Contains(definition.Interfaces, "Node")
}

// Types and enum values are named as in the GraphQL specification, members in camel case.
func TestSchemaNamesFollowConventions(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		assert.Regexp(t, `^[A-Z][A-Za-z0-9]*$`, definition.Name)
		if definition.Kind == ast.InputObject {
			assert.Regexp(t, `(Input|Filter|Order|Bounds)$`, definition.Name, "an input says so")
		}
		for _, value := range definition.EnumValues {
			assert.Regexp(t, `^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`, value.Name, definition.Name)
		}
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			assert.Regexp(t, `^[a-z][A-Za-z0-9]*$`, field.Name, definition.Name)
			for _, argument := range field.Arguments {
				assert.Regexp(t, `^[a-z][A-Za-z0-9]*$`, argument.Name, "%s.%s", definition.Name, field.Name)
			}
		}
	}
}

// Edges and pages follow the Relay specification.
func TestEdgesAndPagesFollowRelay(t *testing.T) {
	t.Parallel()
	page := graphtest.Schema().Types["PageInfo"]
	for name, kind := range map[string]string{"hasNextPage": "Boolean!", "hasPreviousPage": "Boolean!", "startCursor": "String", "endCursor": "String"} {
		assert.Equal(t, kind, page.Fields.ForName(name).Type.String(), name)
	}
	for _, definition := range ownTypes() {
		row, ok := strings.CutSuffix(definition.Name, "Edge")
		if !ok || definition.Kind != ast.Object {
			continue
		}
		assert.NotNil(t, graphtest.Schema().Types[row+"Connection"], definition.Name)
		assert.Equal(t, row+"!", definition.Fields.ForName("node").Type.String(), definition.Name)
		assert.Equal(t, "String!", definition.Fields.ForName("cursor").Type.String(), definition.Name)
	}
}

// withoutGlobalID lists ids with one form only: accounts and customers of other services, options
// of a variation, sales of a price book, and values that are compared with ids.
var withoutGlobalID = []string{"accountId", "accountIds", "accountTags", "accountTagIds", "customerId", "customerIds",
	"optionIds", "saleId", "gt", "ge", "lt", "le"}

// An argument takes a global id or the service's own id, and its description says so.
func TestIDArgumentsDescribeBothForms(t *testing.T) {
	t.Parallel()
	says := func(coordinate, name, description string, of *ast.Type) {
		if of.Name() == "ID" && !slices.Contains(withoutGlobalID, name) {
			assert.Regexp(t, `(?i)\b(global|uuid|either form|both forms|own id)`, description, "%s takes an id, and does not say in which forms", coordinate)
		}
	}
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			coordinate := definition.Name + "." + field.Name
			if definition.Kind == ast.InputObject {
				says(coordinate, field.Name, field.Description, field.Type)
			}
			for _, argument := range field.Arguments {
				says(coordinate+"("+argument.Name+":)", argument.Name, argument.Description, argument.Type)
			}
		}
	}
}

// A closed set of values is an enum. No description of a string lists its values, and no Go enum
// type is a string.
func TestClosedSetsAreEnums(t *testing.T) {
	t.Parallel()
	closed := regexp.MustCompile("(?i)^(always |either |one of )?`[^`<]+`(, `[^`<]+`)*,? or `[^`<]+`|^always `|: `[^`<]+`(, `[^`<]+`)* or `[^`<]+`\\.")
	check := func(coordinate, description string, of *ast.Type) {
		if of.Name() == "String" {
			assert.NotRegexp(t, closed, description, "%s has a closed set of values: make it an enum", coordinate)
		}
	}
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			coordinate := definition.Name + "." + field.Name
			check(coordinate, field.Description, field.Type)
			for _, argument := range field.Arguments {
				check(coordinate+"("+argument.Name+":)", argument.Description, argument.Type)
			}
		}
	}
	code, err := os.ReadFile("generated/exec.go")
	require.NoError(t, err)
	assert.Empty(t, regexp.MustCompile(`func \([^)]*\) (?:un)?marshal[NO](?:String|ID)2\S*portico\S*\(`).FindAllString(string(code), -1), "texts that are types of ours")
}

// amounts lists the types of an amount with its currency.
var amounts = map[ast.DefinitionKind][]string{ast.Object: {"Money"}, ast.InputObject: {"MoneyInput"}}

// Each amount stands in one of these types, which have its currency.
func TestAmountsHaveACurrency(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		amount, currency := definition.Fields.ForName("amount"), definition.Fields.ForName("currency")
		if amount == nil || currency == nil || isDeprecated(amount.Directives) {
			continue
		}
		assert.Contains(t, amounts[definition.Kind], definition.Name, "an amount that is not one of the types for it")
		assert.Equal(t, "String!", amount.Type.String(), definition.Name)
		assert.Contains(t, amount.Description, "Minor units", definition.Name)
		assert.Contains(t, currency.Description, "ISO 4217", definition.Name)
	}
}

// An id is global, and a uuid is the service's own: `id`, `promotionId`, `uuid`, `catalogUuid`, `productUuids`. The description
// says so, where the id is of another object.
func TestIDFieldsDescribeTheirForm(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		if definition.Kind != ast.Object {
			continue
		}
		for _, field := range definition.Fields {
			coordinate := definition.Name + "." + field.Name
			if isDeprecated(field.Directives) || slices.Contains(withoutGlobalID, field.Name) || slices.Contains(withoutGlobalID, coordinate) {
				continue
			}
			name := strings.ToLower(strings.TrimSuffix(field.Name, "s"))
			own, global := strings.HasSuffix(name, "uuid"), strings.HasSuffix(name, "id") && !strings.HasSuffix(name, "uuid")
			switch {
			case field.Type.Name() != "ID":
				assert.False(t, own, "%s is an id, and not of the type ID", coordinate)
			case own && field.Name != "uuid":
				assert.Regexp(t, `(?i)\bown id`, field.Description, "%s", coordinate)
			case global:
				assert.Regexp(t, `(?i)\bglobal id`, field.Description, "%s", coordinate)
			case !own:
				assert.Fail(t, "an id with another name", "%s: an id ends with Id if it is global, and with Uuid if it is the service's own", coordinate)
			}
		}
	}
}

// A BCP 47 tag is a locale, in each type and input.
func TestLanguageTagsAreLocales(t *testing.T) {
	t.Parallel()
	check := func(coordinate, name, description string) {
		assert.NotRegexp(t, `(?i)language`, name, coordinate)
		if strings.Contains(description, "BCP 47") {
			assert.Regexp(t, `^locales?$`, name, coordinate)
		}
	}
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			check(definition.Name+"."+field.Name, field.Name, field.Description)
			for _, argument := range field.Arguments {
				check(definition.Name+"."+field.Name, argument.Name, argument.Description)
			}
		}
	}
}

// Where a type has an input of its name, each member that may be null when it is read may be null when it is sent back. Members of
// a union have one type in all its types, or fragments could not select them, so some say that they are never null.
func TestInputsAcceptTheNullsOfTheirTypes(t *testing.T) {
	t.Parallel()
	pairs := 0
	for _, definition := range ownTypes() {
		input := graphtest.Schema().Types[definition.Name+"Input"]
		if definition.Kind != ast.Object || input == nil {
			continue
		}
		pairs++
		for _, member := range input.Fields {
			if read := definition.Fields.ForName(member.Name); read != nil && !read.Type.NonNull && member.Type.NonNull {
				assert.Contains(t, read.Description, "Never null", "%s.%s may be null when it is read", definition.Name, member.Name)
			}
		}
	}
	assert.Greater(t, pairs, 10)
}

// Descriptions speak of GraphQL: who reads them need not know the other interfaces of the server.
func TestDescriptionsSpeakOfGraphQL(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile("`(GET|PUT|PATCH|DELETE) /|`(portico|import) |`--|import(s|ed)?\\b[^.]* without|by import")
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			assert.NotRegexp(t, other, field.Description, "%s.%s", definition.Name, field.Name)
			for _, argument := range field.Arguments {
				assert.NotRegexp(t, other, argument.Description, "%s.%s(%s:)", definition.Name, field.Name, argument.Name)
			}
		}
		assert.NotRegexp(t, other, definition.Description, definition.Name)
	}
}

// isDeprecated reports whether a field, argument or member is deprecated.
func isDeprecated(directives ast.DirectiveList) bool { return directives.ForName("deprecated") != nil }

// A deprecation says what to use, which the schema has, and the day after which it is removed.
func TestDeprecationsHaveADate(t *testing.T) {
	t.Parallel()
	reason := regexp.MustCompile("^Use `([^`]+)`\\. Removed after (20\\d\\d-\\d\\d-\\d\\d)\\.$")
	check := func(coordinate string, directives ast.DirectiveList, members func(name string) bool) {
		if !isDeprecated(directives) {
			return
		}
		said := reason.FindStringSubmatch(directives.ForName("deprecated").Arguments.ForName("reason").Value.Raw)
		if assert.NotNil(t, said, "%s: write Use `…`. Removed after 2027-05-01.", coordinate) {
			name, _, _ := strings.Cut(said[1], " ")
			assert.True(t, members(strings.TrimSuffix(name, ":")), "%s: there is no %s", coordinate, name)
			_, err := time.Parse(time.DateOnly, said[2])
			assert.NoError(t, err, coordinate)
		}
	}
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			check(definition.Name+"."+field.Name, field.Directives, func(name string) bool {
				other := definition.Fields.ForName(name)
				return other != nil && !isDeprecated(other.Directives)
			})
			for _, argument := range field.Arguments {
				check(definition.Name+"."+field.Name+"("+argument.Name+":)", argument.Directives, func(name string) bool {
					other := field.Arguments.ForName(name)
					return other != nil && !isDeprecated(other.Directives)
				})
			}
		}
	}
}

// jsonFields are where JSON is meant: what the merchant wrote, and what is sent back as it is.
var jsonFields = []string{"Product.customInputs", "Product.extensions", "Product.shopperAttributes", "Promotion.restDetails", "PromotionPreview.restDetails",
	"AuthoredProduct.customInputs", "AuthoredProduct.extensions", "AuthoredProduct.shopperAttributes",
	"AuthoredAttributeValue.value"}

// A value whose members are known has a type.
func TestJSONIsOnlyTheMerchants(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		for _, field := range definition.Fields {
			if coordinate := definition.Name + "." + field.Name; definition.Kind == ast.Object && field.Type.Name() == "JSON" && !isDeprecated(field.Directives) {
				assert.Contains(t, jsonFields, coordinate, "%s is JSON: give it a type", coordinate)
			}
		}
	}
}

// An input of which exactly one member is meant says so.
func TestInputsOfOneMemberAreOneOf(t *testing.T) {
	t.Parallel()
	for _, definition := range ownTypes() {
		if definition.Kind == ast.InputObject && definition.Directives.ForName("oneOf") == nil {
			assert.NotRegexp(t, `(?i)exactly one (of|member)`, definition.Description, "%s: add @oneOf", definition.Name)
		}
	}
	for _, name := range []string{"TextFilter", "ProductIdentifierInput", "CatalogNodeIdentifierInput", "AuthoredProductIdentifierInput", "PromotionDetailsInput"} {
		assert.NotNil(t, graphtest.Schema().Types[name].Directives.ForName("oneOf"), name)
	}
}
