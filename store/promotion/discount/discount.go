// Package discount calculates the discounts of a cart by the rule of docs/promotions.md. NewCart takes the
// lines of a Cart; its method Apply takes the promotions that may apply, and returns a Discount for each that
// does; Next returns the promotion that a larger cart would get. It reads nothing. The package must not
// import db or release.
package discount

import (
	"cmp"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/promotion/rule"
)

// Line is a priced line of a cart. The sum of all lines must not exceed store.MaxAmount.
type Line struct {
	SKU        string
	Unit       int64 // price of one unit, in minor units of the cart's currency; at least 0
	Quantity   int
	Extensions json.RawMessage // of the product, for conditions
}

// Offer is a promotion that may apply to a cart.
type Offer struct {
	Promotion *rule.Promotion
	Code      string // by which it was requested; empty for an automatic promotion
	Limit     *int   // of applications, by the remaining uses of a per_item code; nil for none
}

// Discount is what an offer takes off a cart.
type Discount struct {
	Offer        int // index
	Applications int
	Minor        int64        // more than 0
	Lines        []LineAmount // by line; their sum is Minor
}

// LineAmount is a part of a discount.
type LineAmount struct {
	Line  int // index
	Minor int64
}

// Subtotal returns the sum of the lines.
func Subtotal(lines []Line) (minor int64) {
	for _, l := range lines {
		minor += l.Unit * int64(l.Quantity)
	}
	return minor
}

// Apply applies promotions of items first, each unit in at most one of them (competing.go), then the one
// promotion of the whole cart that takes off the most of what is left. It returns the discounts by promotion
// id. The result does not depend on the order of the offers, nor on that of the lines but for their indexes.
// The offers' promotions must be active, and for the cart's catalog. The error is that of Spend.
func (c *Cart) Apply(offers []Offer) ([]Discount, error) {
	var items, whole []*application
	for _, a := range c.applicable(offers) {
		if a.p.HasItems() {
			items = append(items, a)
		} else {
			whole = append(whole, a)
		}
	}
	used := c.bestOfItems(items)
	left := c.values()
	for _, d := range used {
		for i, minor := range d.off {
			left[i] -= minor
		}
	}
	if d := c.bestOfCart(whole, left); d != nil {
		used = append(used, d)
	}
	discounts := make([]Discount, len(used))
	for i, d := range used {
		discounts[i] = Discount{Offer: d.of.offer, Applications: d.applications, Minor: d.total, Lines: c.lineAmounts(d.off)}
	}
	slices.SortFunc(discounts, func(a, b Discount) int {
		return cmp.Compare(offers[a.Offer].Promotion.ID, offers[b.Offer].Promotion.ID)
	})
	return discounts, c.spendPending()
}

// Next returns which promotion the cart would get if it were worth more, and how much is missing: the one
// with the lowest minimum cart value above the subtotal. A promotion with items counts only if it wants
// one of the cart's. The index is -1 for none. The error is that of Spend.
func (c *Cart) Next(promotions []*rule.Promotion) (next int, missing int64, err error) {
	subtotal := Subtotal(c.lines)
	next = -1
	for i, p := range promotions {
		least, ok := p.MinimumIn(c.currency)
		if !ok || least <= subtotal || !p.GivesIn(c.currency) {
			continue
		}
		by := least - subtotal
		if next >= 0 && (by > missing || by == missing && p.ID > promotions[next].ID) {
			continue
		}
		if a := c.newApplication(p); !p.HasItems() || slices.Contains(a.wanted, true) {
			next, missing = i, by
		}
	}
	return next, missing, c.spendPending()
}

// OfAmount returns what a promotion takes off a cart of which only the value is known; false if that
// depends on its items.
func OfAmount(p *rule.Promotion, minor int64, currency string) (off int64, ok bool) {
	if p.HasItems() || len(p.Conditions) > 0 {
		return 0, false
	}
	discounts, _ := NewCart([]Line{{Unit: minor, Quantity: 1}}, currency, nil).Apply([]Offer{{Promotion: p}}) // without Spend there is no error
	for _, d := range discounts {
		off = d.Minor
	}
	return off, true
}

// Spend accounts for steps of the calculation, as store.ChargeSteps does. After an error the calculation ends.
type Spend func(steps int) error

// Cart is a cart in canonical order: the most expensive units first. Lines that compare equal are alike. It is not safe for
// concurrent use.
type Cart struct {
	lines    []Line
	place    []int             // of each line in the order given
	bySKU    map[string][]int  // lines
	fields   []rule.ItemFields // of each line that a condition was compared with
	currency string
	spend    Spend // nil for no limit
	pending  int   // steps that spend was not called for yet
	err      error // of spend
}

// NewCart returns a cart of lines. spend may be nil.
func NewCart(lines []Line, currency string, spend Spend) *Cart {
	c := &Cart{place: make([]int, len(lines)), currency: currency, lines: make([]Line, len(lines)), bySKU: map[string][]int{}, spend: spend}
	for i := range lines {
		c.place[i] = i
	}
	slices.SortStableFunc(c.place, func(i, k int) int {
		a, b := lines[i], lines[k]
		return cmp.Or(cmp.Compare(b.Unit, a.Unit), cmp.Compare(a.SKU, b.SKU), cmp.Compare(b.Quantity, a.Quantity), cmp.Compare(string(a.Extensions), string(b.Extensions)))
	})
	for i, at := range c.place {
		c.lines[i] = lines[at]
		c.bySKU[c.lines[i].SKU] = append(c.bySKU[c.lines[i].SKU], i)
	}
	return c
}

// spentAtOnce is the number of steps after which Spend is called.
const spentAtOnce = 4096

// step accounts for steps. It returns false if the calculation must end.
func (c *Cart) step(steps int) bool {
	c.pending += steps
	if c.pending >= spentAtOnce {
		return c.spendPending() == nil
	}
	return c.err == nil
}

// spendPending accounts for the steps so far, and returns the error of Spend.
func (c *Cart) spendPending() error {
	if c.err == nil && c.spend != nil {
		c.err = c.spend(c.pending)
	}
	c.pending = 0
	return c.err
}

// values returns the price of each line.
func (c *Cart) values() []int64 {
	list := make([]int64, len(c.lines))
	for i, l := range c.lines {
		list[i] = l.Unit * int64(l.Quantity)
	}
	return list
}

// lineAmounts returns amounts by line in the order given, without zeros. off is in canonical order.
func (c *Cart) lineAmounts(off []int64) (list []LineAmount) {
	for i, minor := range off {
		if minor > 0 {
			list = append(list, LineAmount{c.place[i], minor})
		}
	}
	slices.SortFunc(list, func(a, b LineAmount) int { return cmp.Compare(a.Line, b.Line) })
	return list
}

// application is an offer with what it wants of the cart.
type application struct {
	offer    int // index
	p        *rule.Promotion
	terms    rule.Terms
	amount   int64           // in the cart's currency; 0 for none
	percent  rule.Percentage // in the cart's currency; 0 for none
	limit    int             // of applications
	excluded []bool          // by line, as all below
	wanted   []bool          // lines that it can use
	required []requirement
	gifts    [][]int // lines of each gift
}

// exclude marks the lines that the promotion's conditions exclude. It decodes the extensions of each line once for all
// promotions.
func (c *Cart) exclude(a *application) {
	exclusion := a.p.Exclusion()
	if len(exclusion) == 0 || !c.step(len(a.p.Conditions)+len(exclusion)*len(c.lines)) {
		return
	}
	if c.fields == nil {
		c.fields = make([]rule.ItemFields, len(c.lines))
		for i, l := range c.lines {
			if !c.step(decodedFactor * len(l.Extensions)) {
				return
			}
			c.fields[i] = rule.DecodeItemFields(l.Extensions)
		}
	}
	for i := range c.lines {
		a.excluded[i] = exclusion.Excludes(c.fields[i])
	}
}

// decodedFactor is the number of steps to decode a byte of JSON.
const decodedFactor = 4

// requirement is a part of a bundle and the lines that have it.
type requirement struct {
	quantity int
	lines    []int
}

// newApplication returns what a promotion wants of the cart. If c.err is set, it is incomplete.
func (c *Cart) newApplication(p *rule.Promotion) *application {
	a := &application{p: p, terms: p.Terms(), limit: noLimit, excluded: make([]bool, len(c.lines)), wanted: make([]bool, len(c.lines))}
	a.amount, _ = p.AmountIn(c.currency)
	a.percent, _ = rule.NewPercentage(p.PercentageIn(c.currency))
	if p.MaxApplicationsPerCart != nil {
		a.limit = *p.MaxApplicationsPerCart
	}
	c.step(decodedFactor * len(p.Schema))
	c.exclude(a)
	if c.err != nil {
		return a
	}
	if p.Type != rule.BundleFixedDiscount && p.Type != rule.BundleGift {
		for _, i := range c.having(a, a.terms.Targets) {
			a.wanted[i] = true
		}
		return a
	}
	for _, part := range fewestFirst(a.terms.Requirements) {
		if part.Quantity > 0 {
			a.required = append(a.required, requirement{part.Quantity, c.having(a, part.Targets)})
		}
	}
	if p.Type == rule.BundleGift {
		for _, sku := range store.Unique(a.terms.Gifts) {
			a.gifts = append(a.gifts, c.having(a, []string{sku}))
		}
	}
	for _, r := range a.required {
		for _, i := range r.lines {
			a.wanted[i] = true
		}
	}
	for _, lines := range a.gifts {
		for _, i := range lines {
			a.wanted[i] = true
		}
	}
	return a
}

// fewestFirst returns requirements by their number of SKUs, those without any last.
func fewestFirst(parts []rule.Requirement) []rule.Requirement {
	size := func(r rule.Requirement) int {
		if r.Targets == nil {
			return noLimit
		}
		return len(r.Targets)
	}
	return slices.SortedStableFunc(slices.Values(parts), func(a, b rule.Requirement) int { return cmp.Compare(size(a), size(b)) })
}

// noLimit is the limit of what has none: the largest int.
const noLimit = int(^uint(0) >> 1)

// having returns the lines with one of some SKUs, nil for all, that are not excluded.
func (c *Cart) having(a *application, skus []string) (lines []int) {
	if !c.step(len(skus) + len(c.lines)) {
		return nil
	}
	if skus == nil {
		for i := range c.lines {
			lines = append(lines, i)
		}
	}
	for _, sku := range skus {
		lines = append(lines, c.bySKU[sku]...)
	}
	slices.Sort(lines)
	return slices.DeleteFunc(slices.Compact(lines), func(i int) bool { return a.excluded[i] })
}

// applicable returns what can apply, each promotion once, by id. Of several codes of a promotion the one
// with the most uses applies.
func (c *Cart) applicable(offers []Offer) (list []*application) {
	subtotal := Subtotal(c.lines)
	order := make([]int, len(offers))
	for i := range offers {
		order[i] = i
	}
	limit := func(o Offer) int {
		if o.Limit == nil {
			return noLimit
		}
		return *o.Limit
	}
	slices.SortFunc(order, func(i, k int) int {
		a, b := offers[i], offers[k]
		return cmp.Or(cmp.Compare(a.Promotion.ID, b.Promotion.ID), cmp.Compare(limit(b), limit(a)), cmp.Compare(a.Code, b.Code), cmp.Compare(i, k))
	})
	for at, i := range order {
		o := offers[i]
		least, ok := o.Promotion.MinimumIn(c.currency)
		if at > 0 && offers[order[at-1]].Promotion.ID == o.Promotion.ID || !ok || subtotal < least || !o.Promotion.GivesIn(c.currency) {
			continue
		}
		a := c.newApplication(o.Promotion)
		a.offer, a.limit = i, min(a.limit, limit(o))
		if c.err != nil {
			return nil
		}
		list = append(list, a)
	}
	return list
}

// bestOfCart returns the promotion of the whole cart that takes off the most; nil for none. left is what
// remains of each line.
func (c *Cart) bestOfCart(whole []*application, left []int64) (best *applied) {
	for _, a := range whole {
		if d := c.useOnCart(a, left); d != nil && (best == nil || d.total > best.total) {
			best = d
		}
	}
	return best
}

// useOnCart applies a promotion of the whole cart to what is left of each line; nil if it takes nothing off.
func (c *Cart) useOnCart(a *application, left []int64) *applied {
	if !c.step(stepsOfLine * len(left)) {
		return nil
	}
	base, parts := int64(0), make([]int64, len(left))
	for i, minor := range left {
		if !a.excluded[i] {
			base, parts[i] = base+minor, minor
		}
	}
	off := min(a.amount, base)
	if a.p.Type == rule.PercentDiscount {
		off = a.percent.Of(base)
	}
	off = a.p.Capped(off, c.currency)
	if off <= 0 || a.limit < 1 {
		return nil
	}
	return &applied{of: a, off: divide(off, parts), applications: 1, total: off}
}

// Units returns how many units of the cart a promotion could apply to. The error is that of Spend.
func (c *Cart) Units(p *rule.Promotion) (units int, err error) {
	a := c.newApplication(p)
	for i, l := range c.lines {
		if a.wanted[i] {
			units += l.Quantity
		}
	}
	return units, c.spendPending()
}
