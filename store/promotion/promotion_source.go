package promotion

import (
	"bytes"
	"encoding/json"

	"portico/store"
	"portico/store/authoring"
)

// promotionSource is a promotion in the contract's shape. Start and End are
// kept as they were written; what the contract lists beside schema is moved
// into it.
type promotionSource struct {
	Type                   string          `json:"type"`
	ID                     string          `json:"id"`
	Name                   string          `json:"name"`
	Description            *string         `json:"description"` // required, and may be empty
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
	Epoch                  int             `json:"epoch,omitempty"` // how often its codes were done away with
}

func (p *promotionSource) Key() string { return p.ID }

func (p *promotionSource) Check(f *authoring.Validator) {
	f.ID("id", &p.ID)
	const date = "is required, and must be a date, a date and HH:MM, or RFC 3339"
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
	f.Within("max_applications_per_cart", int64(p.MaxApplicationsPerCart), 0, store.MaxStock)
	f.Within("epoch", int64(p.Epoch), 0, store.MaxStock)
	p.moveInto(f)
	if t != "" {
		f.OneOf("promotion_type", p.PromotionType, promotionTypeNames()...)
	}
	checkPromotionSchema(f, t, p.Schema)
}

// checkMaximum keeps the maximum from fixed discounts, as the contract does.
// Files are not held to it: stores were written, and exported, without.
func (p *promotionSource) checkMaximum(f *authoring.Validator) {
	t := PromotionType(p.PromotionType)
	if len(p.MaxDiscountValue) > 0 && (t == FixedDiscount || t == ItemFixedDiscount) {
		f.Rule("max_discount_value", "must be left out or empty for %s, which takes off a fixed amount", t)
	}
}

func (p *promotionSource) checkTimes(f *authoring.Validator) {
	good := true
	for _, at := range []struct{ member, text string }{{"start", p.Start}, {"end", p.End}} {
		if _, err := store.ReadTime(at.text); err != nil {
			good = false
			if at.text != "" { // which is told already
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

// moveInto puts what stands beside the schema into it, where the schema has
// not got it: that is where the clients send it.
func (p *promotionSource) moveInto(f *authoring.Validator) {
	f.Object("schema", &p.Schema)
	if len(p.Schema) == 0 {
		f.Rule("schema", "is required")
		return
	}
	var has map[string]json.RawMessage
	if json.Unmarshal(p.Schema, &has) != nil {
		return // which is told already
	}
	for _, beside := range []struct {
		name string
		raw  *json.RawMessage
	}{{"currencies", &p.Currencies}, {"target_catalogs", &p.TargetCatalogs}, {"conditions", &p.Conditions}} {
		raw := *beside.raw
		*beside.raw = nil
		if _, there := has[beside.name]; !there && !saysNothing(beside.name, raw) {
			p.Schema = withMember(p.Schema, beside.name, raw)
		}
	}
}

// saysNothing tells whether a member beside the schema is there only because
// promotions are shown with it, and clients send back what they read.
func saysNothing(name string, raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || name == "currencies" && string(raw) == "[]"
}

// withMember adds a member to an object that has not got it.
func withMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	open := object[:len(object)-1] // the closing brace
	added := store.AppendKey(bytes.Clone(bytes.TrimSpace(open)), name)
	return append(append(added, value...), '}')
}

// codeSource is a promotion's code; Uses is what remains of MaxUses, both
// absent when it can be used without end.
type codeSource struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	PromotionID string   `json:"promotion_id"`
	Code        string   `json:"code"`
	MaxUses     *int     `json:"max_uses,omitempty"`
	Uses        *int     `json:"uses,omitempty"`
	Used        int      `json:"used,omitempty"` // of a code that can be used without end
	ConsumeUnit string   `json:"consume_unit,omitempty"`
	User        CodeUser `json:"user,omitzero"`
	CreatedAt   string   `json:"created_at,omitempty"`
}

func (c *codeSource) Key() string { return c.ID }

func (c *codeSource) Check(f *authoring.Validator) {
	f.ID("id", &c.ID)
	f.Refers("promotion_id", "promotion", &c.PromotionID)
	if c.Code == "" {
		f.Rule("code", "is required")
	} else if c.Code != automaticCode(c.PromotionID) {
		checkCodeText(f, "code", c.Code)
	}
	if c.ConsumeUnit != "" {
		f.OneOf("consume_unit", c.ConsumeUnit, string(PerCart), string(PerItem))
	}
	if c.MaxUses != nil {
		f.Between("max_uses", *c.MaxUses, 1, store.MaxStock)
	}
	if c.Uses != nil {
		most := store.MaxStock
		if c.MaxUses != nil {
			most = *c.MaxUses
		}
		f.Between("uses", *c.Uses, 0, most)
	}
	if limited := c.MaxUses != nil || c.Uses != nil; limited && c.Used != 0 {
		f.Add("used", "is only for a code without max_uses; uses tells what remains of those")
	}
	f.Between("used", c.Used, 0, store.MaxStock)
	checkCodeUser(f, "user", c.User)
	f.Time("created_at", &c.CreatedAt)
}

// counts are the limit of a code, nil where there is none, and what was used.
func (c *codeSource) counts() (maxUses *int, used int) {
	switch {
	case c.MaxUses != nil && c.Uses != nil:
		return c.MaxUses, *c.MaxUses - *c.Uses
	case c.MaxUses != nil:
		return c.MaxUses, 0
	case c.Uses != nil:
		return c.Uses, 0
	}
	return nil, c.Used
}

// usageSource is one use of a code.
type usageSource struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	PromotionID string `json:"promotion_id"`
	Code        string `json:"code"`
	User        string `json:"user,omitempty"`
	UnitsAsked  int    `json:"units_asked,omitempty"` // where more were asked for than applied
	Units       int    `json:"units"`
	Reference   string `json:"reference,omitempty"`
	Epoch       int    `json:"epoch,omitempty"` // of the promotion when the code was used
	Actor       string `json:"actor,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`
	ReleasedAt  string `json:"released_at,omitempty"`
}

func (u *usageSource) Key() string { return u.ID }

func (u *usageSource) Check(f *authoring.Validator) {
	f.ID("id", &u.ID)
	f.Refers("promotion_id", "promotion", &u.PromotionID)
	f.Required("code", u.Code, maxCodeBytes)
	f.Text("user", u.User, authoring.MaxName)
	f.Text("reference", u.Reference, authoring.MaxName)
	f.Text("actor", u.Actor, authoring.MaxName)
	f.Between("units", u.Units, 1, store.MaxStock)
	if u.UnitsAsked != 0 {
		f.Between("units_asked", u.UnitsAsked, u.Units, store.MaxStock)
	}
	f.Between("epoch", u.Epoch, 0, store.MaxStock)
	f.Time("created_at", &u.CreatedAt)
	f.Time("released_at", &u.ReleasedAt)
}
