package rule

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"portico/store"
)

// ItemConditions returns the conditions in their order, without the lists around them: all must match in any case.
func (p *Promotion) ItemConditions() []Condition {
	leaves, _ := conditionLeaves(p.Conditions, maxConditionDepth, []Condition{})
	return leaves
}

// conditionLeaves appends the conditions of a list or object to found. ok is false if one can never match, such as one without a plain
// value or nested more than depth lists deep.
func conditionLeaves(raw json.RawMessage, depth int, found []Condition) (leaves []Condition, ok bool) {
	if depth == 0 {
		return found, false
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		ok = true
		for _, item := range list {
			var possible bool
			found, possible = conditionLeaves(item, depth-1, found)
			ok = ok && possible
		}
		return found, ok
	}
	var c struct {
		Condition
		And   json.RawMessage `json:"and"`
		Value json.RawMessage `json:"value"`
	}
	switch err := json.Unmarshal(raw, &c); {
	case err != nil:
		return found, false
	case c.And != nil: // checked when it was written
		return conditionLeaves(c.And, depth, found)
	case c.Condition == (Condition{}) && c.Value == nil:
		return found, true
	}
	c.Condition.Value, ok = plainText(c.Value)
	if ok {
		found = append(found, c.Condition)
	}
	return found, ok
}

// Exclusion are the conditions of a promotion, decoded once for many items.
type Exclusion []Condition

// Exclusion returns the conditions by which the promotion excludes items; empty if it excludes none.
func (p *Promotion) Exclusion() Exclusion {
	if len(p.Conditions) == 0 {
		return nil
	}
	leaves, ok := conditionLeaves(p.Conditions, maxConditionDepth, nil)
	if !ok {
		return nil
	}
	return leaves
}

// ItemFields are the extensions of a product, by template and field.
type ItemFields map[string]map[string]json.RawMessage

// DecodeItemFields decodes extensions; nil for what is no object of fields by template.
func DecodeItemFields(extensions json.RawMessage) (fields ItemFields) {
	if json.Unmarshal(extensions, &fields) != nil {
		return nil
	}
	return fields
}

// Excludes reports whether all conditions match an item. No condition excludes nothing.
func (e Exclusion) Excludes(fields ItemFields) bool {
	return len(e) > 0 && !slices.ContainsFunc(e, func(c Condition) bool {
		template, ok := fields[c.Template]
		if !ok { // as extensions of products name their templates
			template = fields["products("+c.Template+")"]
		}
		return !sameValue(c.Type, template[c.Field], c.Value)
	})
}

// sameValue compares a field with the value of a condition. Numbers compare as numbers, dates as times.
func sameValue(kind ConditionType, field json.RawMessage, want string) bool {
	has, ok := plainText(field)
	if !ok {
		return false
	}
	switch kind {
	case ConditionInteger, ConditionFloat:
		a, okA := decimal(has)
		b, okB := decimal(want)
		return okA && okB && a.Cmp(b) == 0
	case ConditionDate:
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
