package rule

import (
	"bytes"
	"encoding/json"

	"portico/store"
	"portico/store/authoring"
)

// Source is a promotion as imported and stored. Start and End are kept as given. The members
// currencies, target_catalogs and conditions, which clients send beside schema, are moved into
// it.
type Source struct {
	Type                   string          `json:"type"`
	ID                     string          `json:"id"`
	Name                   string          `json:"name"`
	Description            *string         `json:"description"` // required, may be empty
	PromotionType          string          `json:"promotion_type"`
	Enabled                bool            `json:"enabled"`
	Automatic              bool            `json:"automatic"`
	Start                  string          `json:"start"`
	End                    string          `json:"end"`
	MinCartValue           []amountSource  `json:"min_cart_value,omitempty"`
	MaxDiscountValue       []amountSource  `json:"max_discount_value,omitempty"`
	MaxApplicationsPerCart int             `json:"max_applications_per_cart,omitempty"`
	Schema                 json.RawMessage `json:"schema"`
	Currencies             json.RawMessage `json:"currencies,omitempty"`
	TargetCatalogs         json.RawMessage `json:"target_catalogs,omitempty"`
	Conditions             json.RawMessage `json:"conditions,omitempty"`
	CreatedAt              string          `json:"created_at,omitempty"`
	UpdatedAt              string          `json:"updated_at,omitempty"`
	Epoch                  int             `json:"epoch,omitempty"` // how often re-enabling it deleted its codes
}

func (p *Source) Key() string { return p.ID }

// Check implements authoring.Source. It moves the members beside the schema into it.
func (p *Source) Check(f *authoring.Validator) {
	f.ID("id", &p.ID)
	const date = "is required: a date, a date and HH:MM, or RFC 3339"
	for _, member := range []struct{ name, text, rule string }{{"name", p.Name, "is required"}, {"promotion_type", p.PromotionType, "is required"}, {"start", p.Start, date}, {"end", p.End, date}} {
		if member.text == "" {
			f.Rule(member.name, "%s", member.rule)
		}
	}
	f.Text("name", p.Name, authoring.MaxName)
	if p.Description == nil {
		f.Rule("description", "is required; it may be empty")
	} else {
		f.Text("description", *p.Description, authoring.MaxDescription)
	}
	p.checkTimes(f)
	checkPerCurrency(f, "min_cart_value", p.MinCartValue)
	checkPerCurrency(f, "max_discount_value", p.MaxDiscountValue)
	t := PromotionType(p.PromotionType)
	f.Within("max_applications_per_cart", int64(p.MaxApplicationsPerCart), 0, store.MaxCount)
	f.Within("epoch", int64(p.Epoch), 0, store.MaxCount)
	p.mergeIntoSchema(f)
	if t != "" {
		f.OneOf("promotion_type", p.PromotionType, promotionTypeNames()...)
	}
	checkPromotionSchema(f, t, p.Schema)
}

// CheckMaximum rejects a maximum discount for types with a fixed amount. Imports skip it, since
// older exports may contain one.
func (p *Source) CheckMaximum(f *authoring.Validator) {
	t := PromotionType(p.PromotionType)
	if len(p.MaxDiscountValue) > 0 && (t == FixedDiscount || t == ItemFixedDiscount) {
		f.Rule("max_discount_value", "must be absent or empty for %s, which has a fixed amount", t)
	}
}

// checkTimes checks the times and their order.
func (p *Source) checkTimes(f *authoring.Validator) {
	good := true
	for _, at := range []struct{ member, text string }{{"start", p.Start}, {"end", p.End}} {
		if _, err := store.ReadTime(at.text); err != nil {
			good = false
			if at.text != "" { // reported before
				f.Add(at.member, "must be a date, a date and HH:MM, or RFC 3339, got %q", store.Abbreviate(at.text))
			}
		}
	}
	if good && !store.StoredTime(p.End).After(store.StoredTime(p.Start)) {
		f.Rule("end", "must be after start, %s, got %s", p.Start, p.End)
	}
	f.Time("created_at", &p.CreatedAt)
	f.Time("updated_at", &p.UpdatedAt)
}

// mergeIntoSchema moves the members beside the schema into it, unless the schema has them.
func (p *Source) mergeIntoSchema(f *authoring.Validator) {
	f.Object("schema", &p.Schema)
	if len(p.Schema) == 0 {
		f.Rule("schema", "is required")
		return
	}
	var has map[string]json.RawMessage
	if json.Unmarshal(p.Schema, &has) != nil {
		return // reported before
	}
	for _, beside := range []struct {
		name string
		raw  *json.RawMessage
	}{{"currencies", &p.Currencies}, {"target_catalogs", &p.TargetCatalogs}, {"conditions", &p.Conditions}} {
		raw := *beside.raw
		*beside.raw = nil
		if _, there := has[beside.name]; !there && !IsEmptyMember(beside.name, raw) {
			p.Schema = AppendMember(p.Schema, beside.name, raw)
		}
	}
}

// IsEmptyMember reports whether a member beside the schema has no value: promotions are shown
// with it, and clients send back what they read.
func IsEmptyMember(name string, raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || name == "currencies" && string(raw) == "[]"
}

// AppendMember appends a member to an object without one of that name.
func AppendMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	open := object[:len(object)-1] // the closing brace
	added := store.AppendKey(bytes.Clone(bytes.TrimSpace(open)), name)
	return append(append(added, value...), '}')
}
