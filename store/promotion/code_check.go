package promotion

import (
	"context"
	"slices"
	"time"

	"portico/store"
	"portico/store/db"
)

// CodeUse is what a checkout asks of a code.
type CodeUse struct {
	Code      string
	User      string                // who uses it: a customer's id, or any text the code names; empty for nobody in particular
	Units     int                   // item units it would apply to; counts for per_item codes
	Reference string                // the caller's own, an order number for instance; to redeem
	CartValue *store.CurrencyAmount // what the cart comes to, to check; nil tells nothing
}

// CodeReason is why a code cannot be used.
type CodeReason string

// The reasons.
const (
	CodeUnknown     CodeReason = "unknown"
	CodeExpired     CodeReason = "expired"
	CodeNotStarted  CodeReason = "not_started"
	CodeDisabled    CodeReason = "disabled"
	CodeUsedUp      CodeReason = "used_up"
	CodeWrongUser   CodeReason = "wrong_user"
	CodeNoUnits     CodeReason = "no_units"             // per_item, for no unit
	CodeNotPerItem  CodeReason = "per_item_automatic"   // per_item, of an automatic promotion
	CodeCartTooLow  CodeReason = "below_min_cart_value" // of what the cart comes to
	CodeNotCurrency CodeReason = "other_currency"       // the promotion gives nothing in it
)

// CodeReasons lists every reason.
func CodeReasons() []CodeReason {
	return []CodeReason{CodeUnknown, CodeExpired, CodeNotStarted, CodeDisabled, CodeUsedUp, CodeWrongUser,
		CodeNoUnits, CodeNotPerItem, CodeCartTooLow, CodeNotCurrency}
}

// CodeRefusal is a reason, with the member at fault and the detail of it.
type CodeRefusal struct {
	Reason CodeReason
	Fault  *store.Error
}

// CodeArgument is a member of a CodeUse.
type CodeArgument string

// The members that a refusal can be about.
const (
	CodeArgumentCode      CodeArgument = "code"
	CodeArgumentUser      CodeArgument = "user"
	CodeArgumentUnits     CodeArgument = "units"
	CodeArgumentCartValue CodeArgument = "cart_value" // the amount and its currency
)

// Argument is the member at fault.
func (r CodeRefusal) Argument() CodeArgument { return CodeArgument(r.Fault.Path[0]) }

// CodeCheck is what a code would do.
type CodeCheck struct {
	Refusals     []CodeRefusal  // all of them; none when it is good
	UnitsApplied int            // uses it would take; 0 when refused
	Code         *PromotionCode // nil when unknown
	Promotion    *Promotion     // nil when unknown
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

// CheckCode tells what a code would do, and changes nothing. What it says may
// be outdated by the time the code is redeemed. INVALID and UNPROCESSABLE for
// a use that makes no sense.
func (s *PromotionService) CheckCode(ctx context.Context, use CodeUse) (*CodeCheck, error) {
	if err := use.check(0); err != nil {
		return nil, err
	}
	now := s.db.Now()
	o, err := codeOfferOf(ctx, s.db.Reader, use.Code, now)
	if err != nil {
		return nil, err
	}
	check := &CodeCheck{Refusals: o.refusals(use, now), Code: o.code, Promotion: o.promotion}
	if len(check.Refusals) == 0 {
		check.UnitsApplied = o.units(use.Units)
	}
	return check, nil
}

// codeOffer is a code with what decides whether it is good; both are nil where
// there is no such code.
type codeOffer struct {
	code      *PromotionCode
	promotion *Promotion
}

func codeOfferOf(ctx context.Context, in db.Session, code string, at time.Time) (o codeOffer, err error) {
	found, err := findCode(ctx, in, code)
	if err != nil || found == nil {
		return o, err
	}
	byID, err := promotionsByID(ctx, in, at, []string{found.PromotionID})
	if p := byID[found.PromotionID]; p != nil {
		o = codeOffer{found, p}
	}
	return o, err
}

func refusal(reason CodeReason, about CodeArgument, format string, args ...any) CodeRefusal {
	return CodeRefusal{reason, store.Unprocessablef([]string{string(about)}, format, args...)}
}

// refusals are all reasons why the code is not good for a use at a time.
func (o codeOffer) refusals(use CodeUse, at time.Time) (list []CodeRefusal) {
	refuse := func(when bool, reason CodeReason, about CodeArgument, format string, args ...any) {
		if when {
			list = append(list, refusal(reason, about, format, args...))
		}
	}
	c, p := o.code, o.promotion
	if p == nil || !c.Held && at.Before(p.End) {
		return []CodeRefusal{{CodeUnknown, store.NotFoundf([]string{string(CodeArgumentCode)}, "is no promotion's: %q", store.Abbreviate(use.Code))}}
	}
	refuse(!at.Before(p.End), CodeExpired, CodeArgumentCode, "was good until %s, when its promotion ended", store.FormatTime(p.End))
	refuse(at.Before(p.Start), CodeNotStarted, CodeArgumentCode, "is good from %s on, when its promotion starts", store.FormatTime(p.Start))
	refuse(!p.Enabled, CodeDisabled, CodeArgumentCode, "is of a promotion that is not enabled")
	list = append(list, c.standing(p)...)
	refuse(!c.User.includes(use.User), CodeWrongUser, CodeArgumentUser, "may not use this code, which is for others")
	refuse(c.ConsumeUnit == PerItem && use.Units < 1, CodeNoUnits, CodeArgumentUnits, "must be at least 1 for a code that counts per item, got %d", use.Units)
	if cart := use.CartValue; cart != nil {
		least, asked := amountIn(p.MinCartValue, cart.Currency)
		refuse(asked && cart.Minor < least, CodeCartTooLow, CodeArgumentCartValue, "must be at least %d minor units of %s, got %d", least, cart.Currency, cart.Minor)
		refuse(!asked && len(p.MinCartValue) > 0, CodeNotCurrency, CodeArgumentCartValue, "must be of a currency that the promotion asks a minimum of, got %s", cart.Currency)
		gives := func(c PromotionCurrency) bool { return c.Currency == cart.Currency }
		refuse(len(p.Currencies) > 0 && !slices.ContainsFunc(p.Currencies, gives) && decodePromotionSchema(p.Schema).Percent == nil,
			CodeNotCurrency, CodeArgumentCartValue, "must be of a currency that the promotion gives something in, got %s", cart.Currency)
	}
	return list
}

// units is how many uses a good code takes for so many units.
func (o codeOffer) units(asked int) int {
	if o.code.ConsumeUnit == PerCart {
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
