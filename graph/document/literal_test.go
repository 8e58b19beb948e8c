package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph/limits"
	"portico/store/storetest/testkit"
)

// enumValue is the value of an enum as a literal.
type enumValue string

// isValid reports whether a value may be sent for a type, as the specification defines the coercion of inputs. A literal may
// be an enum value, where a variable has a string.
func isValid(schema *ast.Schema, of *ast.Type, value any, literal bool) bool {
	if value == nil {
		return !of.NonNull
	}
	if of.Elem != nil {
		list, isList := value.([]any)
		if !isList {
			return isValid(schema, of.Elem, value, literal)
		}
		return !slices.ContainsFunc(list, func(element any) bool { return !isValid(schema, of.Elem, element, literal) })
	}
	definition := schema.Types[of.NamedType]
	text, isText := value.(string)
	switch definition.Kind {
	case ast.Enum:
		name, isName := value.(enumValue)
		if !literal {
			name, isName = enumValue(text), isText
		}
		return isName && definition.EnumValues.ForName(string(name)) != nil
	case ast.InputObject:
		object, isObject := value.(map[string]any)
		if !isObject {
			return false
		}
		nulls := 0
		for name, member := range object {
			field := definition.Fields.ForName(name)
			if field == nil || !isValid(schema, field.Type, member, literal) {
				return false
			}
			if member == nil {
				nulls++
			}
		}
		for _, field := range definition.Fields {
			if _, given := object[field.Name]; !given && field.Type.NonNull && field.DefaultValue == nil {
				return false
			}
		}
		return definition.Directives.ForName("oneOf") == nil || len(object) == 1 && nulls == 0
	}
	number, isNumber := value.(json.Number)
	whole := isNumber && strings.Trim(string(number), "-0123456789") == ""
	switch of.NamedType {
	case "Int":
		_, err := strconv.ParseInt(string(number), 10, 32)
		return whole && err == nil
	case "Float":
		return isNumber
	case "ID":
		return isText || whole
	case "Boolean":
		_, isBoolean := value.(bool)
		return isBoolean
	case "JSON":
		return true
	case "Secret":
		return isText && !literal
	}
	return isText
}

// write writes a value as a literal.
func write(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(value)
	case []any:
		texts := make([]string, len(value))
		for i, element := range value {
			texts[i] = write(element)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case map[string]any:
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(value)) {
			texts = append(texts, name+": "+write(value[name]))
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	return fmt.Sprint(value)
}

// drawnValues draws values of a type, of which some are wrong at any depth.
type drawnValues struct {
	*rand.Rand
	schema *ast.Schema
}

func (d drawnValues) wrong() any {
	return []any{nil, "", "a text", json.Number("5"), json.Number("2147483648"), json.Number("-2147483649"), json.Number("5.5"), true, enumValue("NO_SUCH_VALUE"),
		[]any{}, []any{nil}, []any{[]any{}}, map[string]any{}, map[string]any{"in": nil}, []any{map[string]any{}}, map[string]any{"unknown": json.Number("1")}}[d.IntN(16)]
}

func (d drawnValues) value(of *ast.Type, depth int) any {
	if d.IntN(12) == 0 {
		return d.wrong()
	}
	if of.Elem != nil {
		list := make([]any, d.IntN(3))
		for i := range list {
			list[i] = d.value(of.Elem, depth+1)
		}
		return list
	}
	definition := d.schema.Types[of.NamedType]
	switch {
	case definition.Kind == ast.Enum:
		return enumValue(definition.EnumValues[d.IntN(len(definition.EnumValues))].Name)
	case definition.Kind == ast.InputObject:
		object := map[string]any{}
		one := definition.Directives.ForName("oneOf") != nil && d.IntN(4) > 0
		for _, i := range d.Perm(len(definition.Fields)) {
			field := definition.Fields[i]
			if one && len(object) == 1 || !one && !(field.Type.NonNull && field.DefaultValue == nil) && (depth > 3 || d.IntN(3) > 0) {
				continue
			}
			object[field.Name] = d.value(field.Type, depth+1)
		}
		return object
	}
	switch of.NamedType {
	case "Int":
		return json.Number([]string{"5", "0", "-2147483648", "2147483647"}[d.IntN(4)])
	case "Float":
		return json.Number("0.5")
	case "Boolean":
		return d.IntN(2) == 0
	}
	return "2024-01-01T00:00:00Z"
}

// sent returns a value as JSON variables have it.
func sent(value any) any {
	switch value := value.(type) {
	case enumValue:
		return string(value)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = sent(value[i])
		}
		return list
	case map[string]any:
		members := map[string]any{}
		for name := range value {
			members[name] = sent(value[name])
		}
		return members
	}
	return value
}

// places returns each type of an argument or of a member of an input, once, and its list.
func places(schema *ast.Schema) map[string]*ast.Type {
	found := map[string]*ast.Type{}
	add := func(of *ast.Type) { found[of.String()] = of }
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if definition.Kind == ast.InputObject {
				add(field.Type)
			}
			for _, argument := range field.Arguments {
				add(argument.Type)
			}
		}
	}
	return found
}

// Values are refused where the specification refuses them, and accepted elsewhere, at each place of the schema: as literals and
// in variables.
func TestValuesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	processor := NewProcessor(Config{Schema: Schema(), Limits: limits.Defaults()})
	d := drawnValues{rand.New(rand.NewPCG(testkit.Seed(t), 1)), processor.Schema}
	all := places(processor.Schema)
	require.Greater(t, len(all), 100)
	refused, accepted := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of := all[name]
		for i := range testkit.QuickOrFull(40, 600) {
			value := d.value(of, 0)
			if i < 16 {
				value = d.wrong()
			}
			query := fmt.Sprintf(`query ($v: %s = %s) { __typename }`, of, write(value))
			valid := isValid(processor.Schema, of, value, true)
			_, literalErrs := processor.parse(query)
			literalErrs = slices.DeleteFunc(literalErrs, func(err *gqlerror.Error) bool { return err.Rule == "NoUnusedVariables" })
			require.Equal(t, valid, len(literalErrs) == 0, "%s: %v", query, literalErrs)

			operation, err := parser.ParseQuery(&ast.Source{Input: query})
			require.NoError(t, err)
			plain := sent(value)
			validPlain := isValid(processor.Schema, of, plain, false)
			raw, err := json.Marshal(plain)
			require.NoError(t, err)
			_, errs := coerceVariables(processor.Schema, operation.Operations[0], map[string]json.RawMessage{"v": raw}, 96)
			require.Equal(t, validPlain, len(errs) == 0, "%s: %v", query, errs)
			for _, err := range append(literalErrs, errs...) {
				require.NotRegexp(t, `map\[|<Invalid>|<nil>|invalid json`, err.Message)
			}
			if valid {
				accepted++
			} else {
				refused++
			}
		}
	}
	require.Greater(t, refused, accepted/10)
	require.Greater(t, accepted, refused/10)
}

// Variables belong to operations. A fragment takes the defaults of the operation that runs.
func TestVariablesBelongToOperations(t *testing.T) {
	t.Parallel()
	processor := NewProcessor(Config{Schema: Schema(), Limits: limits.Defaults()})
	_, errs := processor.parse(`{ ...F } fragment F($n: Int = 1) on Query { products(first: $n) { totalCount } }`)
	require.Len(t, errs, 1)
	require.Equal(t, `Expected "on", found (. Fragments have no variables of their own; define them in the operation.`, errs[0].Message)
	require.Equal(t, []gqlerror.Location{{Line: 1, Column: 21}}, errs[0].Locations)

	const fragment = `fragment F on Query { products(filter: {search: $text}) { totalCount } }`
	document, errs := processor.parse(`query A($text: String) { ...F } query B($text: String = "oak") { ...F } ` + fragment)
	require.Empty(t, errs)
	for _, operation := range document.Operations {
		coerced, errs := coerceVariables(processor.Schema, operation, nil, 96)
		require.Empty(t, errs)
		variables, err := validator.VariableValues(processor.Schema, operation, coerced)
		require.NoError(t, err)
		arguments := document.Fragments[0].SelectionSet[0].(*ast.Field).ArgumentMap(variables)
		want := map[string]any{"A": map[string]any{}, "B": map[string]any{"search": "oak"}}[operation.Name]
		require.Equal(t, want, arguments["filter"], operation.Name)
	}
}

// A document that is no GraphQL is refused with a message about its characters.
func TestLexicalErrorsNameTheCharacters(t *testing.T) {
	t.Parallel()
	processor := NewProcessor(Config{Schema: Schema(), Limits: limits.Defaults()})
	random := rand.New(rand.NewPCG(testkit.Seed(t), 1))
	parts := []string{"{", "}", "(", ")", "[", "]", ":", "a", "query", "fragment", "on", "...", "$", "@", "!", "=", "1", "1.", "-", "00", `"a"`, `"`, `"""`, "#", "%", "\\", "\x00", "|", "&", "null", `"\q"`, `"\u12"`, " "}
	lexical := 0
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		_, errs := processor.parse("{ a " + text.String())
		for _, err := range errs {
			require.NotContains(t, err.Message, "<Invalid>", text.String())
			if err.Message == "Unterminated string." {
				lexical++
			}
		}
	}
	require.Positive(t, lexical)
}
