package promotion

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/promotion/rule"
)

// Change names the members to set; nil leaves a member unchanged. Details and RestDetails, of
// which at most one is given, set Type, Schema, Currencies and TargetCatalogs. Currencies,
// TargetCatalogs and Conditions are members of the schema; those of a given Schema take precedence.
// Nulls are the members that an update clears. Idempotency keys compare changes by their JSON.
type Change struct {
	Name                   *string            `json:"name,omitempty"`
	Description            *string            `json:"description,omitempty"`
	Enabled                *bool              `json:"enabled,omitempty"`
	Automatic              *bool              `json:"automatic,omitempty"`
	Start                  *string            `json:"start,omitempty"` // a date (00:00 UTC), a date and HH:MM, or RFC 3339
	End                    *string            `json:"end,omitempty"`   // likewise
	MinCartValue           []rule.AmountInput `json:"minCartValue,omitempty"`
	MaxDiscountValue       []rule.AmountInput `json:"maxDiscountValue,omitempty"`
	MaxApplicationsPerCart *int               `json:"maxApplicationsPerCart,omitempty"` // 0 for no limit
	Details                *rule.DetailsInput `json:"details,omitempty"`
	RestDetails            json.RawMessage    `json:"restDetails,omitempty"` // of the form of RestDetails
	TargetCatalogIDs       []string           `json:"targetCatalogIds,omitempty"`
	ItemConditions         []rule.Condition   `json:"itemConditions,omitempty"`

	Type           *rule.PromotionType `json:"-"`
	Schema         json.RawMessage     `json:"-"`
	Currencies     json.RawMessage     `json:"-"`
	TargetCatalogs []string            `json:"-"`
	Conditions     json.RawMessage     `json:"conditions,omitempty"` // REST only: ItemConditions without types

	RequireDescription bool        `json:"-"` // REST only: a new promotion needs a description, and null does not clear it
	Nulls              store.Nulls `json:"-"`
}

// RestDetails is what a promotion gives in REST's form: its schema, and members that REST has beside it.
type RestDetails struct {
	Type           *rule.PromotionType `json:"promotion_type,omitempty"`
	Schema         json.RawMessage     `json:"schema,omitempty"`
	Currencies     json.RawMessage     `json:"currencies,omitempty"`
	TargetCatalogs []string            `json:"target_catalogs,omitzero"`
}

// IsRestDetail reports whether a member is one of RestDetails.
func IsRestDetail(name string) bool {
	_, found := store.MemberType(reflect.TypeFor[RestDetails](), name)
	return found
}

// expand returns the change with the members of Details or RestDetails, of an update with its nulls
// applied. The error names members that are wrong whatever the promotion is.
func (c Change) expand(update bool) (Change, error) {
	details := c.Details.Details()
	if details != nil && c.RestDetails != nil {
		return c, store.Invalidf([]string{"details"}, "must not be sent with restDetails; send one of them")
	}
	if c.RestDetails != nil {
		if errs := c.setRest(); len(errs) > 0 {
			return c, errs
		}
	}
	if !update {
		c.Nulls = nil
		if c.Description == nil && !c.RequireDescription {
			c.Description = new(string)
		}
	}
	if err := c.applyNulls(); err != nil {
		return c, err
	}
	errs := append(rule.CheckAmounts("min_cart_value", c.MinCartValue), rule.CheckAmounts("max_discount_value", c.MaxDiscountValue)...)
	if details != nil {
		errs = append(errs, details.Check()...)
	}
	if len(errs) > 0 {
		return c, errs
	}
	if details != nil {
		c.Type, c.Schema = &details.Type, details.Schema()
	}
	return c, nil
}

// setRest sets the members of RestDetails, and adds those that are null to Nulls.
func (c *Change) setRest() (errs store.Errors) {
	var members map[string]json.RawMessage
	var rest RestDetails
	if json.Unmarshal(c.RestDetails, &members) != nil || members == nil || store.DecodeJSON(c.RestDetails, &rest) != nil {
		return store.Errors{store.Invalidf([]string{"rest_details"}, "must be an object as REST has it, with promotion_type, a string, schema, currencies, "+
			"and target_catalogs, a list of strings")}
	}
	for _, unknown := range store.UnknownMembers(c.RestDetails, reflect.TypeFor[RestDetails]()) {
		errs = append(errs, unknown.At("rest_details"))
	}
	c.Type, c.Schema, c.Currencies, c.TargetCatalogs = rest.Type, rest.Schema, rest.Currencies, rest.TargetCatalogs
	c.Nulls = slices.Clone(c.Nulls)
	for name, value := range members {
		if string(value) == "null" {
			c.Nulls = append(c.Nulls, name)
		}
	}
	slices.Sort(c.Nulls)
	return errs
}

// applyNulls clears the members that are null, except those of the schema, which setSchema
// clears.
func (c *Change) applyNulls() error {
	required := []string{"name", "enabled", "automatic", "start", "end", "promotion_type", "schema", "details", "rest_details"}
	optional := map[string]func(){
		"min_cart_value": store.ClearList(&c.MinCartValue), "max_discount_value": store.ClearList(&c.MaxDiscountValue),
		"max_applications_per_cart": store.Clear(&c.MaxApplicationsPerCart)}
	if c.RequireDescription {
		required = append(required, "description")
	} else {
		optional["description"] = store.Clear(&c.Description)
	}
	return c.Nulls.Apply(required, optional)
}

// apply changes a source. moved has the members beside the schema that were moved into it, by their names there.
func (c Change) apply(source *rule.Source) (moved map[string]string) {
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
	name string          // in the schema
	sent string          // its name beside the schema
	raw  json.RawMessage // its value beside the schema; empty if absent
	kept bool            // it keeps its value if a new schema lacks it
}

// setSchema replaces the schema if one is given, and moves the members beside it into it, unless
// it has them. target_catalogs and conditions limit where the promotion applies, so they keep
// their values unless one of the two places names them. It returns the moved members, by name: their names beside the schema.
func (c Change) setSchema(source *rule.Source) map[string]string {
	moved := map[string]string{}
	var had, given map[string]json.RawMessage
	if len(c.Schema) > 0 && string(c.Schema) != "null" {
		_ = json.Unmarshal(source.Schema, &had)
		source.Schema = compactJSON(c.Schema)
		_ = json.Unmarshal(c.Schema, &given) // checkPromotionSchema reports a schema that is not an object
	}
	catalogs, conditions := schemaMember{"target_catalogs", "target_catalogs", rawList(c.TargetCatalogs), true}, schemaMember{"conditions", "conditions", c.Conditions, true}
	if c.TargetCatalogIDs != nil || slices.Contains(c.Nulls, "target_catalog_ids") {
		catalogs.sent, catalogs.raw = "target_catalog_ids", rawList(c.TargetCatalogIDs)
	}
	if c.ItemConditions != nil || slices.Contains(c.Nulls, "item_conditions") {
		conditions.sent, conditions.raw = "item_conditions", rawList(c.ItemConditions)
	}
	for _, member := range []schemaMember{{"currencies", "currencies", c.Currencies, false}, catalogs, conditions} {
		if slices.Contains(c.Nulls, member.sent) {
			member.raw = json.RawMessage("null")
		}
		sent := len(member.raw) > 0
		if member.kept && len(member.raw) == 0 {
			member.raw = had[member.name]
		}
		_, inSchema := given[member.name]
		readBack := given != nil && rule.IsEmptyMember(member.name, member.raw) && string(member.raw) != "null" // as clients read it beside the schema
		if len(member.raw) > 0 && !inSchema && !readBack {
			source.Schema = setMember(source.Schema, member.name, member.raw)
			if sent {
				moved[member.name] = member.sent
			}
		}
	}
	return moved
}

// toSentPaths changes the paths of errors to where the members were sent: beside the schema, or in
// details.
func (c Change) toSentPaths(errs store.Errors, moved map[string]string) store.Errors {
	for i, e := range errs {
		if len(e.Path) < 2 || e.Path[0] != "schema" {
			continue
		}
		renamed := *e
		switch {
		case moved[e.Path[1]] != "":
			renamed.Path = append([]string{moved[e.Path[1]]}, e.Path[2:]...)
		case c.Details != nil:
			renamed.Path = rule.DetailsPath(*c.Type, e.Path[1:])
		}
		errs[i] = &renamed
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

// compactJSON returns JSON without spaces, and wrong JSON as it is.
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
		return object // no object, which checkPromotionSchema reports
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
