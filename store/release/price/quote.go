package price

import (
	"time"

	"portico/store"
)

// Quote is what a product costs in one currency until a sale begins or ends:
// from From until just before Until, in microseconds; 0 means unbounded. The
// zero Quote has no price.
type Quote struct {
	Price, Original *Price      // Original is the price before the sale, nil outside one
	Tiers           []PriceTier // by minimum quantity
	SaleID          string      // empty outside a sale
	From, Until     int64
	saleEnd         int64 // when the sale ends, in microseconds; 0 outside a sale, and for one without an end
}

// Holds reports whether the quote is valid at a moment, in microseconds.
func (q *Quote) Holds(at int64) bool { return at >= q.From && (q.Until == 0 || at < q.Until) }

// QuoteAt returns the prices of an offer at a moment, in microseconds.
func QuoteAt(o *Offer, at int64, format Formatter) *Quote {
	q := &Quote{}
	var sale *Sale
	sale, q.From, q.Until = o.SaleAt(at)
	current := o.Base
	if sale != nil {
		current = &sale.TieredPrice
		q.SaleID, q.saleEnd = sale.ID, sale.To
		if o.Base != nil {
			q.Original = format.Price(o.Base.Minor, o.Base.IncludesTax, o.PricebookID)
		}
	}
	if current == nil {
		return q
	}
	q.Price = format.Price(current.Minor, current.IncludesTax, o.PricebookID)
	for _, t := range o.Tiers(sale) {
		q.Tiers = append(q.Tiers, PriceTier{t.Name, t.MinimumQuantity, format.Price(t.Minor, current.IncludesTax, o.PricebookID)})
	}
	return q
}

// UnitPrice returns the price of one of so many units: that of the last tier that the quantity reaches,
// else Price. Nil without a price.
func (q *Quote) UnitPrice(quantity int) *Price {
	unit := q.Price
	for _, tier := range q.Tiers {
		if tier.MinimumQuantity <= quantity {
			unit = tier.Price
		}
	}
	return unit
}

// SaleExpires returns when the sale ends; nil outside a sale, and for one
// without an end.
func (q *Quote) SaleExpires() *time.Time {
	if q.saleEnd == 0 {
		return nil
	}
	at := store.FromMicros(q.saleEnd)
	return &at
}

// AppendAttributes appends the product's attributes price and tiers.
func (q *Quote) AppendAttributes(dst []byte) []byte {
	dst = q.Price.appendJSON(store.AppendName(dst, "price"))
	return appendTiers(store.AppendName(dst, "tiers"), q.Tiers, false)
}

// AppendMeta appends the members of the product's meta that depend on the
// currency and the time.
func (q *Quote) AppendMeta(dst []byte) []byte {
	pricebook := ""
	if q.Price != nil {
		pricebook = q.Price.PricebookID
	}
	dst = store.AppendMember(dst, "pricebook_id", pricebook)
	dst = q.Price.appendDisplayJSON(store.AppendName(dst, "display_price"))
	if dst = store.AppendName(dst, "original_price"); q.Original != nil {
		dst = q.Original.appendJSON(dst)
	} else {
		dst = append(dst, "null"...)
	}
	dst = q.Original.appendDisplayJSON(store.AppendName(dst, "original_display_price"))
	dst = store.AppendMember(dst, "sale_id", q.SaleID)
	dst = store.AppendName(dst, "sale_expires")
	if expires := q.SaleExpires(); expires != nil {
		dst = store.AppendString(dst, store.FormatTimeBare(*expires))
	} else {
		dst = append(dst, "null"...)
	}
	return appendTiers(store.AppendName(dst, "tiers"), q.Tiers, true)
}
