package shop

import (
	"bytes"
	"encoding/json"

	"portico/store"
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

func (p *promotionSource) key() string { return p.ID }

// amountSource is an amount of a currency.
type amountSource struct {
	Currency string `json:"currency"` // ISO 4217
	Amount   *int64 `json:"amount"`   // minor units
}

// sourceAmounts are amounts as a source has them; nil stays nil.
func sourceAmounts(amounts []CurrencyAmount) []amountSource {
	if amounts == nil {
		return nil
	}
	list := make([]amountSource, len(amounts))
	for i := range amounts {
		list[i] = amountSource{amounts[i].Currency, &amounts[i].Minor}
	}
	return list
}

// checkedAmounts are the amounts of a checked source; nil for none.
func checkedAmounts(list []amountSource) (amounts []CurrencyAmount) {
	for _, a := range list {
		if a.Amount != nil { // as it could be before that was checked
			amounts = append(amounts, CurrencyAmount{a.Currency, *a.Amount})
		}
	}
	return amounts
}

func (p *promotionSource) check(f *faults) {
	f.id("id", &p.ID)
	const date = "is required, and must be a date, a date and HH:MM, or RFC 3339"
	for _, member := range []struct{ name, text, rule string }{{"name", p.Name, "is required"}, {"promotion_type", p.PromotionType, "is required"}, {"start", p.Start, date}, {"end", p.End, date}} {
		if member.text == "" {
			f.rule(member.name, "%s", member.rule)
		}
	}
	f.text("name", p.Name, maxName)
	if p.Description == nil {
		f.rule("description", "is required; it may be empty")
	} else {
		f.text("description", *p.Description, maxDescription)
	}
	p.checkTimes(f)
	f.perCurrency("min_cart_value", p.MinCartValue)
	f.perCurrency("max_discount_value", p.MaxDiscountValue)
	t := PromotionType(p.PromotionType)
	f.within("max_applications_per_cart", int64(p.MaxApplicationsPerCart), 0, MaxStock)
	f.within("epoch", int64(p.Epoch), 0, MaxStock)
	p.moveInto(f)
	if t != "" {
		f.oneOf("promotion_type", p.PromotionType, promotionTypeNames()...)
	}
	f.promotionSchema(t, p.Schema)
}

// checkMaximum keeps the maximum from fixed discounts, as the contract does.
// Files are not held to it: stores were written, and exported, without.
func (p *promotionSource) checkMaximum(f *faults) {
	t := PromotionType(p.PromotionType)
	if len(p.MaxDiscountValue) > 0 && (t == FixedDiscount || t == ItemFixedDiscount) {
		f.rule("max_discount_value", "must be left out or empty for %s, which takes off a fixed amount", t)
	}
}

func (p *promotionSource) checkTimes(f *faults) {
	good := true
	for _, at := range []struct{ member, text string }{{"start", p.Start}, {"end", p.End}} {
		if _, err := store.ReadTime(at.text); err != nil {
			good = false
			if at.text != "" { // which is told already
				f.add(at.member, "must be a date, a date and HH:MM, or RFC 3339, not %q", store.Short(at.text))
			}
		}
	}
	if good && !store.CheckedTime(p.End).After(store.CheckedTime(p.Start)) {
		f.rule("end", "must be after start, %s, not %s", p.Start, p.End)
	}
	f.time("created_at", &p.CreatedAt)
	f.time("updated_at", &p.UpdatedAt)
}

// moveInto puts what stands beside the schema into it, where the schema has
// not got it: that is where the clients send it.
func (p *promotionSource) moveInto(f *faults) {
	f.object("schema", &p.Schema)
	if len(p.Schema) == 0 {
		f.rule("schema", "is required")
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

func (c *codeSource) key() string { return c.ID }

func (c *codeSource) check(f *faults) {
	f.id("id", &c.ID)
	f.refers("promotion_id", "promotion", &c.PromotionID)
	if c.Code == "" {
		f.add("code", "is required")
	} else if c.Code != automaticCode(c.PromotionID) {
		f.codeText("code", c.Code)
	}
	if c.ConsumeUnit != "" {
		f.oneOf("consume_unit", c.ConsumeUnit, string(PerCart), string(PerItem))
	}
	if c.MaxUses != nil {
		f.between("max_uses", *c.MaxUses, 1, MaxStock)
	}
	if c.Uses != nil {
		most := MaxStock
		if c.MaxUses != nil {
			most = *c.MaxUses
		}
		f.between("uses", *c.Uses, 0, most)
	}
	if limited := c.MaxUses != nil || c.Uses != nil; limited && c.Used != 0 {
		f.add("used", "is only for a code without max_uses; uses tells what remains of those")
	}
	f.between("used", c.Used, 0, MaxStock)
	f.codeUser("user", c.User)
	f.time("created_at", &c.CreatedAt)
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

func (u *usageSource) key() string { return u.ID }

func (u *usageSource) check(f *faults) {
	f.id("id", &u.ID)
	f.refers("promotion_id", "promotion", &u.PromotionID)
	f.required("code", u.Code, maxCodeBytes)
	f.text("user", u.User, maxName)
	f.text("reference", u.Reference, maxName)
	f.text("actor", u.Actor, maxName)
	f.between("units", u.Units, 1, MaxStock)
	if u.UnitsAsked != 0 {
		f.between("units_asked", u.UnitsAsked, u.Units, MaxStock)
	}
	f.between("epoch", u.Epoch, 0, MaxStock)
	f.time("created_at", &u.CreatedAt)
	f.time("released_at", &u.ReleasedAt)
}
