package exchange

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/exchange/check"
)

// JSONSchema is a JSON Schema, as far as the import format needs it.
type JSONSchema struct {
	Dialect     string `json:"$schema,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Type        any    `json:"type,omitempty"` // a type or a list of types
	Const       string `json:"const,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
	Default     any    `json:"default,omitempty"`

	Minimum    *int64                 `json:"minimum,omitempty"`
	Maximum    *int64                 `json:"maximum,omitempty"`
	Items      *JSONSchema            `json:"items,omitempty"`
	Properties map[string]*JSONSchema `json:"properties,omitempty"`
	Required   []string               `json:"required,omitempty"`
	Additional any                    `json:"additionalProperties,omitempty"` // false, or the schema of map values
	OneOf      []*JSONSchema          `json:"oneOf,omitempty"`
}

// ImportSchema returns the JSON Schema of a line of an import file, with one
// alternative for each resource type, and one for deletions. Members and their types come from the types
// that lines are decoded into. Required members, enums and ranges come from their
// Check methods, which it calls with values that are wrong.
func ImportSchema() *JSONSchema {
	schema := &JSONSchema{
		Dialect: "https://json-schema.org/draft/2020-12/schema", Title: "Portico import line",
		Description: "One resource of an import file. The file has one JSON object on each line.",
	}
	for _, kind := range check.Kinds {
		schema.OneOf = append(schema.OneOf, kindSchema(kind))
	}
	schema.OneOf = append(schema.OneOf, deletionSchema())
	return schema
}

// deletionSchema is the schema of a line that deletes a resource.
func deletionSchema() *JSONSchema {
	schema := &JSONSchema{Title: "deletion", Description: "Deletes a resource.", Type: "object", Additional: false, Required: []string{"type", "id", "deleted"},
		Properties: map[string]*JSONSchema{"type": {}, "id": {Type: "string"}, "deleted": {Enum: []any{true}}}}
	for _, name := range check.DeletableKinds() {
		schema.Properties["type"].Enum = append(schema.Properties["type"].Enum, name)
	}
	return schema
}

// relations are the members whose rules depend on other members. A schema cannot
// state such rules, so they become descriptions.
var relations = map[string]string{
	"product-price.attributes.currencies":    "Required without sales.",
	"product.attributes.updated_at":          "The default is created_at.",
	"node.attributes.updated_at":             "The default is created_at.",
	"hierarchy.attributes.updated_at":        "The default is created_at.",
	"product.attributes.components.*.max":    "Must be at least min.",
	"stock.total":                            "Must be available plus allocated.",
	"promotion_code.uses":                    "Remaining uses, at most max_uses. The default is max_uses.",
	"promotion_code.used":                    "Must be 0 with max_uses or uses.",
	"code_usage.units_asked":                 "Must be at least units. The default is units.",
	"synonym.attributes.term":                "Required if kind is one_way, else absent.",
	"synonym.attributes.terms":               "2 to 20 terms, or 1 to 20 if kind is one_way.",
	"redirect.attributes.to":                 "Required without relationships.target, else absent.",
	"redirect.relationships.target":          "Required without attributes.to, else absent.",
	"hierarchy.attributes.curated_products":  "Must be empty. Curated products belong to nodes.",
	"hierarchy.attributes.custom_attributes": "Must be empty. Attributes belong to nodes.",
	"hierarchy.attributes.position":          "Must be absent. Positions belong to nodes.",
}

// kindSchema is the schema of a resource type. It checks five sources: an empty one, whose errors name required members; one with
// all members zero, whose errors name required members of optional objects; and three with wrong values, whose errors are
// the rules.
func kindSchema(kind authoring.Kind) *JSONSchema {
	b := schemaBuilder{kind: kind.Name, empty: map[string]bool{}, zero: map[string]bool{}, rules: map[string]string{}}
	for _, fault := range checkWith(kind, nil) {
		path := memberPath(fault.Path)
		if relations[kind.Name+"."+path] != "" {
			continue
		}
		for ; path != ""; path = path[:max(0, strings.LastIndexByte(path, '.'))] { // and the objects that it is in
			b.empty[path] = true
		}
	}
	for _, fault := range checkWith(kind, &filler{}) {
		b.zero[memberPath(fault.Path)] = true
	}
	for _, wrong := range []filler{{text: "?", number: math.MaxInt32 << 30, raw: "[]"}, {number: -1}, {}} { // above and below all ranges, and absent
		for _, fault := range checkWith(kind, &wrong) {
			path := memberPath(fault.Path)
			b.rules[path] = cmp.Or(b.rules[path], fault.Detail)
		}
	}
	schema := b.schema("", reflect.TypeOf(kind.Create()).Elem())
	schema.Title = kind.Name
	schema.Properties["type"] = &JSONSchema{Const: kind.Name}
	schema.Required = append([]string{"type"}, schema.Required...)
	return schema
}

// checkWith returns the errors of a new source of a kind; with a filler, every
// member of it is set.
func checkWith(kind authoring.Kind, f *filler) store.Errors {
	source := kind.Create()
	if f != nil {
		f.fill(reflect.ValueOf(source).Elem())
	}
	faults := &authoring.Validator{}
	source.Check(faults)
	return faults.Errors
}

// mapKey is the key of the only value of a filled map. It is valid as currency.
const mapKey = "USD"

// filler sets all members of a source to the same values, with one element in lists and maps.
type filler struct {
	text   string
	number int64
	raw    string // JSON; empty for {}
}

func (f *filler) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				f.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(cmp.Or(f.raw, "{}")))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		f.fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(mapKey), element)
	case reflect.String:
		v.SetString(f.text)
	case reflect.Int, reflect.Int64:
		v.SetInt(f.number)
	}
}

// memberPath is a path with [] for the elements of lists and * for the keys of
// maps.
func memberPath(parts []string) string {
	path := slices.Clone(parts)
	for i, part := range path {
		switch part {
		case "0":
			path[i] = "[]"
		case mapKey:
			path[i] = "*"
		}
	}
	return strings.Join(path, ".")
}

// schemaBuilder builds the schema of a resource type from its Go type and from
// what Check says about members, by their paths.
type schemaBuilder struct {
	kind        string
	empty, zero map[string]bool   // wrong in an empty source, and as the zero value of a source with all members
	rules       map[string]string // error messages
}

// isRequired reports whether a member of type shape must be set: it is missed in an empty source, or its zero value is wrong.
func (b *schemaBuilder) isRequired(path string, shape reflect.Type) bool {
	scalar := schemaTypes[shape.Kind()] != "" && shape.Kind() != reflect.Struct && shape.Kind() != reflect.Map && shape.Kind() != reflect.Slice
	link, isData := strings.CutSuffix(path, ".data") // a required link needs its data
	return relations[b.kind+"."+path] == "" && (b.empty[path] || scalar && b.zero[path] || isData && b.empty[link])
}

// schema returns the schema of the member at path, which has the Go type shape. The empty path is the whole source.
func (b *schemaBuilder) schema(path string, shape reflect.Type) *JSONSchema {
	if shape.Kind() == reflect.Pointer {
		return b.schema(path, shape.Elem())
	}
	child := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	s := &JSONSchema{Type: schemaTypes[shape.Kind()]}
	switch {
	case shape == reflect.TypeFor[json.RawMessage]():
		s.Type = nil
		if strings.HasPrefix(b.rules[path], "must be an object") {
			s.Type = "object"
		}
	case reflect.PointerTo(shape).Implements(reflect.TypeFor[json.Unmarshaler]()): // code.User
		s.Type = []string{"string", "array"}
		s.Items = &JSONSchema{Type: "string"}
	case shape.Kind() == reflect.Struct:
		s.Properties, s.Additional = map[string]*JSONSchema{}, false
		for _, field := range reflect.VisibleFields(shape) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || !field.IsExported() {
				continue
			}
			member := b.schema(child(name), field.Type)
			if b.isRequired(child(name), field.Type) {
				s.Required = append(s.Required, name)
			} else {
				member.optional(field.Type.Kind())
			}
			s.Properties[name] = member
		}
	case shape.Kind() == reflect.Slice:
		s.Items = b.schema(child("[]"), shape.Elem())
	case shape.Kind() == reflect.Map:
		s.Additional = b.schema(child("*"), shape.Elem())
	case relations[b.kind+"."+path] == "":
		s.restrict(b.rules[path])
	}
	s.Description = cmp.Or(relations[b.kind+"."+path], s.Description)
	return s
}

var schemaTypes = map[reflect.Kind]string{
	reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array",
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer",
}

// optional allows null, and adds the default of a boolean or a number.
func (s *JSONSchema) optional(kind reflect.Kind) {
	switch types := s.Type.(type) {
	case string:
		s.Type = []string{types, "null"}
	case []string:
		s.Type = append(types, "null")
	}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	switch kind {
	case reflect.Bool:
		s.Default = false
	case reflect.Int, reflect.Int64:
		s.Default = 0
	}
}

// restrict adds the rule that an error message states. It becomes the
// description, unless it is an enum or a range.
func (s *JSONSchema) restrict(message string) {
	rule, _, _ := strings.Cut(message, ", not ")
	rule, _, _ = strings.Cut(rule, ", got ")
	var low, high int64
	if values, ok := strings.CutPrefix(rule, "must be one of "); ok {
		for value := range strings.SplitSeq(values, ", ") {
			s.Enum = append(s.Enum, value)
		}
	} else if n, _ := fmt.Sscanf(rule, "must be between %d and %d", &low, &high); n == 2 {
		s.Minimum, s.Maximum = &low, &high
	} else if _, hasRule := strings.CutPrefix(rule, "must "); hasRule {
		s.Description = strings.ToUpper(rule[:1]) + rule[1:] + "."
	}
}
