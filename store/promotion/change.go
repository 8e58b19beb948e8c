package promotion

import (
	"bytes"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/promotion/rule"
)

// PromotionChange names the members to set; nil leaves a member unchanged. Currencies,
// TargetCatalogs and Conditions are members of the schema; those of a given Schema take
// precedence. Nulls are the members that an update clears. Idempotency keys compare changes by
// their JSON.
type PromotionChange struct {
	Name                   *string             `json:"name,omitempty"`
	Description            *string             `json:"description,omitempty"`
	Type                   *rule.PromotionType `json:"promotionType,omitempty"`
	Enabled                *bool               `json:"enabled,omitempty"`
	Automatic              *bool               `json:"automatic,omitempty"`
	Start                  *string             `json:"start,omitempty"` // a date (00:00 UTC), a date and HH:MM, or RFC 3339
	End                    *string             `json:"end,omitempty"`   // likewise
	MinCartValue           []rule.AmountInput  `json:"minCartValue,omitempty"`
	MaxDiscountValue       []rule.AmountInput  `json:"maxDiscountValue,omitempty"`
	MaxApplicationsPerCart *int                `json:"maxApplicationsPerCart,omitempty"` // 0 for no limit
	Schema                 json.RawMessage     `json:"schema,omitempty"`
	Currencies             json.RawMessage     `json:"currencies,omitempty"`
	TargetCatalogs         []string            `json:"targetCatalogs,omitempty"`
	Conditions             json.RawMessage     `json:"conditions,omitempty"`     // REST only
	ItemConditions         []rule.Condition    `json:"itemConditions,omitempty"` // GraphQL only

	Nulls store.Nulls `json:"-"`
}

// applyNulls clears the members that are null, except those of the schema, which setSchema
// clears.
func (c *PromotionChange) applyNulls() error {
	return c.Nulls.Apply([]string{"name", "description", "promotion_type", "enabled", "automatic", "start", "end", "schema"}, map[string]func(){
		"min_cart_value": store.ClearList(&c.MinCartValue), "max_discount_value": store.ClearList(&c.MaxDiscountValue),
		"max_applications_per_cart": store.Clear(&c.MaxApplicationsPerCart)})
}

// check returns the error of each invalid amount.
func (c PromotionChange) check() error {
	errs := append(rule.CheckAmounts("min_cart_value", c.MinCartValue), rule.CheckAmounts("max_discount_value", c.MaxDiscountValue)...)
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// apply changes a source. moved has the members beside the schema that were moved into it, by their names there.
func (c PromotionChange) apply(source *rule.Source) (moved map[string]string) {
	authoring.Assign(&source.Name, c.Name)
	if c.Description != nil {
		source.Description = c.Description
	}
	authoring.Assign(&source.PromotionType, (*string)(c.Type))
	authoring.Assign(&source.Start, c.Start)
	authoring.Assign(&source.End, c.End)
	authoring.AssignList(&source.MinCartValue, rule.SourceAmounts(c.MinCartValue))
	authoring.AssignList(&source.MaxDiscountValue, rule.SourceAmounts(c.MaxDiscountValue))
	if c.Enabled != nil {
		source.Enabled = *c.Enabled
	}
	if c.Automatic != nil {
		source.Automatic = *c.Automatic
	}
	if c.MaxApplicationsPerCart != nil {
		source.MaxApplicationsPerCart = *c.MaxApplicationsPerCart
	}
	return c.setSchema(source)
}

// schemaMember is a member of the schema that may be sent beside it.
type schemaMember struct {
	name string
	sent string          // its name beside the schema
	raw  json.RawMessage // empty if absent
	kept bool            // by a new schema without it
}

// setSchema replaces the schema if one is given, and moves the members beside it into it, unless
// it has them. target_catalogs and conditions limit where the promotion applies, so they keep
// their values unless one of the two places names them.
func (c PromotionChange) setSchema(source *rule.Source) map[string]string {
	moved := map[string]string{}
	var had, given map[string]json.RawMessage
	if len(c.Schema) > 0 && string(c.Schema) != "null" {
		_ = json.Unmarshal(source.Schema, &had)
		source.Schema = compactJSON(c.Schema)
		_ = json.Unmarshal(c.Schema, &given) // checkPromotionSchema reports a schema that is not an object
	}
	conditions := schemaMember{"conditions", "conditions", c.Conditions, true}
	if c.ItemConditions != nil || slices.Contains(c.Nulls, "item_conditions") {
		conditions.sent, conditions.raw = "item_conditions", rawList(c.ItemConditions)
	}
	for _, member := range []schemaMember{{"currencies", "currencies", c.Currencies, false}, {"target_catalogs", "target_catalogs", rawList(c.TargetCatalogs), true}, conditions} {
		if slices.Contains(c.Nulls, member.sent) {
			member.raw = json.RawMessage("null")
		}
		sent := len(member.raw) > 0
		if member.kept && len(member.raw) == 0 {
			member.raw = had[member.name]
		}
		_, inSchema := given[member.name]
		shown := given != nil && rule.IsEmptyMember(member.name, member.raw) && string(member.raw) != "null"
		if len(member.raw) > 0 && !inSchema && !shown {
			source.Schema = setMember(source.Schema, member.name, member.raw)
			if sent {
				moved[member.name] = member.sent
			}
		}
	}
	return moved
}

// toSentPaths changes the paths of errors to where the members were sent: beside the schema.
func toSentPaths(errs store.Errors, moved map[string]string) store.Errors {
	for i, e := range errs {
		if len(e.Path) > 1 && e.Path[0] == "schema" && moved[e.Path[1]] != "" {
			renamed := *e
			renamed.Path = append([]string{moved[e.Path[1]]}, e.Path[2:]...)
			errs[i] = &renamed
		}
	}
	return errs
}

// rawList encodes a list of texts or conditions as JSON; nil stays nil.
func rawList[T string | rule.Condition](list []T) json.RawMessage {
	if list == nil {
		return nil
	}
	raw, _ := json.Marshal(list) // texts always marshal
	return raw
}

func compactJSON(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// setMember replaces a member of an object; null removes it.
func setMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	if len(object) == 0 && string(value) == "null" {
		return object
	}
	if len(object) == 0 {
		object = json.RawMessage("{}")
	}
	var has map[string]json.RawMessage
	if json.Unmarshal(object, &has) != nil || has == nil {
		return object // reported later
	}
	if _, there := has[name]; there {
		delete(has, name)
		object = store.Encode(has)
	}
	if string(value) == "null" {
		return object
	}
	return rule.AppendMember(object, name, compactJSON(value))
}
