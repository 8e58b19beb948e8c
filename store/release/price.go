package release

import (
	"strconv"
	"time"

	"portico/store"
	"portico/store/catalog"
)

// Price is what a product costs in the view's currency.
type Price struct {
	Minor       int64 // minor units
	Currency    string
	IncludesTax bool
	PricebookID string
}

// Amount is the minor units in digits, exact in every client.
func (p *Price) Amount() string { return strconv.FormatInt(p.Minor, 10) }

// DisplayPrice is a price for people: with tax, or without, as the price book
// has it. The other is nil, because no tax rate is known here.
type DisplayPrice struct {
	WithTax    *store.Money
	WithoutTax *store.Money
}

// PriceTier is what one unit costs from so many units on.
type PriceTier struct {
	Name            string
	MinimumQuantity int
	Price           *Price
	DisplayPrice    *DisplayPrice
}

// pricing is what a product costs in one currency while neither a sale
// begins nor one ends: from From until just before Until, where 0 is ever.
type pricing struct {
	price, original          *Price // original is the price before the sale, nil outside one
	display, originalDisplay *DisplayPrice
	tiers                    []PriceTier // by minimum quantity
	saleID                   string      // empty outside a sale
	saleExpires              int64       // microseconds; 0 outside a sale, and for one without an end
	from, until              int64       // microseconds
}

// holds tells whether the prices are those of a moment.
func (p *pricing) holds(at int64) bool { return at >= p.from && (p.until == 0 || at < p.until) }

// pricingAt works out what the product costs at a moment.
func pricingAt(o *catalog.Offer, at int64, written moneyFormat) *pricing {
	p := &pricing{}
	var holding *catalog.Sale
	holding, p.from, p.until = o.SaleAt(at)
	current := o.Base
	if holding != nil {
		current = &holding.TieredPrice
		p.saleID, p.saleExpires = holding.ID, holding.To
		p.original, p.originalDisplay = shownPrice(o, o.Base, written)
	}
	p.price, p.display = shownPrice(o, current, written)
	if current != nil {
		for _, t := range o.Tiers(holding) {
			tier := PriceTier{Name: t.Name, MinimumQuantity: t.MinimumQuantity}
			tier.Price, tier.DisplayPrice = shownPrice(o, &catalog.TieredPrice{Minor: t.Minor, IncludesTax: current.IncludesTax}, written)
			p.tiers = append(p.tiers, tier)
		}
	}
	return p
}

// shownPrice is an amount as readers get it; nil for none.
func shownPrice(o *catalog.Offer, a *catalog.TieredPrice, written moneyFormat) (*Price, *DisplayPrice) {
	if a == nil {
		return nil, nil
	}
	price := &Price{Minor: a.Minor, Currency: written.currency, IncludesTax: a.IncludesTax, PricebookID: o.PricebookID}
	money := written.of(a.Minor)
	if a.IncludesTax {
		return price, &DisplayPrice{WithTax: money}
	}
	return price, &DisplayPrice{WithoutTax: money}
}

// AppendJSON appends the attribute price: {"USD":{"amount":1,"includes_tax":false}}.
func (p *Price) appendJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	dst = append(store.AppendName(dst, p.Currency), `{"amount":`...)
	dst = strconv.AppendInt(dst, p.Minor, 10)
	dst = append(dst, `,"includes_tax":`...)
	return append(append(dst, catalog.FormatBool(p.IncludesTax)...), "}}"...)
}

func (d *DisplayPrice) appendJSON(dst []byte) []byte {
	if d == nil {
		return append(dst, "null"...)
	}
	dst = d.WithTax.AppendJSON(append(dst, `{"with_tax":`...))
	dst = d.WithoutTax.AppendJSON(append(dst, `,"without_tax":`...))
	return append(dst, '}')
}

// appendTiers appends {"min_5":{"minimum_quantity":5,…}}, where rest is a
// tier's further member.
func appendTiers(dst []byte, tiers []PriceTier, rest func([]byte, PriceTier) []byte) []byte {
	dst = append(dst, '{')
	for _, t := range tiers {
		dst = append(store.AppendKey(dst, t.Name), `{"minimum_quantity":`...)
		dst = strconv.AppendInt(dst, int64(t.MinimumQuantity), 10)
		dst = append(rest(dst, t), '}')
	}
	return append(dst, '}')
}

// appendAttributes appends the attributes price and tiers.
func (p *pricing) appendAttributes(dst []byte) []byte {
	dst = p.price.appendJSON(store.AppendName(dst, "price"))
	return appendTiers(store.AppendName(dst, "tiers"), p.tiers, func(dst []byte, t PriceTier) []byte {
		return t.Price.appendJSON(store.AppendName(dst, "price"))
	})
}

// appendMeta appends the members of meta that depend on currency and clock.
func (p *pricing) appendMeta(dst []byte) []byte {
	pricebook, original := "", []byte("null")
	if p.price != nil {
		pricebook = p.price.PricebookID
	}
	if p.original != nil {
		original = p.original.appendJSON(nil)
	}
	dst = store.AppendMember(dst, "pricebook_id", pricebook)
	dst = p.display.appendJSON(store.AppendName(dst, "display_price"))
	dst = append(store.AppendName(dst, "original_price"), original...)
	dst = p.originalDisplay.appendJSON(store.AppendName(dst, "original_display_price"))
	dst = store.AppendMember(dst, "sale_id", p.saleID)
	dst = store.AppendName(dst, "sale_expires")
	if expires := p.expires(); expires != nil {
		dst = store.AppendString(dst, store.FormatTimeBare(*expires))
	} else {
		dst = append(dst, "null"...)
	}
	return appendTiers(store.AppendName(dst, "tiers"), p.tiers, func(dst []byte, t PriceTier) []byte {
		return t.DisplayPrice.appendJSON(store.AppendName(dst, "display_price"))
	})
}

func (p *pricing) expires() *time.Time {
	if p.saleExpires == 0 {
		return nil
	}
	at := store.FromMicros(p.saleExpires)
	return &at
}
