package store

import (
	"encoding/json"
	"slices"
)

// promotionSource is a promotion in the contract's shape.
type promotionSource struct {
	Type                   string          `json:"type"`
	ID                     string          `json:"id"`
	Name                   string          `json:"name"`
	Description            string          `json:"description"`
	PromotionType          string          `json:"promotion_type"`
	Enabled                bool            `json:"enabled"`
	Automatic              bool            `json:"automatic"`
	Start                  string          `json:"start"`
	End                    string          `json:"end"`
	MinCartValue           []currencyValue `json:"min_cart_value,omitempty"`
	MaxDiscountValue       []currencyValue `json:"max_discount_value,omitempty"`
	MaxApplicationsPerCart int             `json:"max_applications_per_cart,omitempty"`
	Schema                 json.RawMessage `json:"schema"`
}

type currencyValue struct {
	Currency string `json:"currency"`
	Amount   int64  `json:"amount"`
}

// promotionTypes are the contract's.
var promotionTypes = []string{"fixed_discount", "percent_discount", "item_fixed_discount", "item_percent_discount",
	"x_for_y", "x_for_amount", "bundle_fixed_discount", "bundle_gift"}

func (p *promotionSource) key() string { return p.ID }

func (p *promotionSource) check(f *faults) {
	f.id("id", &p.ID)
	f.required("name", p.Name, maxName)
	f.text("description", p.Description, maxDescription)
	f.oneOf("promotion_type", p.PromotionType, promotionTypes...)
	for member, text := range map[string]string{"start": p.Start, "end": p.End} {
		if _, err := parseTime(text); err != nil {
			f.add(member, "must be a date, a date and HH:MM, or RFC 3339, not %q", short(text))
		}
	}
	if len(f.list) == 0 && !checkedTime(p.End).After(checkedTime(p.Start)) {
		f.add("end", "must be after start, %s, not %s", p.Start, p.End)
	}
	for member, values := range map[string][]currencyValue{"min_cart_value": p.MinCartValue, "max_discount_value": p.MaxDiscountValue} {
		for i, value := range values {
			f.currency(member+"."+itoa(i)+".currency", value.Currency)
			f.between(member+"."+itoa(i)+".amount", int(value.Amount), 0, maxAmount)
		}
	}
	f.between("max_applications_per_cart", p.MaxApplicationsPerCart, 0, MaxStock)
	f.object("schema", &p.Schema)
	if len(p.Schema) == 0 {
		f.add("schema", "is required")
	}
}

// codeSource is a promotion's code; Uses is what remains of MaxUses, both
// absent when it can be used without end.
type codeSource struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	PromotionID string          `json:"promotion_id"`
	Code        string          `json:"code"`
	MaxUses     *int            `json:"max_uses,omitempty"`
	Uses        *int            `json:"uses,omitempty"`
	ConsumeUnit string          `json:"consume_unit,omitempty"`
	User        json.RawMessage `json:"user,omitempty"` // a string or an array of strings
	CreatedAt   string          `json:"created_at,omitempty"`
}

func (c *codeSource) key() string { return c.ID }

func (c *codeSource) check(f *faults) {
	f.id("id", &c.ID)
	f.refers("promotion_id", "promotion", &c.PromotionID)
	f.required("code", c.Code, maxName)
	if c.ConsumeUnit != "" {
		f.oneOf("consume_unit", c.ConsumeUnit, "per_cart", "per_item")
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
	if len(c.User) > 0 {
		var one string
		var several []string
		if json.Unmarshal(c.User, &one) != nil && json.Unmarshal(c.User, &several) != nil {
			f.add("user", "must be a string or an array of strings")
		}
	}
	f.time("created_at", &c.CreatedAt)
}

// usageSource is one use of a code.
type usageSource struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	PromotionID string `json:"promotion_id"`
	Code        string `json:"code"`
	User        string `json:"user,omitempty"`
	Units       int    `json:"units"`
	Reference   string `json:"reference,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`
}

func (u *usageSource) key() string { return u.ID }

func (u *usageSource) check(f *faults) {
	f.id("id", &u.ID)
	f.refers("promotion_id", "promotion", &u.PromotionID)
	f.required("code", u.Code, maxName)
	f.text("user", u.User, maxName)
	f.text("reference", u.Reference, maxName)
	f.between("units", u.Units, 1, MaxStock)
	f.time("created_at", &u.CreatedAt)
}

// gatewaySource is a gateway without its secrets.
type gatewaySource struct {
	Type       string `json:"type"`
	Slug       string `json:"slug"`
	Name       string `json:"name,omitempty"`
	Enabled    bool   `json:"enabled"`
	Test       bool   `json:"test"`
	MerchantID string `json:"merchant_id,omitempty"`
	Login      string `json:"login,omitempty"`
}

// gatewaySlugs are the gateways there are (DESIGN 7).
var gatewaySlugs = []string{"card_processor", "manual"}

func (g *gatewaySource) key() string { return g.Slug }

func (g *gatewaySource) check(f *faults) {
	f.oneOf("slug", g.Slug, gatewaySlugs...)
	f.text("name", g.Name, maxName)
	f.text("merchant_id", g.MerchantID, maxName)
	f.text("login", g.Login, maxName)
}

// clientSource is an API client, with the hash of its secret where the export
// was asked for it.
type clientSource struct {
	Type       string   `json:"type"`
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Scopes     []string `json:"scopes"`
	SecretHash string   `json:"secret_hash,omitempty"`
	CreatedAt  string   `json:"created_at"`
}

func (c *clientSource) key() string { return c.ID }

func (c *clientSource) check(f *faults) {
	f.id("id", &c.ID)
	f.required("name", c.Name, 255)
	for i, scope := range c.Scopes {
		if !slices.Contains(Scopes(), scope) {
			f.add("scopes."+itoa(i), "must be a known scope, not %q", short(scope))
		}
	}
	if c.CreatedAt == "" {
		f.add("created_at", "is required")
	}
	f.time("created_at", &c.CreatedAt)
}

// settingsSource is the store's settings.
type settingsSource struct {
	Type       string `json:"type"`
	ID         string `json:"id,omitempty"`
	PageLength int    `json:"page_length"`
	Currency   string `json:"currency"`
	Locale     string `json:"locale"`
}

func (s *settingsSource) key() string { return "settings" }

func (s *settingsSource) check(f *faults) {
	s.ID = ""
	f.between("page_length", s.PageLength, MinPageLength, MaxPageLength)
	f.currency("currency", s.Currency)
	f.locale("locale", s.Locale)
}
