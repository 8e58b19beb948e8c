package document

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/limits"
	"portico/store"
)

// coerceVariables coerces the values of an operation's variables by the specification, which is stricter
// than the library: an Int is a whole number and not a string, an enum value is exactly one of its
// names. Errors name the variable and the member, in the message and in extensions.argument. Variables
// that the operation does not define are ignored.
func coerceVariables(schema *ast.Schema, operation *ast.OperationDefinition, given map[string]any) (map[string]any, gqlerror.List) {
	c := &variableCoercer{schema: schema}
	var nulls []string // variables that are null and may be
	coerced := make(map[string]any, len(operation.VariableDefinitions))
	for _, definition := range operation.VariableDefinitions {
		at := valuePath{name: definition.Variable}
		value, ok := given[definition.Variable]
		switch {
		case ok:
			if value == nil && !definition.Type.NonNull {
				nulls = append(nulls, definition.Variable)
			}
			coerced[definition.Variable] = c.value(&at, definition.Type, value)
		case definition.Type.NonNull && definition.DefaultValue == nil:
			c.addError(&at, "must be given: it is "+withArticle(definition.Type.String()))
		}
		if len(c.errs) > limits.MaxErrors {
			break
		}
	}
	if len(nulls) > 0 {
		c.checkNulls(operation, nulls)
	}
	return coerced, c.errs
}

// checkNulls adds an error for each variable that is null and stands where null is not allowed. A variable of a nullable type
// may stand there if it, or the place, has a default, which holds if the variable is absent.
func (c *variableCoercer) checkNulls(operation *ast.OperationDefinition, nulls []string) {
	w := valueWalker{entered: map[*ast.FragmentDefinition]bool{}, visit: func(path []string, _ *ast.Position, value *ast.Value) {
		if value == nil || value.Kind != ast.Variable || value.ExpectedType == nil || !value.ExpectedType.NonNull {
			return
		}
		if i := slices.Index(nulls, value.Raw); i >= 0 {
			nulls = slices.Delete(nulls, i, i+1) // one error for each variable
			c.addError(&valuePath{name: value.Raw}, fmt.Sprintf("must not be null: %s is %s. Send a value, or leave the variable out for the default",
				strings.Join(path, "."), withArticle(value.ExpectedType.String())))
		}
	}}
	w.operation(operation)
}

// variableCoercer coerces values and collects errors.
type variableCoercer struct {
	schema *ast.Schema
	errs   gqlerror.List
}

// valuePath is the path of a value: a variable's name, or an index or member below a parent.
type valuePath struct {
	name   string
	parent *valuePath
}

// path returns the names from the variable to the value.
func (p *valuePath) path() (path []string) {
	for ; p != nil; p = p.parent {
		path = append(path, p.name)
	}
	slices.Reverse(path)
	return path
}

// addError adds an error about the value at a path, unless there are more than limits.MaxErrors.
func (c *variableCoercer) addError(at *valuePath, what string) {
	if len(c.errs) > limits.MaxErrors {
		return
	}
	path := at.path()
	c.errs = append(c.errs, &gqlerror.Error{
		Message:    fmt.Sprintf("The variable $%s %s.", strings.Join(path, "."), what),
		Extensions: map[string]any{"code": store.Invalid, "argument": path},
	})
}

// value coerces a value of a type. It changes lists and objects in place. After an error it returns what was sent.
func (c *variableCoercer) value(at *valuePath, of *ast.Type, value any) any {
	if value == nil {
		if of.NonNull {
			c.addError(at, "must not be null: it is "+withArticle(of.String()))
		}
		return nil
	}
	if of.Elem != nil {
		list, ok := value.([]any)
		if !ok { // the specification coerces a single value to a list of one
			return []any{c.value(at, of.Elem, value)}
		}
		for i, element := range list {
			if len(c.errs) > limits.MaxErrors {
				break
			}
			list[i] = c.value(&valuePath{strconv.Itoa(i), at}, of.Elem, element)
		}
		return list
	}
	switch definition := c.schema.Types[of.NamedType]; definition.Kind {
	case ast.Enum:
		return c.enum(at, definition, value)
	case ast.InputObject:
		return c.object(at, definition, value)
	}
	return c.scalar(at, of.NamedType, value)
}

// scalar coerces a scalar. JSON takes every value, other custom scalars a string, whose content is checked when it is
// unmarshalled.
func (c *variableCoercer) scalar(at *valuePath, name string, value any) any {
	switch name {
	case "Int":
		if number, ok := value.(json.Number); ok {
			if n, whole := wholeNumber(number); whole && int64(int32(n)) == n {
				return n
			}
			c.addError(at, "must be an Int, a whole number from -2147483648 to 2147483647")
			return value
		}
	case "Float":
		if number, ok := value.(json.Number); ok {
			if _, err := number.Float64(); err == nil {
				return value
			}
		}
	case "ID":
		if number, ok := value.(json.Number); ok {
			if strings.Trim(string(number), "-0123456789") == "" {
				return string(number)
			}
			c.addError(at, "must be an ID, a string or an integer, got a number with a fraction or an exponent")
			return value
		}
		if _, ok := value.(string); ok {
			return value
		}
	case "Boolean":
		if _, ok := value.(bool); ok {
			return value
		}
	default:
		if _, ok := value.(string); ok || name == anyValue {
			return value
		}
	}
	c.addError(at, "must be "+withArticle(name)+", got "+jsonKind(value))
	return value
}

// wholeNumber parses 5, 5.0 and 5e0, which are the same number.
func wholeNumber(number json.Number) (int64, bool) {
	if n, err := number.Int64(); err == nil {
		return n, true
	}
	if len(number) > 32 { // no 64-bit integer needs as many characters
		return 0, false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(string(number)), "e"); ok && len(strings.TrimLeft(exponent, "+-")) > 2 {
		return 0, false // 1e999999999 would take all memory
	}
	exact, ok := new(big.Rat).SetString(string(number))
	if !ok || !exact.IsInt() || !exact.Num().IsInt64() {
		return 0, false
	}
	return exact.Num().Int64(), true
}

// enum coerces a value of an enum: the exact name of one of its values.
func (c *variableCoercer) enum(at *valuePath, definition *ast.Definition, value any) any {
	if name, ok := value.(string); ok && definition.EnumValues.ForName(name) != nil {
		return value
	}
	names := make([]string, len(definition.EnumValues))
	for i, known := range definition.EnumValues {
		names[i] = known.Name
	}
	c.addError(at, "must be "+withArticle(definition.Name)+": "+strings.Join(names, ", "))
	return value
}

// object coerces an input object. It reports wrong members of an input that is @oneOf, then unknown members, then each known one.
func (c *variableCoercer) object(at *valuePath, definition *ast.Definition, value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		c.addError(at, "must be "+withArticle(definition.Name)+", got "+jsonKind(value))
		return value
	}
	if !isOneMember(definition, object) {
		c.addError(at, "must have exactly one of "+memberNames(definition)+", which must not be null")
		return object
	}
	for _, name := range unknownMembers(definition, object) {
		c.addError(&valuePath{name, at}, "is not a member of "+definition.Name+", which has "+memberNames(definition))
	}
	for _, member := range definition.Fields {
		below := valuePath{member.Name, at}
		inner, ok := object[member.Name]
		switch {
		case ok:
			object[member.Name] = c.value(&below, member.Type, inner)
		case member.Type.NonNull && member.DefaultValue == nil:
			c.addError(&below, "must be given: it is "+withArticle(member.Type.String()))
		}
	}
	return object
}

// isOneMember reports whether an object has exactly one member and that is not null, if its type is @oneOf.
func isOneMember(definition *ast.Definition, object map[string]any) bool {
	if definition.Directives.ForName("oneOf") == nil {
		return true
	}
	members, nulls := 0, 0
	for name, value := range object {
		if name == "__typename" {
			continue
		}
		members++
		if value == nil {
			nulls++
		}
	}
	return members == 1 && nulls == 0
}

// unknownMembers returns the members that the type does not have, sorted, except __typename: some
// clients send back objects that they received.
func unknownMembers(definition *ast.Definition, object map[string]any) (names []string) {
	for name := range object {
		if definition.Fields.ForName(name) == nil && name != "__typename" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func memberNames(definition *ast.Definition) string {
	names := make([]string, len(definition.Fields))
	for i, field := range definition.Fields {
		names[i] = field.Name
	}
	return strings.Join(names, ", ")
}

func withArticle(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// jsonKind returns the JSON type of a value, for messages. The value itself may be a secret.
func jsonKind(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "null"
}
