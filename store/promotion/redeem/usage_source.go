package redeem

import (
	"portico/store"
	"portico/store/authoring"
	"portico/store/promotion/code"
)

// usageSource is an imported usage.
type usageSource struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	PromotionID string `json:"promotion_id"`
	Code        string `json:"code"`
	User        string `json:"user,omitempty"`
	UnitsAsked  int    `json:"units_asked,omitempty"` // if more were requested than applied
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
	f.Required("code", u.Code, code.MaxCodeBytes)
	f.Text("user", u.User, authoring.MaxName)
	f.Text("reference", u.Reference, authoring.MaxName)
	f.Text("actor", u.Actor, authoring.MaxName)
	f.Between("units", u.Units, 1, store.MaxCount)
	if u.UnitsAsked != 0 {
		f.Between("units_asked", u.UnitsAsked, u.Units, store.MaxCount)
	}
	f.Between("epoch", u.Epoch, 0, store.MaxCount)
	f.Time("created_at", &u.CreatedAt)
	f.Time("released_at", &u.ReleasedAt)
}
