package catalog

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Offer is what one price book asks for a product in one currency: a base
// price, and sales that replace it for a time.
type Offer struct {
	PricebookID string
	Base        *Asked // nil for what is only ever sold in a sale
	Sales       []Sale // the one that wins first
}

// Asked is an amount with its tiers, as a release keeps it.
type Asked struct {
	Minor       int64  `json:"amount"` // minor units
	IncludesTax bool   `json:"includes_tax"`
	Tiers       []Tier `json:"tiers,omitempty"` // by minimum quantity
}

type Tier struct {
	Name            string `json:"name"`
	MinimumQuantity int    `json:"minimum_quantity"`
	Minor           int64  `json:"amount"`
}

// Sale is a price for a time: from From until just before To, where 0 is ever.
type Sale struct {
	ID   string `json:"id"`
	From int64  `json:"from,omitempty"` // microseconds
	To   int64  `json:"to,omitempty"`
	Asked
}

// length of a sale; one that is open on either side lasts longer than any
// other.
func (s *Sale) length() int64 {
	if s.From == 0 || s.To == 0 {
		return 1<<63 - 1
	}
	return s.To - s.From
}

// sortSales puts sales in the order in which they win: the shortest first,
// then the one that began last, then by name (DESIGN 8).
func sortSales(sales []Sale) {
	slices.SortFunc(sales, func(a, b Sale) int {
		return cmp.Or(cmp.Compare(a.length(), b.length()), cmp.Compare(b.From, a.From), cmp.Compare(a.ID, b.ID))
	})
}

// SaleAt is the sale that holds at a moment, nil outside all of them; and the
// edges of sales around the moment, 0 where there is none.
func (o *Offer) SaleAt(at int64) (holding *Sale, from, until int64) {
	for i := range o.Sales {
		s := &o.Sales[i]
		for _, edge := range []int64{s.From, s.To} {
			switch {
			case edge == 0:
			case edge <= at:
				from = max(from, edge)
			case until == 0 || edge < until:
				until = edge
			}
		}
		if holding == nil && at >= s.From && (s.To == 0 || at < s.To) {
			holding = s
		}
	}
	return holding, from, until
}

// AmountAt is what the product costs at a moment, nil for no price; and until
// when, 0 for ever.
func (o *Offer) AmountAt(at int64) (now *Asked, until int64) {
	holding, _, until := o.SaleAt(at)
	if holding != nil {
		return &holding.Asked, until
	}
	return o.Base, until
}

// Tiers are what more units cost while a sale holds, or outside all of them
// for nil. The base price's hold in a sale too where they are lower than what
// the sale asks for so many units, so that nobody pays more for a box because
// its pieces are on sale; and one of the sale's own is left out where they are
// lower already. Amounts with tax and without do not compare: there the sale's
// own stand alone. A name that both have is the sale's.
func (o *Offer) Tiers(holding *Sale) []Tier {
	switch {
	case holding == nil:
		return o.Base.Tiers
	case o.Base == nil || len(o.Base.Tiers) == 0 || o.Base.IncludesTax != holding.IncludesTax:
		return holding.Tiers
	}
	names := map[string]bool{}
	for _, t := range holding.Tiers {
		names[t.Name] = true
	}
	var list []Tier
	own, base := holding.Tiers, o.Base.Tiers
	asked, floor := holding.Minor, int64(math.MaxInt64) // floor: of the base's tiers that hold
	for len(own)+len(base) > 0 {
		if len(base) == 0 || len(own) > 0 && (own[0].MinimumQuantity < base[0].MinimumQuantity ||
			own[0].MinimumQuantity == base[0].MinimumQuantity && own[0].Minor <= base[0].Minor) {
			if own[0].Minor < floor {
				list, asked = append(list, own[0]), min(asked, own[0].Minor)
			}
			own = own[1:]
			continue
		}
		if t := base[0]; t.Minor < asked {
			for names[t.Name] {
				t.Name += "_" + strconv.Itoa(t.MinimumQuantity)
			}
			names[t.Name] = true
			list, asked, floor = append(list, t), t.Minor, t.Minor
		}
		base = base[1:]
	}
	return list
}

// Offers works out what price books ask for a product, by currency: of the
// books by priority, the first with a price in it; where none has one, the
// first with a sale in it. A sale belongs to the price it replaces.
func Offers(ranked []RankedPricebook, ofBook map[string]*PriceSource) map[string]*Offer {
	found := map[string]*Offer{}
	for _, rank := range ranked {
		source := ofBook[rank.ID]
		if source == nil {
			continue
		}
		for code, o := range source.offers() {
			if before := found[code]; before == nil || before.Base == nil && o.Base != nil {
				found[code] = o
			}
		}
	}
	return found
}
