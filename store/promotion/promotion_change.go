package promotion

import (
	"bytes"
	"encoding/json"

	"portico/store"
	"portico/store/authoring"
)

// PromotionChange names what a promotion is to be, as both surfaces give it;
// nil leaves a member as it is. Currencies, TargetCatalogs and Conditions are
// members of the schema, which a given Schema that has them overrides; JSON
// null takes one away. By its JSON a second use of an idempotency key is told
// from another input.
type PromotionChange struct {
	Name                   *string         `json:"name,omitempty"`
	Description            *string         `json:"description,omitempty"`
	Type                   *PromotionType  `json:"promotionType,omitempty"`
	Enabled                *bool           `json:"enabled,omitempty"`
	Automatic              *bool           `json:"automatic,omitempty"`
	Start                  *string         `json:"start,omitempty"` // a date (00:00 UTC), a date and HH:MM, or RFC 3339
	End                    *string         `json:"end,omitempty"`   // likewise
	MinCartValue           []GivenAmount   `json:"minCartValue,omitempty"`
	MaxDiscountValue       []GivenAmount   `json:"maxDiscountValue,omitempty"`
	MaxApplicationsPerCart *int            `json:"maxApplicationsPerCart,omitempty"` // 0 for any number
	Schema                 json.RawMessage `json:"schema,omitempty"`
	Currencies             json.RawMessage `json:"currencies,omitempty"`
	TargetCatalogs         []string        `json:"targetCatalogs,omitempty"`
	Conditions             json.RawMessage `json:"conditions,omitempty"`
}

// check tells every amount that is none.
func (c PromotionChange) check() error {
	faults := append(checkAmounts("min_cart_value", c.MinCartValue), checkAmounts("max_discount_value", c.MaxDiscountValue)...)
	if len(faults) > 0 {
		return faults
	}
	return nil
}

func (c PromotionChange) apply(source *promotionSource) {
	authoring.Assign(&source.Name, c.Name)
	if c.Description != nil {
		source.Description = c.Description
	}
	authoring.Assign(&source.PromotionType, (*string)(c.Type))
	authoring.Assign(&source.Start, c.Start)
	authoring.Assign(&source.End, c.End)
	authoring.AssignList(&source.MinCartValue, sourceAmounts(c.MinCartValue))
	authoring.AssignList(&source.MaxDiscountValue, sourceAmounts(c.MaxDiscountValue))
	if c.Enabled != nil {
		source.Enabled = *c.Enabled
	}
	if c.Automatic != nil {
		source.Automatic = *c.Automatic
	}
	if c.MaxApplicationsPerCart != nil {
		source.MaxApplicationsPerCart = *c.MaxApplicationsPerCart
	}
	var given map[string]json.RawMessage
	if len(c.Schema) > 0 && string(c.Schema) != "null" {
		source.Schema = compactJSON(c.Schema)
		_ = json.Unmarshal(c.Schema, &given) // whether it is an object is checked later
	}
	for _, beside := range []struct {
		name string
		raw  json.RawMessage
	}{{"currencies", c.Currencies}, {"target_catalogs", rawStrings(c.TargetCatalogs)}, {"conditions", c.Conditions}} {
		_, there := given[beside.name]
		if given != nil && saysNothing(beside.name, beside.raw) {
			continue
		}
		if !there && len(beside.raw) > 0 {
			source.Schema = setMember(source.Schema, beside.name, beside.raw)
		}
	}
}

// rawStrings are texts as JSON; nil stays nil.
func rawStrings(list []string) json.RawMessage {
	if list == nil {
		return nil
	}
	raw, _ := json.Marshal(list) // strings always marshal
	return raw
}

func compactJSON(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// setMember gives an object a member, in place of the one it has; null takes
// it away.
func setMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	if len(object) == 0 {
		object = json.RawMessage("{}")
	}
	var has map[string]json.RawMessage
	if json.Unmarshal(object, &has) != nil || has == nil {
		return object // which is told later
	}
	if _, there := has[name]; there {
		delete(has, name)
		object = store.Encode(has)
	}
	if string(value) == "null" {
		return object
	}
	return withMember(object, name, compactJSON(value))
}
