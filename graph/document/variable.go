package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/limits"
	"portico/store"
)

// coerceVariables decodes the values of an operation's variables, which are valid JSON, and coerces them by the specification. That
// is stricter than the library: an Int is a whole number and not a string, an enum value is exactly one of its names. Errors name
// the variable and the member, in the message and in extensions.argument, and never a value. A value is decoded along its type, so
// what has another type is not decoded. maxName is the length of a name that an error repeats, in bytes. Variables that the
// operation does not define are ignored.
func coerceVariables(
	schema *ast.Schema, operation *ast.OperationDefinition, given map[string]json.RawMessage, maxName int,
) (map[string]any, gqlerror.List) {
	c := &variableCoercer{schema: schema, maxName: maxName}
	var nulls []string // variables that are null and may be
	coerced := make(map[string]any, len(operation.VariableDefinitions))
	for _, definition := range operation.VariableDefinitions {
		at := valuePath{name: definition.Variable}
		value, ok := given[definition.Variable]
		switch {
		case ok:
			if string(value) == "null" && !definition.Type.NonNull {
				nulls = append(nulls, definition.Variable)
			}
			c.Decoder, c.isLong = jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true)), len(value) > longVariable
			coerced[definition.Variable] = c.value(&at, definition.Type)
		case definition.Type.NonNull && definition.DefaultValue == nil:
			c.addError(&at, "must be given: it is "+withArticle(definition.Type.String()))
		}
		if c.isFull() {
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

// variableCoercer decodes and coerces values, and collects errors.
type variableCoercer struct {
	*jsontext.Decoder // of a variable
	schema            *ast.Schema
	maxName           int  // bytes of a name that an error repeats
	isLong            bool // the variable
	errs              gqlerror.List
}

// longVariable is the size in bytes from which a variable is not read beyond its first error.
const longVariable = 64 << 10

// isFull reports whether the rest is not read: there are more errors than a response has, or one in a long variable.
func (c *variableCoercer) isFull() bool {
	return len(c.errs) > limits.MaxErrors || c.isLong && len(c.errs) > 0
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
	if c.isFull() {
		return
	}
	path := at.path()
	c.errs = append(c.errs, &gqlerror.Error{
		Message:    fmt.Sprintf("The variable $%s %s.", strings.Join(path, "."), what),
		Extensions: map[string]any{"code": store.Invalid, "argument": path},
	})
}

// value decodes and coerces a value of a type. After an error it returns anything.
func (c *variableCoercer) value(at *valuePath, of *ast.Type) any {
	kind := c.PeekKind()
	if kind == 'n' {
		_ = c.SkipValue()
		if of.NonNull {
			c.addError(at, "must not be null: it is "+withArticle(of.String()))
		}
		return nil
	}
	if of.Elem != nil {
		if kind != '[' { // the specification coerces a single value to a list of one
			return []any{c.value(at, of.Elem)}
		}
		_, _ = c.ReadToken()
		list := []any{}
		for !c.isFull() && c.PeekKind() != ']' {
			list = append(list, c.value(&valuePath{strconv.Itoa(len(list)), at}, of.Elem))
		}
		if !c.isFull() {
			_, _ = c.ReadToken()
		}
		return list
	}
	definition := c.schema.Types[of.NamedType]
	if definition.Kind == ast.InputObject && kind == '{' {
		return c.object(at, definition)
	}
	if definition.Kind == ast.InputObject {
		if c.addError(at, "must be "+withArticle(definition.Name)+", got "+jsonKind(kind)); !c.isFull() {
			_ = c.SkipValue()
		}
		return nil
	}
	value, _ := c.ReadValue()
	if definition.Kind == ast.Enum {
		return c.enum(at, definition, value)
	}
	return c.scalar(at, of.NamedType, value)
}

// scalar coerces a scalar. JSON takes every value, other custom scalars a string, whose content is checked when it is
// unmarshalled.
func (c *variableCoercer) scalar(at *valuePath, name string, value jsontext.Value) any {
	kind := value.Kind()
	switch {
	case name == anyValue:
		decoded, _ := store.DecodeNumbers(value)
		return decoded
	case name == "Int" && kind == '0':
		if n, whole := wholeNumber(value); whole && int64(int32(n)) == n {
			return n
		}
		c.addError(at, "must be an Int, a whole number from -2147483648 to 2147483647")
		return nil
	case name == "Float" && kind == '0':
		number := json.Number(value)
		if _, err := number.Float64(); err == nil {
			return number
		}
	case name == "ID" && kind == '0':
		if len(bytes.Trim(value, "-0123456789")) == 0 {
			return string(value)
		}
		c.addError(at, "must be an ID, a string or an integer, got a number with a fraction or an exponent")
		return nil
	case name == "Boolean" && (kind == 't' || kind == 'f'):
		return kind == 't'
	case kind == '"' && name != "Int" && name != "Float" && name != "Boolean":
		return store.TextOf(value)
	}
	c.addError(at, "must be "+withArticle(name)+", got "+jsonKind(kind))
	return nil
}

// wholeNumber parses 5, 5.0 and 5e0, which are the same number.
func wholeNumber(value jsontext.Value) (int64, bool) {
	if len(value) > 32 { // no 64-bit integer needs as many characters
		return 0, false
	}
	number := json.Number(value)
	if n, err := number.Int64(); err == nil {
		return n, true
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
func (c *variableCoercer) enum(at *valuePath, definition *ast.Definition, value jsontext.Value) any {
	if value.Kind() == '"' && limits.MinLength(value) <= c.maxName {
		if name := store.TextOf(value); definition.EnumValues.ForName(name) != nil {
			return name
		}
	}
	c.addError(at, "must be "+withArticle(definition.Name)+": "+enumNames(definition))
	return nil
}

// object decodes and coerces an input object. It leaves out __typename: some clients send back objects that they received.
func (c *variableCoercer) object(at *valuePath, definition *ast.Definition) any {
	_, _ = c.ReadToken()
	object, before := map[string]any{}, len(c.errs)
	members, nulls := 0, 0
	for !c.isFull() && c.PeekKind() != '}' {
		name := c.name()
		if name == "__typename" {
			_ = c.SkipValue()
			continue
		}
		if c.PeekKind() == 'n' {
			nulls++
		}
		below := valuePath{name, at}
		if _, again := object[name]; !again {
			members++
		}
		if member := definition.Fields.ForName(name); member != nil {
			object[name] = c.value(&below, member.Type)
			continue
		}
		if c.addError(&below, "is not a member of "+definition.Name+", which has "+memberNames(definition)); !c.isFull() {
			_ = c.SkipValue()
		}
	}
	if c.isFull() {
		return object
	}
	_, _ = c.ReadToken()
	if definition.Directives.ForName("oneOf") != nil && (members != 1 || nulls > 0) {
		c.errs = c.errs[:before]
		c.addError(at, "must have exactly one of "+memberNames(definition)+", which must not be null")
		return object
	}
	for _, member := range definition.Fields {
		if _, given := object[member.Name]; !given && member.Type.NonNull && member.DefaultValue == nil {
			c.addError(&valuePath{member.Name, at}, "must be given: it is "+withArticle(member.Type.String()))
		}
	}
	return object
}

// name reads the name of a member; "…" for a name that is longer than any of the schema may be.
func (c *variableCoercer) name() string {
	raw, _ := c.ReadValue()
	if limits.MinLength(raw) <= c.maxName {
		if name := store.TextOf(raw); len(name) <= c.maxName {
			return name
		}
	}
	return "…"
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

// jsonKind names the JSON type of a value, for messages. The value itself may be a secret.
func jsonKind(kind jsontext.Kind) string {
	switch kind {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	case '{':
		return "an object"
	}
	return "a boolean"
}
