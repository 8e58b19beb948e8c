package code

import (
	"database/sql"
	"time"

	"portico/store"
	"portico/store/promotion/rule"
)

// ConsumeUnit is what one use of a code counts.
type ConsumeUnit string

// The units.
const (
	PerCart ConsumeUnit = "per_cart" // a cart
	PerItem ConsumeUnit = "per_item" // an item of the cart to which the promotion applies
)

// MaxCodesPerRequest limits the codes of one request.
const MaxCodesPerRequest = 10_000

// PromotionCode is a code of a promotion. Codes are compared byte by byte.
type PromotionCode struct {
	ID          string
	PromotionID string
	Code        string
	MaxUses     *int // nil for no limit
	Used        int
	ConsumeUnit ConsumeUnit
	User        User            // who may use it
	CreatedAt   *time.Time      // nil if it was imported without
	Held        bool            // no other promotion has claimed the code since
	Promotion   *rule.Promotion `json:"-"`
}

// Users returns who may use the code; nil for everybody.
func (c *PromotionCode) Users() []string { return c.User.Names() }

// GlobalID returns the id that is unique across types.
func (c *PromotionCode) GlobalID() string { return store.GlobalID(store.TypePromotionCode, c.ID) }

// RemainingUses returns the uses that are left; nil for no limit.
func (c *PromotionCode) RemainingUses() *int {
	if c.MaxUses == nil {
		return nil
	}
	remain := *c.MaxUses - c.Used
	return &remain
}

// Valid reports whether the code could be used when it was read, by somebody and with some cart:
// its promotion is active and holds it, and Refusals is empty. An invalid code is kept until its
// promotion is re-enabled.
func (c *PromotionCode) Valid() bool {
	return c.Held && c.Promotion.State == rule.PromotionActive && len(c.Refusals(c.Promotion)) == 0
}

// Refusals returns the reasons why nobody can use the code at any time, unless the code or the
// promotion changes.
func (c *PromotionCode) Refusals(p *rule.Promotion) (list []Refusal) {
	if c.MaxUses != nil && c.Used >= *c.MaxUses {
		list = append(list, NewRefusal(CodeUsedUp, ArgumentCode, "is used up: its limit is %d uses", *c.MaxUses))
	}
	if c.ConsumeUnit == PerItem && p.Automatic {
		list = append(list, NewRefusal(CodeNotPerItem, ArgumentCode, "counts per item, which is not possible for an automatic promotion"))
	}
	return list
}

// Columns are the columns that Scan reads, but the id of the promotion. held tells whether the
// promotion holds the code.
const Columns = `promotion_code.id, promotion_code.code, max_uses, used, consume_unit, users, promotion_code.created_at,
	COALESCE(code_claim.promotion_number = promotion_code.promotion_number AND code_claim.epoch = promotion_code.epoch, FALSE) AS held`

// CurrentTables joins the codes of current epochs to their promotion and to their claim.
const CurrentTables = `promotion_code
	JOIN promotion ON promotion.number = promotion_code.promotion_number AND promotion.epoch = promotion_code.epoch
	LEFT JOIN code_claim ON code_claim.code = promotion_code.code`

// scanCode reads Columns of a code of p. If p is nil, the promotion's id follows them.
func scanCode(rows *sql.Rows, p *rule.Promotion) (*PromotionCode, error) {
	c := &PromotionCode{Promotion: p}
	last := []any{&c.PromotionID}
	if p != nil {
		c.PromotionID, last = p.ID, nil
	}
	var maxUses sql.NullInt64
	var users string
	var created int64
	err := rows.Scan(append([]any{&c.ID, &c.Code, &maxUses, &c.Used, &c.ConsumeUnit, &users, &created, &c.Held}, last...)...)
	if err != nil {
		return nil, err
	}
	if maxUses.Valid {
		most := int(maxUses.Int64)
		c.MaxUses = &most
	}
	if c.ConsumeUnit == "" {
		c.ConsumeUnit = PerCart
	}
	if created != 0 {
		at := store.FromMicros(created)
		c.CreatedAt = &at
	}
	c.User = storedCodeUser(users)
	return c, nil
}

// Scan reads Columns and the id of the promotion.
func Scan(rows *sql.Rows) (*PromotionCode, error) { return scanCode(rows, nil) }

// Created returns CreatedAt, or the zero time.
func (c *PromotionCode) Created() (at time.Time) {
	if c.CreatedAt != nil {
		at = *c.CreatedAt
	}
	return at
}
