package code

import (
	"portico/store"
	"portico/store/authoring"
	"portico/store/promotion/rule"
)

// codeSource is an imported code. MaxUses is its limit and Uses what is left of it: with one alone, the code was never used. With
// neither it has no limit, and Used says how often it was used.
type codeSource struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	PromotionID string `json:"promotion_id"`
	Code        string `json:"code"`
	MaxUses     *int   `json:"max_uses,omitempty"`
	Uses        *int   `json:"uses,omitempty"`
	Used        int    `json:"used,omitempty"` // of a code without limit
	ConsumeUnit string `json:"consume_unit,omitempty"`
	User        User   `json:"user,omitzero"`
	CreatedAt   string `json:"created_at,omitempty"`
}

func (c *codeSource) Key() string { return c.ID }

func (c *codeSource) Check(f *authoring.Validator) {
	f.ID("id", &c.ID)
	f.Refers("promotion_id", "promotion", &c.PromotionID)
	if c.Code == "" {
		f.Rule("code", "is required")
	} else if c.Code != rule.AutomaticCode(c.PromotionID) {
		checkCodeText(f, "code", c.Code)
	}
	if c.ConsumeUnit != "" {
		f.OneOf("consume_unit", c.ConsumeUnit, string(PerCart), string(PerItem))
	}
	if c.MaxUses != nil {
		f.Between("max_uses", *c.MaxUses, 1, store.MaxCount)
	}
	if c.Uses != nil {
		most := store.MaxCount
		if c.MaxUses != nil {
			most = *c.MaxUses
		}
		f.Between("uses", *c.Uses, 0, most)
	}
	if limited := c.MaxUses != nil || c.Uses != nil; limited && c.Used != 0 {
		f.Add("used", "must be absent for a code with a maximum. Its uses are the remaining uses.")
	}
	f.Between("used", c.Used, 0, store.MaxCount)
	checkCodeUser(f, "user", c.User)
	f.Time("created_at", &c.CreatedAt)
}

// Undeletable keeps the code of an automatic promotion.
func (c *codeSource) Undeletable() string {
	if c.Code == rule.AutomaticCode(c.PromotionID) {
		return "is the code of an automatic promotion. Set automatic to false to delete it."
	}
	return ""
}

// counts returns the limit of a code, nil for none, and how often it was used.
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
