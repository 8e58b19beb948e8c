package price

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Sale is a price from From until just before To; 0 means unbounded.
type Sale struct {
	ID   string `json:"id"`
	From int64  `json:"from,omitempty"` // microseconds
	To   int64  `json:"to,omitempty"`
	TieredPrice
}

// length is the duration of a sale in microseconds; an unbounded one is the longest.
func (s *Sale) length() int64 {
	if s.From == 0 || s.To == 0 {
		return math.MaxInt64
	}
	return s.To - s.From
}

// sortSales sorts by precedence: shortest first, then latest start, then name.
func sortSales(sales []Sale) {
	slices.SortFunc(sales, func(a, b Sale) int {
		return cmp.Or(cmp.Compare(a.length(), b.length()), cmp.Compare(b.From, a.From), cmp.Compare(a.ID, b.ID))
	})
}

// SaleAt returns the active sale that comes first by precedence, in which Sales are, or nil, and the nearest starts or ends of sales before
// and after at; 0 if none.
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

// AmountAt returns the price at a time, nil for none, and until when it is valid; 0 for
// ever.
func (o *Offer) AmountAt(at int64) (now *TieredPrice, until int64) {
	holding, _, until := o.SaleAt(at)
	if holding != nil {
		return &holding.TieredPrice, until
	}
	return o.Base, until
}

// Tiers returns the tiers during a sale, or of the base price if holding is nil. During a
// sale, tiers of the base price still apply where they are cheaper, and tiers of the sale
// only where they are cheaper than those. If only one of the two includes tax, the sale's
// tiers apply alone. If both have a tier of a name, the base price's tier is renamed.
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
	// asked is what a unit costs by the tiers so far, floor the lowest base tier so far. own and base are what is left of
	// both lists: the tier with the lower quantity comes first, of equal quantities the cheaper one.
	asked, floor := holding.Minor, int64(math.MaxInt64)
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
