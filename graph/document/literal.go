package document

import (
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// anyValue is the scalar that takes every value.
const anyValue = "JSON"

// literalsOfScalars adds to the library's rule ValuesOfCorrectType what that lets pass (gqlparser 2.5.64): its case for objects
// looks at the members alone, so {} is a value of every scalar and enum; it takes an Int of 64 bits; and it leaves out custom
// scalars, of which all but JSON are strings here. Both rules run, and have one name, by which the server recognizes
// errors about values.
var literalsOfScalars = core.Rule{Name: "ValuesOfCorrectType", RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, value *ast.Value) {
		of := value.Definition
		if of == nil || value.ExpectedType == nil || of.Kind != ast.Scalar && of.Kind != ast.Enum || of.Name == anyValue {
			return
		}
		_, err := strconv.ParseInt(value.Raw, 10, 32)
		_, err64 := strconv.ParseInt(value.Raw, 10, 64)
		switch {
		case of.Name == "Int" && value.Kind == ast.IntValue && err != nil && err64 == nil: // the library reports longer ones
			addError(core.Message("Int cannot represent non 32-bit signed integer value: %s", value.Raw), core.At(value.Position))
		case !needsNoError(value) && of.Name == "Secret":
			addError(core.Message(`Expected value of type "%s". Send a string.`, value.ExpectedType), core.At(value.Position)) // never what was sent
		case !needsNoError(value) && isCustom(of):
			addError(core.Message(`Expected value of type "%s", found %s. Send a string.`, value.ExpectedType, value), core.At(value.Position))
		case !needsNoError(value):
			addError(core.Message(`Expected value of type "%s", found %s.`, value.ExpectedType, value), core.At(value.Position))
		}
	})
}}

// isCustom reports whether a type is a scalar of this schema, not of the specification.
func isCustom(of *ast.Definition) bool {
	return of.Kind == ast.Scalar && !of.OneOf("Int", "Float", "String", "Boolean", "ID")
}

// needsNoError reports whether a literal is right, or the library's rule reports it. It does not look at the size of an Int.
func needsNoError(value *ast.Value) bool {
	custom := isCustom(value.Definition)
	switch value.Kind {
	case ast.Variable, ast.NullValue, ast.StringValue, ast.BlockValue:
		return true
	case ast.ListValue:
		return !custom || value.ExpectedType.Elem != nil // the library reports lists for its own scalars and enums
	case ast.ObjectValue:
		return !custom && len(value.Children) > 0 // the library reports each member
	}
	return !custom
}
