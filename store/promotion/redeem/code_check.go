package redeem

import (
	"time"

	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/discount"
	"portico/store/promotion/rule"
)

// CodeUse is a use of a code, to check or to redeem.
type CodeUse struct {
	Code      string
	User      string                // a customer's id or any other name that the code may list; empty if unknown
	OfToken   bool                  // User is that of the token, not an argument: refusals name the code
	Units     int                   // item units that it applies to, for per_item codes
	Reference string                // of the caller, such as an order number; required to redeem
	CartValue *store.CurrencyAmount // cart total, checked if given
	CatalogID string                // of the cart whose lines have Units and CartValue, which refusals name; empty without lines
}

// FormatMoney writes an amount of a refusal for people.
type FormatMoney func(store.CurrencyAmount) *store.Money

// CodeCheck tells whether a use of a code would be accepted.
type CodeCheck struct {
	Refusals     []code.Refusal        // every reason against it; none if it is accepted
	UnitsApplied int                   // uses that it would consume; 0 if refused
	Code         *code.PromotionCode   // nil if unknown
	Promotion    *rule.Promotion       // nil if unknown
	Amount       *store.CurrencyAmount // that it takes off the cart; nil if unknown
}

// Valid reports whether the use would be accepted.
func (c *CodeCheck) Valid() bool { return len(c.Refusals) == 0 }

// Remaining returns the remaining uses; nil for no limit and for an unknown code.
func (c *CodeCheck) Remaining() *int {
	if c.Code == nil {
		return nil
	}
	return c.Code.RemainingUses()
}

// PromotionGlobalID returns the promotion's id that is unique across types; nil for an unknown
// code.
func (c *CodeCheck) PromotionGlobalID() *string {
	if c.Promotion == nil {
		return nil
	}
	id := c.Promotion.GlobalID()
	return &id
}

// CodeOffer is a code with its promotion, as it was read. Both are nil for an unknown code.
type CodeOffer struct {
	Code      *code.PromotionCode
	Promotion *rule.Promotion
}

// Check tells whether a use of the code would be accepted at a time.
func (o CodeOffer) Check(use CodeUse, at time.Time, format FormatMoney) *CodeCheck {
	check := &CodeCheck{Refusals: o.refusals(use, at, format), Code: o.Code, Promotion: o.Promotion}
	if len(check.Refusals) == 0 {
		check.UnitsApplied = o.units(use.Units)
		if cart := use.CartValue; cart != nil {
			if off, ok := discount.OfAmount(o.Promotion, cart.Minor, cart.Currency); ok {
				check.Amount = &store.CurrencyAmount{Currency: cart.Currency, Minor: off}
			}
		}
	}
	return check
}

// refusals returns every reason why a use is refused at a time. PromotionCode.Refusals has those that
// concern the code alone. A code that another promotion holds is unknown until its promotion has ended. format is needed for a
// use with a cart value.
func (o CodeOffer) refusals(use CodeUse, at time.Time, format FormatMoney) (list []code.Refusal) {
	refuse := func(when bool, reason code.Reason, about code.Argument, text string, args ...any) {
		if when {
			list = append(list, code.NewRefusal(reason, about, text, args...))
		}
	}
	c, p := o.Code, o.Promotion
	if p == nil || !c.Held && at.Before(p.End) {
		return []code.Refusal{{Reason: code.CodeUnknown, Err: store.NotFoundf([]string{string(code.ArgumentCode)}, "is unknown: %q", store.Abbreviate(use.Code))}}
	}
	refuse(!at.Before(p.End), code.CodeExpired, code.ArgumentCode, "has expired: its promotion ended at %s", store.FormatTime(p.End))
	refuse(at.Before(p.Start), code.CodeNotStarted, code.ArgumentCode, "cannot be used yet: its promotion starts at %s", store.FormatTime(p.Start))
	refuse(!p.Enabled, code.CodeDisabled, code.ArgumentCode, "belongs to a disabled promotion")
	list = append(list, c.Refusals(p)...)
	if !c.User.Includes(use.User) {
		reason, about, text := code.CodeWrongUser, code.ArgumentUser, "may not use this code: it is limited to other users"
		switch anonymous := use.User == "" && len(c.User.Names()) > 0; {
		case anonymous && use.OfToken:
			reason, about, text = code.CodeNeedsUser, code.ArgumentCode, "cannot be used by a shopper who is not signed in: it is limited to certain users"
		case anonymous:
			reason, text = code.CodeNeedsUser, "is required for this code, which is limited to certain users"
		case use.OfToken:
			about, text = code.ArgumentCode, "cannot be used by this shopper: it is limited to other users"
		}
		refuse(true, reason, about, "%s", text)
	}
	value, low, in := code.ArgumentCartValue, "must be at least", "must be in"
	if use.CatalogID != "" {
		value, low, in = code.ArgumentLines, "must cost together at least", "must be priced in"
		refuse(!p.InCatalog(use.CatalogID), code.CodeOtherCatalog, code.ArgumentCode, "cannot be used in this catalog: its promotion is limited to other catalogs")
		refuse(use.Units < 1, code.CodeNoUnits, code.ArgumentLines, "must have an item that the promotion applies to")
	} else {
		refuse(c.ConsumeUnit == code.PerItem && use.Units < 1, code.CodeNoUnits, code.ArgumentUnits, "must be at least 1 for a code that counts per item, got 0")
	}
	if cart := use.CartValue; cart != nil {
		minimum, ok := rule.AmountIn(p.MinCartValue, cart.Currency)
		if ok && cart.Minor < minimum {
			least := store.CurrencyAmount{Currency: cart.Currency, Minor: minimum}
			refuse(true, code.CodeCartTooLow, value, "%s %s, got %s", low, format(least).Formatted, format(*cart).Formatted)
		}
		refuse(!ok && len(p.MinCartValue) > 0, code.CodeNotCurrency, value, "%s a currency with a minimum cart value, got %s", in, cart.Currency)
		refuse(!p.GivesIn(cart.Currency), code.CodeNotCurrency, value, "%s a currency in which the promotion gives a discount, got %s", in, cart.Currency)
	}
	return list
}

// units returns how many uses an accepted use consumes for that many units.
func (o CodeOffer) units(asked int) int {
	if o.Code.ConsumeUnit == code.PerCart {
		return 1
	}
	if left := o.Code.RemainingUses(); left != nil {
		return min(asked, *left)
	}
	return asked
}

// MaxCodeUnits limits the units of a use.
const MaxCodeUnits = 1_000_000

// Validate checks what does not depend on the code. minUnits is the least number of units.
func (u *CodeUse) Validate(minUnits int) error {
	var errs store.Errors
	if u.Units < minUnits || u.Units > MaxCodeUnits {
		errs = append(errs, store.Unprocessablef([]string{"units"}, "must be between %d and %d, got %d", minUnits, MaxCodeUnits, u.Units))
	}
	for _, text := range []struct{ member, text string }{{"user", u.User}, {"reference", u.Reference}} {
		if len(text.text) > 255 {
			errs = append(errs, store.Unprocessablef([]string{text.member}, "must be at most 255 bytes, got %d", len(text.text)))
		}
		if !store.IsStorableText(text.text) {
			errs = append(errs, store.Invalidf([]string{text.member}, "must be UTF-8 text without NUL"))
		}
	}
	if u.CartValue != nil && u.CartValue.Currency == "" {
		errs = append(errs, store.Unprocessablef([]string{"cart_value", "currency"}, "must be an ISO 4217 code such as USD, not empty"))
	}
	if u.CartValue != nil && u.CartValue.Minor < 0 {
		errs = append(errs, store.Unprocessablef([]string{"cart_value", "amount"}, "must be at least 0 minor units, got %d", u.CartValue.Minor))
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}
