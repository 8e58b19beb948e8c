// Package cart prices carts: Service.Preview returns a Preview with the lines of a release, the discounts of
// active promotions and the codes that are refused, and CheckCode what one code takes off. It only
// reads. The package must not import shop.
package cart

import (
	"context"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/discount"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
	"portico/store/release"
)

// Limits of a cart.
const (
	MaxLines    = 100
	MaxQuantity = 1_000_000 // of a line
	MaxCodes    = 10
	maxOptions  = 1000 // chosen options of all lines
)

// Service prices carts.
type Service struct {
	db    *db.DB
	codes *redeem.Service
}

// NewService returns a service on a database.
func NewService(d *db.DB, codes *redeem.Service) *Service {
	return &Service{db: d, codes: codes}
}

// LineInput is a line of a cart.
type LineInput struct {
	ProductID string
	Quantity  int
	Choices   []release.BundleChoice // of a bundle; nil for none
}

// Input is a cart to price.
type Input struct {
	Lines []LineInput
	Codes []string
	User  string // who would use the codes, by the token; empty if unknown
	Stock bool   // lines that the stock does not allow have a Problem
}

// ProblemReason is why a line has no price.
type ProblemReason string

const (
	UnknownProduct    ProblemReason = "unknown_product"
	NoPrice           ProblemReason = "no_price" // in the shopper's currency
	VariantRequired   ProblemReason = "variant_required"
	InvalidChoices    ProblemReason = "invalid_choices"
	OutOfStock        ProblemReason = "out_of_stock"
	InsufficientStock ProblemReason = "insufficient_stock"
)

// Problem is why a line has no price.
type Problem struct {
	Reason  ProblemReason
	Message string
}

// Line is a line of a preview. Its amounts are nil if it has a Problem; it then counts for nothing.
type Line struct {
	ProductID string
	Product   *release.Product // without the choices; nil if unknown
	Quantity  int
	UnitPrice *store.Money
	Price     *store.Money // of all units
	Total     *store.Money // Price without the line's part of the discounts
	Problem   *Problem
}

// Discount is what a promotion takes off.
type Discount struct {
	Promotion    *PublicPromotion
	Code         *string // nil for an automatic promotion
	Amount       *store.Money
	Applications int
	Lines        []LineDiscount
}

// LineDiscount is the part of a line in a discount.
type LineDiscount struct {
	Index  int // in the lines of the cart
	Amount *store.Money
}

// RefusedCode is a code that does not count, with every reason.
type RefusedCode struct {
	Code    string
	Reasons []code.Refusal
}

// NextPromotion is the automatic promotion with the lowest minimum cart value above the subtotal.
type NextPromotion struct {
	Promotion *PublicPromotion
	Missing   *store.Money // to the minimum
}

// Preview is what a cart costs.
type Preview struct {
	Lines        []Line
	Subtotal     *store.Money
	Discounts    []Discount // by promotion id
	Total        *store.Money
	IncludesTax  *bool // nil if only some lines include tax, or none has a price
	CodesRefused []RefusedCode
	CodesUnused  []string       // valid, but too few items are in the cart, or other promotions take off more
	Next         *NextPromotion // nil for none
}

// Preview prices a cart at the view's time. It returns UNPROCESSABLE for a cart that exceeds a limit.
func (s *Service) Preview(ctx context.Context, v *release.View, in Input) (*Preview, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	p, err := s.price(ctx, v, in)
	if err != nil {
		return nil, err
	}
	codes := store.Unique(in.Codes)
	offers, err := s.offers(ctx, v)
	if err != nil {
		return nil, err
	}
	automatic := len(offers)
	found := make([]redeem.CodeOffer, len(codes))
	if len(codes) > 0 {
		if found, err = s.codes.CodeOffers(ctx, codes, v.Now()); err != nil {
			return nil, err
		}
	}
	checked := map[string]bool{} // codes by id, since two texts may match one code
	for i, text := range codes {
		if c := found[i].Code; c != nil {
			if checked[c.ID] {
				continue
			}
			checked[c.ID] = true
		}
		check, err := p.check(v, found[i], redeem.CodeUse{Code: text, User: in.User, OfToken: true})
		if err != nil {
			return nil, err
		}
		if check.Valid() {
			offers = append(offers, offerOf(check))
			p.CodesUnused = append(p.CodesUnused, check.Code.Code)
		} else {
			p.CodesRefused = append(p.CodesRefused, RefusedCode{text, check.Refusals})
		}
	}
	if err := p.apply(v, offers); err != nil {
		return nil, err
	}
	promotions := make([]*rule.Promotion, automatic)
	for i := range promotions {
		promotions[i] = offers[i].Promotion
	}
	next, missing, err := p.cart.Next(promotions)
	if err != nil {
		return nil, err
	}
	if next >= 0 {
		p.Next = &NextPromotion{NewPublicPromotion(v, promotions[next]), v.Money(missing)}
	}
	return &p.Preview, nil
}

// CheckCode checks a code for a cart without codes, with the amount that it takes off there. The units and
// the value of the use are those of the cart. It returns INVALID or UNPROCESSABLE for an invalid use or cart.
func (s *Service) CheckCode(ctx context.Context, v *release.View, use redeem.CodeUse, in Input) (*redeem.CodeCheck, error) {
	if err := use.Validate(0); err != nil {
		return nil, err
	}
	if err := in.validate(); err != nil {
		return nil, err
	}
	p, err := s.price(ctx, v, in)
	if err != nil {
		return nil, err
	}
	found, err := s.codes.CodeOffers(ctx, []string{use.Code}, v.Now())
	if err != nil {
		return nil, err
	}
	check, err := p.check(v, found[0], use)
	if err != nil || !check.Valid() {
		return check, err
	}
	offers, err := s.offers(ctx, v)
	if err != nil {
		return nil, err
	}
	off, applications := int64(0), 0
	offers = append(offers, offerOf(check))
	discounts, err := p.cart.Apply(offers)
	if err != nil {
		return nil, err
	}
	for _, d := range discounts {
		if offers[d.Offer].Promotion.ID == check.Promotion.ID {
			off, applications = d.Minor, d.Applications
		}
	}
	check.Amount = &store.CurrencyAmount{Currency: v.Currency, Minor: off}
	if check.Code.ConsumeUnit == code.PerItem {
		check.UnitsApplied = applications
	}
	return check, nil
}

// validate returns an error for each limit that the cart exceeds.
func (in Input) validate() error {
	var errs store.Errors
	if len(in.Lines) > MaxLines {
		errs = append(errs, store.Unprocessablef([]string{"lines"}, "must have at most %d lines, got %d. Add up the quantities of lines that are alike.", MaxLines, len(in.Lines)))
	}
	if len(in.Codes) > MaxCodes {
		errs = append(errs, store.Unprocessablef([]string{"codes"}, "must have at most %d codes, got %d. Leave out those that were refused or unused before.", MaxCodes, len(in.Codes)))
	}
	options := 0
	for i, line := range in.Lines[:min(len(in.Lines), MaxLines)] {
		if line.Quantity < 1 || line.Quantity > MaxQuantity {
			errs = append(errs, store.Unprocessablef([]string{"lines", strconv.Itoa(i), "quantity"}, "must be between 1 and %d, got %d. Leave out lines without units.", MaxQuantity, line.Quantity))
		}
		for _, choice := range line.Choices {
			options += len(choice.Options)
		}
	}
	if options > maxOptions {
		errs = append(errs, store.Unprocessablef([]string{"lines"}, "must choose at most %d options in all lines, got %d. Preview the bundles in several carts.", maxOptions, options))
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// pricedCart is a preview while it is made.
type pricedCart struct {
	Preview
	priced []discount.Line // lines with a price
	place  []int           // of each in Lines
	cart   *discount.Cart  // of priced; charges its work to the allowance of the context
}

// price prices the lines, in their order. A line has a problem if the product or its choices are unknown, it has no price, or the stock
// does not allow it; it then counts for nothing. Promotions are not applied yet.
func (s *Service) price(ctx context.Context, v *release.View, in Input) (*pricedCart, error) {
	lines := in.Lines
	configurations := make([]release.Configuration, len(lines))
	for i, line := range lines {
		configurations[i] = release.Configuration{ProductID: line.ProductID, Choices: line.Choices}
	}
	products, err := v.ConfiguredProducts(ctx, configurations)
	if err != nil {
		return nil, err
	}
	var stock *stockLeft
	if in.Stock {
		if stock, err = stockOf(ctx, v, lines, products); err != nil {
			return nil, err
		}
	}
	p := &pricedCart{Preview: Preview{Lines: make([]Line, len(lines))}}
	subtotal, withTax := int64(0), 0
	for i, line := range lines {
		p.Lines[i] = Line{ProductID: line.ProductID, Product: products[i].Product, Quantity: line.Quantity}
		unit := products[i].UnitPrice(line.Quantity)
		if unit == nil || products[i].Product.BaseProduct() {
			p.Lines[i].Problem = problemOf(products[i], v.RequestedCurrency())
			continue
		}
		if p.Lines[i].Problem = stock.take(line); p.Lines[i].Problem != nil {
			continue
		}
		high, price := bits.Mul64(uint64(unit.Minor), uint64(line.Quantity))
		if high > 0 || price > uint64(store.MaxAmount-subtotal) {
			return nil, store.Unprocessablef([]string{"lines"}, "must cost at most %d minor units of %s together. Lower the quantities, or preview several carts.", int64(store.MaxAmount), v.Currency)
		}
		subtotal += int64(price)
		p.Lines[i].UnitPrice, p.Lines[i].Price, p.Lines[i].Total = v.Money(unit.Minor), v.Money(int64(price)), v.Money(int64(price))
		p.priced = append(p.priced, discount.Line{SKU: products[i].Product.SKU(), Unit: unit.Minor, Quantity: line.Quantity, Extensions: products[i].Product.Extensions()})
		p.place = append(p.place, i)
		if unit.IncludesTax {
			withTax++
		}
	}
	if n := len(p.priced); n > 0 && (withTax == 0 || withTax == n) {
		includes := withTax > 0
		p.IncludesTax = &includes
	}
	p.Subtotal, p.Total = v.Money(subtotal), v.Money(subtotal)
	p.cart = discount.NewCart(p.priced, v.Currency, func(steps int) error { return store.ChargeSteps(ctx, steps) })
	return p, nil
}

// problemOf returns why a product has no price.
func problemOf(p release.PricedProduct, currency string) *Problem {
	switch {
	case p.Product == nil:
		return &Problem{UnknownProduct, p.Err.Error()}
	case p.Product.BaseProduct():
		return &Problem{VariantRequired, "The product is sold as its variants. Put one of them into the cart."}
	case len(p.Product.Components()) == 0 && p.Err != nil:
		return &Problem{InvalidChoices, "The product is not a bundle. Leave out its choices."}
	case p.Err != nil:
		var sentences []string
		for _, e := range store.AsErrors(p.Err) {
			sentences = append(sentences, e.Error())
		}
		return &Problem{InvalidChoices, strings.Join(sentences, " ")}
	}
	return &Problem{NoPrice, "The product has no price in " + currency + "."}
}

// offers returns the automatic promotions of the view's catalog.
func (s *Service) offers(ctx context.Context, v *release.View) (offers []discount.Offer, err error) {
	promotions, err := rule.FindAutomatic(ctx, s.db.Reader, v.Now(), v.Release.CatalogID)
	for _, p := range promotions {
		offers = append(offers, discount.Offer{Promotion: p})
	}
	return offers, err
}

// check checks a code for the cart, with its value and its units in the cart.
func (p *pricedCart) check(v *release.View, found redeem.CodeOffer, use redeem.CodeUse) (*redeem.CodeCheck, error) {
	use.CatalogID, use.CartValue = v.Release.CatalogID, &store.CurrencyAmount{Currency: v.Currency, Minor: discount.Subtotal(p.priced)}
	if found.Promotion != nil {
		units, err := p.cart.Units(found.Promotion)
		if err != nil {
			return nil, err
		}
		use.Units = min(units, redeem.MaxCodeUnits)
	}
	return found.Check(use, v.Now(), func(a store.CurrencyAmount) *store.Money { return v.Money(a.Minor) }), nil
}

// offerOf returns the offer of an accepted code.
func offerOf(check *redeem.CodeCheck) discount.Offer {
	o := discount.Offer{Promotion: check.Promotion, Code: check.Code.Code}
	if check.Code.ConsumeUnit == code.PerItem {
		o.Limit = check.Code.RemainingUses()
	}
	return o
}

// apply sets the discounts and what depends on them: the totals of the lines and of the cart. It takes codes that give a discount out of
// CodesUnused.
func (p *pricedCart) apply(v *release.View, offers []discount.Offer) error {
	discounts, err := p.cart.Apply(offers)
	if err != nil {
		return err
	}
	subtotal := discount.Subtotal(p.priced)
	total, left := subtotal, make([]int64, len(p.priced))
	for i, line := range p.priced {
		left[i] = line.Unit * int64(line.Quantity)
	}
	for _, d := range discounts {
		offer := offers[d.Offer]
		made := Discount{Promotion: NewPublicPromotion(v, offer.Promotion), Amount: v.Money(d.Minor), Applications: d.Applications}
		if offer.Code != "" {
			made.Code = &offer.Code
			p.CodesUnused = slices.DeleteFunc(p.CodesUnused, func(text string) bool { return text == offer.Code })
		}
		for _, part := range d.Lines {
			made.Lines = append(made.Lines, LineDiscount{p.place[part.Line], v.Money(part.Minor)})
			left[part.Line] -= part.Minor
		}
		total -= d.Minor
		p.Discounts = append(p.Discounts, made)
	}
	for i, minor := range left {
		p.Lines[p.place[i]].Total = v.Money(minor)
	}
	p.Total = v.Money(total)
	return nil
}
