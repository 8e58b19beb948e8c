package executor_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/graphtest"
)

// drawing draws valid queries from the whole schema: repeated and aliased fields, fragments on
// objects and interfaces, @skip and @include, and arguments as literals, variables and nulls, many
// of them invalid. Ids and texts are those of the shop.
type drawing struct {
	*rand.Rand
	schema *ast.Schema
	ids    map[string][]string // by type
	texts  []string
	pages  []int // numbers to draw from; nil for small ones, of which some are refused

	inVariable bool // values are part of a variable's value
	left       int  // fields that may still be drawn
	booleans   int  // variables that conditions may depend on
	conditions int  // how rare they are
	fragments  []string
	named      map[string]string // fragments by the type they are on
	defined    []string          // variables
	values     graphtest.Variables
}

// query returns an operation and the values of its variables.
func (d *drawing) query() (string, graphtest.Variables) {
	d.left, d.fragments, d.named, d.defined, d.values = 3+d.IntN(60), nil, map[string]string{}, nil, graphtest.Variables{}
	d.booleans, d.conditions = 2, 24
	if d.IntN(4) == 0 {
		d.booleans, d.conditions = 20, 5
	}
	set := d.selection(d.schema.Query, 0)
	if d.IntN(12) == 0 { // the schema too
		set = strings.TrimSuffix(set, "}") + `schema: __type(name: "Product") { name ...Kind } settings { currency } }`
		d.fragments = append(d.fragments, "fragment Kind on __Type { kind fields { name } }")
	}
	head := "query"
	if len(d.defined) > 0 {
		head += " Drawn(" + strings.Join(d.defined, ", ") + ")"
	}
	return head + " " + set + "\n" + strings.Join(d.fragments, "\n"), d.values
}

func (d *drawing) selection(of *ast.Definition, depth int) string {
	var b strings.Builder
	b.WriteString("{")
	for i, n := 0, 1+d.IntN(6); i < n || i == 0; i++ {
		b.WriteString(" " + d.selected(of, depth, i))
	}
	if d.IntN(12) == 0 && depth > 0 { // one that is left out, beside what is not
		b.WriteString(` gone: __typename @include(if: false)`)
	}
	return b.String() + " }"
}

func (d *drawing) selected(of *ast.Definition, depth, i int) string {
	switch {
	case d.IntN(10) == 0 && depth < 5:
		return "... " + d.condition() + d.selection(of, depth+1)
	case d.IntN(8) == 0 && depth < 5:
		on := d.typeWithin(of)
		return "... on " + on.Name + " " + d.condition() + d.selection(on, depth+1)
	case d.IntN(14) == 0 && depth > 0 && depth < 5:
		return "..." + d.fragment(of, depth) + " " + d.condition()
	}
	return d.field(of, depth, i)
}

// typeWithin returns a type for a fragment: the type itself, an implementation of an interface, or
// an interface of an object.
func (d *drawing) typeWithin(of *ast.Definition) *ast.Definition {
	if of.IsAbstractType() {
		kinds := d.schema.GetPossibleTypes(of)
		return kinds[d.IntN(len(kinds))]
	}
	if len(of.Interfaces) > 0 && d.IntN(2) == 0 {
		return d.schema.Types[of.Interfaces[0]]
	}
	return of
}

// fragment returns the name of a fragment on a type, the same one each time.
func (d *drawing) fragment(of *ast.Definition, depth int) string {
	if name, ok := d.named[of.Name]; ok {
		return name
	}
	name := "F" + strconv.Itoa(len(d.fragments))
	d.fragments = append(d.fragments, "") // its place, for those within it
	place := len(d.fragments) - 1
	set := d.selection(of, max(depth+1, 4))
	d.named[of.Name] = name
	d.fragments[place] = "fragment " + name + " on " + of.Name + " " + set
	return name
}

func (d *drawing) field(of *ast.Definition, depth, i int) string {
	d.left--
	var fields []*ast.FieldDefinition
	for _, field := range of.Fields {
		deep := d.schema.Types[field.Type.Name()].IsCompositeType()
		if !strings.HasPrefix(field.Name, "__") && (!deep || depth < 6 && d.left > 0) {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 || d.IntN(15) == 0 {
		return "__typename"
	}
	field := fields[d.IntN(len(fields))]
	if below := fieldsBelow(d.schema, of); len(below) > 0 && d.IntN(3) == 0 && d.left > 0 && depth < 6 { // go on down
		field = below[d.IntN(len(below))]
	}
	arguments := d.arguments(field)
	text := field.Name + arguments + " " + d.condition()
	if arguments != "" || d.IntN(6) == 0 || d.schema.Types[field.Type.Name()].IsCompositeType() || of.Kind == ast.Interface || d.IntN(3) == 0 {
		// an alias, so that fields with different arguments do not conflict
		text = fmt.Sprintf("%s%d_%d: %s", string(rune('a'+d.IntN(3))), depth, 1000*i+d.IntN(1000), text)
	}
	if below := d.schema.Types[field.Type.Name()]; below.IsCompositeType() {
		text += d.selection(below, depth+1)
	}
	return text
}

func fieldsBelow(schema *ast.Schema, of *ast.Definition) (list []*ast.FieldDefinition) {
	for _, field := range of.Fields {
		if !strings.HasPrefix(field.Name, "__") && schema.Types[field.Type.Name()].IsCompositeType() {
			list = append(list, field)
		}
	}
	return list
}

// condition returns a @skip or @include, or mostly "".
func (d *drawing) condition() string {
	switch d.IntN(d.conditions) {
	case 0:
		return "@skip(if: false) "
	case 1:
		return "@include(if: true) "
	case 2:
		return "@include(if: $" + d.boolean() + ") "
	case 3:
		return "@skip(if: $" + d.boolean() + ") @include(if: true) "
	}
	return ""
}

// boolean returns a variable of the conditions.
func (d *drawing) boolean() string {
	name := "if" + strconv.Itoa(d.IntN(d.booleans))
	if _, ok := d.values[name]; !ok {
		d.defined = append(d.defined, "$"+name+": Boolean!")
		d.values[name] = d.IntN(2) == 0
	}
	return name
}

func (d *drawing) arguments(field *ast.FieldDefinition) string {
	var list []string
	for _, argument := range field.Arguments {
		if rare := map[string]int{"after": 40, "before": 40, "last": 16, "offset": 6}[argument.Name]; rare > 0 && d.IntN(rare) > 0 {
			continue
		}
		if !argument.Type.NonNull && d.IntN(4) > 0 || argument.DefaultValue != nil && d.IntN(2) == 0 {
			continue
		}
		value := d.value(d.about(field, argument.Name), argument.Type, 0)
		if value != nil || !argument.Type.NonNull {
			list = append(list, argument.Name+": "+literal(value))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// about returns the type that an argument's ids belong to, or its name.
func (d *drawing) about(field *ast.FieldDefinition, argument string) string {
	if of, ok := map[string]string{"productId": "Product", "productIds": "Product", "promotionId": "Promotion", "catalogId": "Catalog", "hierarchyId": "AuthoredHierarchy"}[argument]; ok {
		return of
	}
	if argument == "id" {
		return field.Type.Name()
	}
	return argument
}

// id returns an id of a type, or sometimes an invalid one.
func (d *drawing) id(of string) string {
	known := d.ids[of]
	if len(known) == 0 || d.IntN(8) == 0 {
		known = d.ids[""]
	}
	return known[d.IntN(len(known))]
}

// enumValue is a literal without quotes, as a variable is.
type enumValue string

// value returns a value of an input type; nil is null. Some are variables, and few are empty lists and objects that the type
// does not allow.
func (d *drawing) value(name string, of *ast.Type, depth int) any {
	switch odds := d.IntN(400); {
	case odds == 0:
		return map[string]any{}
	case odds == 1:
		return []any{}
	case odds < 60 && !d.inVariable:
		return d.variable(name, of, depth)
	}
	if !of.NonNull && d.IntN(10) == 0 {
		return nil
	}
	if of.Elem != nil {
		list := []any{}
		for range d.IntN(4) {
			if element := d.value(name, of.Elem, depth+1); element != nil {
				list = append(list, element)
			}
		}
		return list
	}
	definition := d.schema.Types[of.NamedType]
	switch definition.Kind {
	case ast.Enum:
		return enumValue(definition.EnumValues[d.IntN(len(definition.EnumValues))].Name)
	case ast.InputObject:
		return d.object(definition, depth)
	}
	switch of.NamedType {
	case "Int":
		if name == "offset" {
			return d.IntN(4)
		}
		if len(d.pages) > 0 {
			return d.pages[d.IntN(len(d.pages))]
		}
		return []int{0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 10, 12, 101}[d.IntN(16)]
	case "Boolean":
		return d.IntN(2) == 0
	case "DateTime":
		return []string{"2024-05-30T00:00:00Z", "2030-01-01T00:00:00.000Z", "2001-02-03T04:05:06", "yesterday"}[d.IntN(4)]
	case "ID":
		return d.id(name)
	}
	return d.texts[d.IntN(len(d.texts))]
}

// variable returns a new variable for a value of a type. It may be absent or null. One for a place without null may be of a
// nullable type with a default.
func (d *drawing) variable(about string, of *ast.Type, depth int) any {
	d.inVariable = true
	defer func() { d.inVariable = false }()
	name, kind := "v"+strconv.Itoa(len(d.defined)), of.String()
	value := d.value(about, of, depth)
	odds := d.IntN(12)
	if of.NonNull && value != nil && odds < 4 {
		kind = strings.TrimSuffix(kind, "!") + " = " + literal(value)
	}
	d.defined = append(d.defined, "$"+name+": "+kind)
	switch {
	case odds == 0 && value != nil: // null where the type, but not always the place, allows it
		d.values[name] = nil
	case odds == 1 && (!of.NonNull || strings.Contains(kind, "=")): // absent
	default:
		d.values[name] = plainValue(value)
	}
	return enumValue("$" + name)
}

func (d *drawing) object(of *ast.Definition, depth int) any {
	if named, ok := strings.CutSuffix(of.Name, "IdentifierInput"); ok && d.IntN(4) > 0 {
		return map[string]any{"id": d.value(named, ast.NonNullNamedType("ID", nil), depth+1)}
	}
	object := map[string]any{}
	one := of.Name == "TextFilter" // which takes exactly one member
	for _, i := range d.Perm(len(of.Fields)) {
		member := of.Fields[i]
		if len(object) > 0 && one || !member.Type.NonNull && (d.IntN(3) > 0 && !one || depth > 2) {
			continue
		}
		kind := *member.Type
		kind.NonNull = kind.NonNull || one
		value := d.value(member.Name, &kind, depth+1)
		if value == nil && (one || member.Type.NonNull) {
			continue
		}
		object[member.Name] = value
	}
	if len(object) == 0 && one {
		object["eq"] = d.texts[0]
	}
	return object
}

// literal returns a value as a literal of a document.
func literal(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case enumValue:
		return string(value)
	case string:
		return strconv.Quote(value)
	case []any:
		list := make([]string, len(value))
		for i, element := range value {
			list[i] = literal(element)
		}
		return "[" + strings.Join(list, ", ") + "]"
	case map[string]any:
		var list []string
		for name, member := range value {
			list = append(list, name+": "+literal(member))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return fmt.Sprint(value)
}

// plainValue returns a value as JSON variables have it.
func plainValue(value any) any {
	switch value := value.(type) {
	case enumValue:
		return string(value)
	case []any:
		for i, element := range value {
			value[i] = plainValue(element)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = plainValue(member)
		}
	}
	return value
}
