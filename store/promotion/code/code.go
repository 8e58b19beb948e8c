package code

import (
	"database/sql"
	"time"

	"portico/store"
	"portico/store/promotion/rule"
)

// ConsumeUnit is what one use of a code counts (spec: Promotion code).
type ConsumeUnit string

// The units.
const (
	PerCart ConsumeUnit = "per_cart" // a cart, whatever it holds
	PerItem ConsumeUnit = "per_item" // an item of the cart that the promotion applies to
)

// MaxCodes bounds the codes of one request.
const MaxCodes = 10_000

// PromotionCode is a code of a promotion. Codes compare byte by byte.
type PromotionCode struct {
	ID          string
	PromotionID string
	Code        string
	MaxUses     *int // nil for any number
	Used        int
	ConsumeUnit ConsumeUnit
	User        CodeUser        // who may use it
	CreatedAt   *time.Time      // nil for one that was imported without
	Held        bool            // the code is this promotion's: no other took it over
	Promotion   *rule.Promotion `json:"-"`
}

// Users are those who may use the code; nil for everybody.
func (c *PromotionCode) Users() []string { return c.User.Names() }

// GlobalID is the code's id over all types.
func (c *PromotionCode) GlobalID() string { return store.GlobalID(store.TypePromotionCode, c.ID) }

// Uses is what remains of MaxUses; nil for any number.
func (c *PromotionCode) Uses() *int {
	if c.MaxUses == nil {
		return nil
	}
	remain := *c.MaxUses - c.Used
	return &remain
}

// Valid tells whether the code was good when it was read, for some cart of
// somebody who may use it: its promotion is active and holds it, and nothing
// of standing is in its way. A code that is not is kept until its promotion
// is enabled again.
func (c *PromotionCode) Valid() bool {
	return c.Held && c.Promotion.State == rule.PromotionActive && len(c.Refusals(c.Promotion)) == 0
}

// standing is what is in the code's way whoever uses it whenever, as long as
// code and promotion are as they are.
func (c *PromotionCode) Refusals(p *rule.Promotion) (list []CodeRefusal) {
	if c.MaxUses != nil && c.Used >= *c.MaxUses {
		list = append(list, NewRefusal(CodeUsedUp, CodeArgumentCode, "is used up: all of its %d uses are taken", *c.MaxUses))
	}
	if c.ConsumeUnit == PerItem && p.Automatic {
		list = append(list, NewRefusal(CodeNotPerItem, CodeArgumentCode, "counts per item, which an automatic promotion's cannot"))
	}
	return list
}

// codeColumns are those of a code, and whether its promotion holds it.
const Columns = `promotion_code.id, promotion_code.code, max_uses, used, consume_unit, users, promotion_code.created_at,
	COALESCE(code_claim.promotion_number = promotion_code.promotion_number AND code_claim.epoch = promotion_code.epoch, FALSE) AS held`

// liveCodes joins codes that are not done away with to their promotion, and
// to whoever holds them.
const LiveTables = `promotion_code
	JOIN promotion ON promotion.number = promotion_code.promotion_number AND promotion.epoch = promotion_code.epoch
	LEFT JOIN code_claim ON code_claim.code = promotion_code.code`

// scanCode reads rows of codeColumns of a promotion, and of codeColumns and
// the promotion's id where it is nil.
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

func Scan(rows *sql.Rows) (*PromotionCode, error) { return scanCode(rows, nil) }

// created is when the code was made; zero for one that was imported without.
func (c *PromotionCode) Created() (at time.Time) {
	if c.CreatedAt != nil {
		at = *c.CreatedAt
	}
	return at
}
