package rule

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/authoring"
)

// ConditionType is the type of a condition's value, as it is written.
type ConditionType string

// The types.
const (
	ConditionString  ConditionType = "string"
	ConditionInteger ConditionType = "integer"
	ConditionBoolean ConditionType = "boolean"
	ConditionFloat   ConditionType = "float"
	ConditionDate    ConditionType = "date"
)

// Condition says that a field of a product's extensions has a value.
type Condition struct {
	Template string        `json:"template"`
	Field    string        `json:"field"`
	Type     ConditionType `json:"type"`
	Value    string        `json:"value"` // numbers and booleans as text
}

// conditionList is a list of conditions that must all match.
type conditionList struct {
	And json.RawMessage `json:"and"`
}

// conditionOrList has the members of both.
type conditionOrList struct {
	Condition
	conditionList
}

// The limits of conditions.
const (
	maxConditions     = 1000 // with the lists and objects around them
	maxConditionDepth = 10   // nested lists
)

// checkCondition checks conditions: an object with a list "and", nested up to maxConditionDepth,
// whose leaves name a template, a field of it, a type and a value of that type. A list stands for
// "and". left is the number of conditions, lists and objects that may follow; it counts down.
func checkCondition(f *authoring.Validator, member string, raw json.RawMessage, depth int, left *int) {
	*left--
	if *left < 0 {
		if *left == -1 { // report once
			f.Rule(member, "exceeds the limit of %d conditions", maxConditions)
		}
		return
	}
	if depth == 0 {
		f.Rule(member, "exceeds the limit of %d nested lists", maxConditionDepth)
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && list != nil {
		for i, item := range list {
			checkCondition(f, member+"."+strconv.Itoa(i), item, depth-1, left)
		}
		return
	}
	var c map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil || c == nil {
		f.Add(member, "must be an object or an array, got %s", authoring.JSONKind(raw))
		return
	}
	and, nested := c["and"]
	shape := reflect.TypeFor[conditionOrList]()
	if nested {
		shape = reflect.TypeFor[conditionList]()
	}
	for _, unknown := range store.UnknownMembers(raw, shape) {
		f.Errors = append(f.Errors, unknown.At(strings.Split(member, ".")...))
	}
	if nested {
		if _, ok := f.Array(member+".and", and); ok {
			checkCondition(f, member+".and", and, depth, left)
		}
		return
	}
	if len(c) > 0 {
		checkConditionLeaf(f, member, c)
	}
}

// checkConditionLeaf checks a condition on a field, given its members.
func checkConditionLeaf(f *authoring.Validator, member string, c map[string]json.RawMessage) {
	texts := map[string]string{}
	for _, name := range []string{"template", "field", "type"} {
		var text string
		if raw := c[name]; raw != nil && json.Unmarshal(raw, &text) != nil {
			f.Add(member+"."+name, "must be a string, got %s", authoring.JSONKind(raw))
			return
		}
		f.Required(member+"."+name, text, authoring.MaxName)
		texts[name] = text
	}
	kinds := map[string]func(string) bool{
		"string":  func(string) bool { return true },
		"integer": func(text string) bool { _, err := strconv.ParseInt(text, 10, 64); return err == nil },
		"boolean": func(text string) bool { return text == "true" || text == "false" },
		"float":   func(text string) bool { return json.Valid([]byte(text)) && isNumber(text) },
		"date":    func(text string) bool { _, err := store.ReadTime(text); return err == nil },
	}
	holds, known := kinds[texts["type"]]
	if !known {
		if texts["type"] != "" {
			f.OneOf(member+".type", texts["type"], "string", "integer", "boolean", "float", "date")
		}
		return
	}
	raw := c["value"]
	if raw == nil {
		f.Rule(member+".value", "is required")
		return
	}
	text := string(raw) // numbers and booleans need no quotes
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // raw is valid JSON
	} else if texts["type"] == "string" || texts["type"] == "date" || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		f.Add(member+".value", "must be a string, got %s", authoring.JSONKind(raw))
		return
	}
	f.Text(member+".value", text, authoring.MaxName)
	if !holds(text) {
		f.Rule(member+".value", "must be of the type %s, got %q", texts["type"], store.Abbreviate(text))
	}
}

// isNumber reports whether a JSON value is a number.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9')
}
