package rule

import (
	"encoding/json"
	"math/big"
	"strings"

	"portico/store"
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

// ItemConditions returns the conditions in their order, without the lists around them: all must match in any case.
func (p *Promotion) ItemConditions() []Condition {
	return conditionLeaves(p.Conditions, maxConditionDepth, []Condition{})
}

func conditionLeaves(raw json.RawMessage, depth int, found []Condition) []Condition {
	if depth == 0 || len(raw) == 0 {
		return found
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list {
			found = conditionLeaves(item, depth-1, found)
		}
		return found
	}
	var c struct {
		Condition
		And   json.RawMessage `json:"and"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(raw, &c) != nil || c.And != nil { // checked when it was written
		return conditionLeaves(c.And, depth, found)
	}
	if text, ok := plainText(c.Value); ok {
		c.Condition.Value = text
		found = append(found, c.Condition)
	}
	return found
}

// Excludes reports whether the promotion's conditions exclude an item with these extensions, an object
// of fields by template. All conditions must match. No condition excludes nothing.
func (p *Promotion) Excludes(extensions json.RawMessage) bool {
	if len(p.Conditions) == 0 {
		return false
	}
	var fields map[string]map[string]json.RawMessage
	if json.Unmarshal(extensions, &fields) != nil {
		return false
	}
	matched, leaves := matchConditions(p.Conditions, fields, maxConditionDepth)
	return matched && leaves > 0
}

// matchConditions reports whether all conditions match, and how many there are.
func matchConditions(raw json.RawMessage, fields map[string]map[string]json.RawMessage, depth int) (matched bool, leaves int) {
	if depth == 0 {
		return false, 0
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list {
			ok, n := matchConditions(item, fields, depth-1)
			if leaves += n; !ok {
				return false, leaves
			}
		}
		return true, leaves
	}
	var c map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil {
		return false, 0
	}
	if and, nested := c["and"]; nested {
		return matchConditions(and, fields, depth)
	}
	if len(c) == 0 {
		return true, 0
	}
	var leaf struct{ Template, Field, Type string }
	_ = json.Unmarshal(raw, &leaf) // checked when it was written
	template, ok := fields[leaf.Template]
	if !ok { // as extensions of products name their templates
		template = fields["products("+leaf.Template+")"]
	}
	return sameValue(leaf.Type, template[leaf.Field], c["value"]), 1
}

// sameValue compares a field with the value of a condition. Numbers compare as numbers, dates as times.
func sameValue(kind string, field, value json.RawMessage) bool {
	has, hasOK := plainText(field)
	want, wantOK := plainText(value)
	if !hasOK || !wantOK {
		return false
	}
	switch kind {
	case "integer", "float":
		a, okA := decimal(has)
		b, okB := decimal(want)
		return okA && okB && a.Cmp(b) == 0
	case "date":
		a, errA := store.ReadTime(has)
		b, errB := store.ReadTime(want)
		return errA == nil && errB == nil && a.Equal(b)
	}
	return has == want
}

// decimal parses a decimal number. Exponents could name numbers of any size.
func decimal(text string) (*big.Rat, bool) {
	if len(text) > 64 || strings.ContainsAny(text, "eE/_xXpP") {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// plainText returns a string, number or boolean as text; false for all else.
func plainText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] == 'n' || raw[0] == '{' || raw[0] == '[' {
		return "", false
	}
	var text string
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	}
	return string(raw), true
}
