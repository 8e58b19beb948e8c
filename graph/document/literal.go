package document

import (
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
)

const (
	anyValue    = "JSON"   // the scalar that takes every value
	secretValue = "Secret" // the scalar that takes variables alone: a member of this type is a secret
)

// valueNames names kinds of literals, for messages.
var valueNames = map[ast.ValueKind]string{
	ast.IntValue: "a whole number", ast.FloatValue: "a number", ast.StringValue: "a string", ast.BlockValue: "a string",
	ast.BooleanValue: "a boolean", ast.NullValue: "null", ast.EnumValue: "a name", ast.ListValue: "a list", ast.ObjectValue: "an object",
}

// literalsOfCorrectType replaces the library's rule of the name (gqlparser 2.5.64), by which the server recognizes errors about
// values. Its messages have the types of values and the names of members, and never a value: that may be a secret. It also knows
// that an Int has 32 bits, that {} is no scalar, and that all custom scalars but JSON are strings here.
var literalsOfCorrectType = core.Rule{Name: "ValuesOfCorrectType", RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, value *ast.Value) {
		definition, of := value.Definition, value.ExpectedType
		if definition == nil || of == nil || value.Kind == ast.Variable {
			return
		}
		report := func(why string) {
			addError(core.Message(`Expected value of type "%s", %s.`, of, why), core.At(value.Position))
		}
		switch {
		case value.Kind == ast.NullValue:
			if of.NonNull {
				report("found null")
			}
		case value.Kind == ast.ListValue && of.Elem != nil: // each element is visited
		case definition.Name == secretValue:
			addError(core.Message("The value is secret: send it by a variable."), core.At(value.Position))
		case definition.Name == anyValue:
			if _, err := value.Value(nil); err != nil {
				report("found a number of more than 64 bits")
			}
		case definition.Kind == ast.InputObject && value.Kind == ast.ObjectValue:
			checkMembers(value, addError)
		case definition.Kind == ast.Enum:
			if value.Kind != ast.EnumValue || definition.EnumValues.ForName(value.Raw) == nil {
				report("found " + valueNames[value.Kind] + ". Send one of these, without quotes: " + enumNames(definition))
			}
		case definition.Name == "Int" && value.Kind == ast.IntValue:
			if _, err := strconv.ParseInt(value.Raw, 10, 32); err != nil {
				report("a whole number from -2147483648 to 2147483647")
			}
		case isLiteralOf(definition, value.Kind):
		case definition.Kind == ast.InputObject || definition.OneOf("Int", "Float", "String", "Boolean", "ID"):
			report("found " + valueNames[value.Kind])
		default: // a scalar of this schema
			report("found " + valueNames[value.Kind] + ". Send a string")
		}
	})
}}

// isLiteralOf reports whether literals of a kind are values of a scalar other than Int. No literal is one of an input object.
func isLiteralOf(definition *ast.Definition, kind ast.ValueKind) bool {
	switch definition.Name {
	case "Float":
		return kind == ast.IntValue || kind == ast.FloatValue
	case "Boolean":
		return kind == ast.BooleanValue
	}
	isText := kind == ast.StringValue || kind == ast.BlockValue
	return definition.Kind == ast.Scalar && (isText && definition.Name != "Int" || definition.Name == "ID" && kind == ast.IntValue)
}

// checkMembers reports the members of an input object that are missing, unknown, or not the only one of an input that is @oneOf.
func checkMembers(value *ast.Value, addError core.AddErrFunc) {
	definition, known := value.Definition, []string{}
	for _, field := range definition.Fields {
		known = append(known, field.Name)
		if field.Type.NonNull && field.DefaultValue == nil && value.Children.ForName(field.Name) == nil {
			addError(core.Message(`Field "%s.%s" of required type "%s" was not provided.`, definition.Name, field.Name, field.Type),
				core.At(value.Position))
		}
	}
	if definition.Directives.ForName("oneOf") != nil {
		if len(value.Children) != 1 {
			addError(core.Message(`OneOf Input Object "%s" must specify exactly one key.`, definition.Name), core.At(value.Position))
		} else if only := value.Children[0]; only.Value.Kind == ast.NullValue {
			addError(core.Message(`Field "%s.%s" must be non-null.`, definition.Name, only.Name), core.At(only.Value.Position))
		}
	}
	for _, child := range value.Children {
		if definition.Fields.ForName(child.Name) == nil {
			addError(core.Message(`Field "%s" is not defined by type "%s".`, child.Name, definition.Name),
				core.SuggestListQuoted("Did you mean", child.Name, known), core.At(child.Position))
		}
	}
}

// enumNames lists the values of an enum.
func enumNames(definition *ast.Definition) string {
	names := make([]string, len(definition.EnumValues))
	for i, known := range definition.EnumValues {
		names[i] = known.Name
	}
	return strings.Join(names, ", ")
}
