package catalog

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
)

// AttributeSource declares an attribute of one's own in an import file. Its id is the key that
// products and nodes use.
type AttributeSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Label         string            `json:"label"`
		Labels        map[string]string `json:"labels,omitempty"` // by BCP 47 tag
		AttributeType AttributeType     `json:"attribute_type"`
		Unit          string            `json:"unit,omitempty"` // of numbers
		Filterable    bool              `json:"filterable"`
		Searchable    bool              `json:"searchable"`
		Sortable      bool              `json:"sortable"` // of numbers and dates
	} `json:"attributes"`
}

// AttributeType is the type of an attribute's values.
type AttributeType string

// The types.
const (
	AttributeText    AttributeType = "text"
	AttributeNumber  AttributeType = "number"
	AttributeBoolean AttributeType = "boolean"
	AttributeDate    AttributeType = "date" // a day: 2026-05-01
	AttributeList    AttributeType = "list" // of texts
)

// Ordered reports whether values have an order: they are numbers or dates.
func (t AttributeType) Ordered() bool { return t == AttributeNumber || t == AttributeDate }

// The limits of attributes of one's own.
const (
	maxAttributes      = 200  // of a product
	maxNodeAttributes  = 50   // of a node, whose attributes stay in memory
	maxAttributeTexts  = 100  // of a list
	maxAttributeText   = 255  // bytes of a text
	maxAttributeNumber = 1e15 // in both directions
)

func (a *AttributeSource) Key() string { return a.ID }

func (a *AttributeSource) Check(f *authoring.Validator) {
	f.ID("id", &a.ID)
	own := &a.Attributes
	f.Required("attributes.label", own.Label, maxAttributeText)
	canonicalTags(f, "attributes.labels", own.Labels)
	for _, tag := range slices.Sorted(maps.Keys(own.Labels)) {
		f.Locale("attributes.labels."+tag, tag)
		f.Text("attributes.labels."+tag, own.Labels[tag], maxAttributeText)
	}
	f.OneOf("attributes.attribute_type", string(own.AttributeType), string(AttributeText), string(AttributeNumber), string(AttributeBoolean), string(AttributeDate), string(AttributeList))
	f.Text("attributes.unit", own.Unit, maxAttributeText)
	if own.Unit != "" && own.AttributeType != AttributeNumber {
		f.Add("attributes.unit", "must be empty unless the type is number")
	}
	if own.Sortable && !own.AttributeType.Ordered() {
		f.Add("attributes.sortable", "must be false unless the type is number or date")
	}
}

// AttributeValue is a value of an attribute.
type AttributeValue struct {
	Texts []string // as filters write it; several only for a list
	Order int64    // sorts numbers and dates; 0 for other types
}

// NoOrder is below the Order of every value.
const NoOrder = math.MinInt64

// Value reads a value. ok is false for a value of another type, which the attribute may
// have had before.
func (a *AttributeSource) Value(raw json.RawMessage) (v AttributeValue, ok bool) {
	shape, _ := attributeShape(raw)
	if !a.Fits(shape) {
		return v, false
	}
	if shape == AttributeList {
		err := json.Unmarshal(raw, &v.Texts)
		v.Texts = store.Unique(v.Texts)
		return v, err == nil && len(v.Texts) > 0
	}
	text := string(raw)
	if raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
		return v, false
	}
	text, order, ok := a.Attributes.AttributeType.Parse(text)
	return AttributeValue{[]string{text}, order}, ok
}

// Fits reports whether values of a shape, as attributeShape returns it, are of the attribute's type.
// A date is a text too.
func (a *AttributeSource) Fits(shape AttributeType) bool {
	return shape == a.Attributes.AttributeType || shape == AttributeDate && a.Attributes.AttributeType == AttributeText
}

// Parse returns a value of the type, or of an element of a list, as filters write it, and its order.
func (t AttributeType) Parse(text string) (canonical string, order int64, ok bool) {
	switch t {
	case AttributeNumber:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.Abs(n) > maxAttributeNumber {
			return "", 0, false
		}
		return strconv.FormatFloat(n+0, 'f', -1, 64), numberOrder(n), true // n+0 is 0 for -0
	case AttributeDate:
		day, err := time.Parse(time.DateOnly, text)
		return text, day.Unix() / 86400, err == nil
	case AttributeBoolean:
		return text, 0, text == "true" || text == "false"
	}
	return text, 0, true
}

// numberOrder returns an integer that sorts as the number does.
func numberOrder(n float64) int64 {
	if n == 0 {
		return 0 // also of -0
	}
	order := int64(math.Float64bits(n)) // of positive numbers it sorts as they do
	if order < 0 {
		order ^= math.MaxInt64 // of negative ones in reverse
	}
	return order
}

// attributeShape returns the type that a value, which is JSON and not null, has by itself, and what is wrong with it. A text that
// is a day is a date.
func attributeShape(raw json.RawMessage) (shape AttributeType, wrong string) {
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", "must be a text"
		}
		if _, _, isDate := AttributeDate.Parse(text); isDate {
			return AttributeDate, ""
		}
		return AttributeText, wrongText(text)
	case 't', 'f':
		return AttributeBoolean, ""
	case '[':
		var texts []string
		if err := json.Unmarshal(raw, &texts); err != nil || len(texts) == 0 || len(texts) > maxAttributeTexts {
			return "", "must be a list of 1 to " + strconv.Itoa(maxAttributeTexts) + " texts"
		}
		for _, text := range texts {
			if wrong := wrongText(text); wrong != "" {
				return AttributeList, wrong
			}
		}
		return AttributeList, ""
	case '{':
		return "", "must be a text, a number, a boolean or a list of texts, got an object"
	}
	if _, _, ok := AttributeNumber.Parse(string(raw)); !ok {
		return "", "must be between -1e15 and 1e15, got " + store.Abbreviate(string(raw))
	}
	return AttributeNumber, ""
}

// wrongText returns what is wrong with a text of a value; "" if nothing is.
func wrongText(text string) string {
	switch {
	case text == "" || len(text) > maxAttributeText:
		return "must have 1 to " + strconv.Itoa(maxAttributeText) + " bytes, got " + strconv.Itoa(len(text))
	case !store.IsStorableText(text):
		return "must be UTF-8 text without NUL"
	}
	return ""
}

// CustomAttributes are the values of a product or node of attributes of one's own, as JSON by key of the declaration.
type CustomAttributes map[string]json.RawMessage

// Attributed is a source that may have attributes of one's own: a product or a node.
type Attributed interface{ OwnAttributes() CustomAttributes }

// Uses returns the uses of attributes, by key. The values must have passed check.
func (values CustomAttributes) Uses() []AttributeUse {
	var uses []AttributeUse
	for _, key := range slices.Sorted(maps.Keys(values)) {
		shape, _ := attributeShape(values[key])
		uses = append(uses, AttributeUse{key, shape})
	}
	return uses
}

// Authored returns the values by key.
func (values CustomAttributes) Authored() (list []AuthoredAttributeValue) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list = append(list, AuthoredAttributeValue{key, values[key]})
	}
	return list
}

// AuthoredAttributeValue is a value of a declared attribute, as authored.
type AuthoredAttributeValue struct {
	Key   string
	Value json.RawMessage
}

// AttributeUse is the attribute of a value, and the type of the value, which may be another than the attribute declares.
type AttributeUse struct {
	Key   string
	Shape AttributeType
}

// check checks values without their declarations. It drops those that are null.
func (values CustomAttributes) check(f *authoring.Validator, most int) {
	const member = "attributes.custom_attributes"
	maps.DeleteFunc(values, func(_ string, raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" })
	if len(values) > most {
		f.Add(member, "must have at most %d attributes, got %d", most, len(values))
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if canonical, ok := store.CanonicalID(key); !ok || canonical != key || strings.Contains(key, ".") {
			f.Add(member, "must have keys that are %s, got %q", store.IDRule, store.Abbreviate(key))
			continue
		}
		if _, wrong := attributeShape(values[key]); wrong != "" {
			f.Add(member+"."+key, "%s", wrong)
		}
	}
}
