package redeem

import (
	"context"
	"slices"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// CodeUse is what a checkout asks of a code.
type CodeUse struct {
	Code      string
	User      string                // who uses it: a customer's id, or any text the code names; empty for nobody in particular
	Units     int                   // item units it would apply to; counts for per_item codes
	Reference string                // the caller's own, an order number for instance; to redeem
	CartValue *store.CurrencyAmount // what the cart comes to, to check; nil tells nothing
}

// CodeCheck is what a code would do.
type CodeCheck struct {
	Refusals     []code.CodeRefusal  // all of them; none when it is good
	UnitsApplied int                 // uses it would take; 0 when refused
	Code         *code.PromotionCode // nil when unknown
	Promotion    *rule.Promotion     // nil when unknown
}

// Valid tells whether nothing stands in its way.
func (c *CodeCheck) Valid() bool { return len(c.Refusals) == 0 }

// Remaining are the uses that are left; nil for any number, and of an unknown
// code.
func (c *CodeCheck) Remaining() *int {
	if c.Code == nil {
		return nil
	}
	return c.Code.Uses()
}

// PromotionGlobalID is the id of the code's promotion over all types.
func (c *CodeCheck) PromotionGlobalID() *string {
	if c.Promotion == nil {
		return nil
	}
	id := c.Promotion.GlobalID()
	return &id
}

// codeOffer is a code with what decides whether it is good; both are nil where
// there is no such code.
type codeOffer struct {
	code      *code.PromotionCode
	promotion *rule.Promotion
}

func codeOfferOf(ctx context.Context, in db.Session, text string, at time.Time) (o codeOffer, err error) {
	found, err := code.Find(ctx, in, text)
	if err != nil || found == nil {
		return o, err
	}
	byID, err := rule.ReadPromotions(ctx, in, at, []string{found.PromotionID})
	if p := byID[found.PromotionID]; p != nil {
		o = codeOffer{found, p}
	}
	return o, err
}

// refusals are all reasons why the code is not good for a use at a time.
func (o codeOffer) refusals(use CodeUse, at time.Time) (list []code.CodeRefusal) {
	refuse := func(when bool, reason code.CodeReason, about code.CodeArgument, format string, args ...any) {
		if when {
			list = append(list, code.NewRefusal(reason, about, format, args...))
		}
	}
	c, p := o.code, o.promotion
	if p == nil || !c.Held && at.Before(p.End) {
		return []code.CodeRefusal{{Reason: code.CodeUnknown, Fault: store.NotFoundf([]string{string(code.CodeArgumentCode)}, "is no promotion's: %q", store.Abbreviate(use.Code))}}
	}
	refuse(!at.Before(p.End), code.CodeExpired, code.CodeArgumentCode, "was good until %s, when its promotion ended", store.FormatTime(p.End))
	refuse(at.Before(p.Start), code.CodeNotStarted, code.CodeArgumentCode, "is good from %s on, when its promotion starts", store.FormatTime(p.Start))
	refuse(!p.Enabled, code.CodeDisabled, code.CodeArgumentCode, "is of a promotion that is not enabled")
	list = append(list, c.Refusals(p)...)
	refuse(!c.User.Includes(use.User), code.CodeWrongUser, code.CodeArgumentUser, "may not use this code, which is for others")
	refuse(c.ConsumeUnit == code.PerItem && use.Units < 1, code.CodeNoUnits, code.CodeArgumentUnits, "must be at least 1 for a code that counts per item, got %d", use.Units)
	if cart := use.CartValue; cart != nil {
		least, asked := rule.AmountIn(p.MinCartValue, cart.Currency)
		refuse(asked && cart.Minor < least, code.CodeCartTooLow, code.CodeArgumentCartValue, "must be at least %d minor units of %s, got %d", least, cart.Currency, cart.Minor)
		refuse(!asked && len(p.MinCartValue) > 0, code.CodeNotCurrency, code.CodeArgumentCartValue, "must be of a currency that the promotion asks a minimum of, got %s", cart.Currency)
		gives := func(c rule.PromotionCurrency) bool { return c.Currency == cart.Currency }
		refuse(len(p.Currencies) > 0 && !slices.ContainsFunc(p.Currencies, gives) && rule.DecodeSchema(p.Schema).Percent == nil,
			code.CodeNotCurrency, code.CodeArgumentCartValue, "must be of a currency that the promotion gives something in, got %s", cart.Currency)
	}
	return list
}

// units is how many uses a good code takes for so many units.
func (o codeOffer) units(asked int) int {
	if o.code.ConsumeUnit == code.PerCart {
		return 1
	}
	if left := o.code.Uses(); left != nil {
		return min(asked, *left)
	}
	return asked
}

// MaxCodeUnits bounds the units of a use.
const MaxCodeUnits = 1_000_000

// check finds what makes no sense in a use, whatever the code is.
func (u *CodeUse) check(least int) error {
	var faults store.Errors
	if u.Units < least || u.Units > MaxCodeUnits {
		faults = append(faults, store.Unprocessablef([]string{"units"}, "must be between %d and %d, got %d", least, MaxCodeUnits, u.Units))
	}
	for _, text := range []struct{ member, text string }{{"user", u.User}, {"reference", u.Reference}} {
		if len(text.text) > 255 {
			faults = append(faults, store.Unprocessablef([]string{text.member}, "must be at most 255 bytes, got %d", len(text.text)))
		}
		if !store.IsStorableText(text.text) {
			faults = append(faults, store.Invalidf([]string{text.member}, "must be UTF-8 text without NUL"))
		}
	}
	if u.CartValue != nil && u.CartValue.Currency == "" {
		faults = append(faults, store.Unprocessablef([]string{"cart_value", "currency"}, "must be an ISO 4217 code such as USD, not empty"))
	}
	if u.CartValue != nil && u.CartValue.Minor < 0 {
		faults = append(faults, store.Unprocessablef([]string{"cart_value", "amount"}, "must be at least 0 minor units, got %d", u.CartValue.Minor))
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}
