package rule

import (
	"slices"
)

// promotionType is what a type of promotion asks for and does.
type promotionType struct {
	name  PromotionType
	needs []string // members of schema that it cannot do without (DESIGN 5), besides the parts of a bundle; empty, not nil, for none

	// off is what comes off an amount in minor units; nil where that cannot be
	// told without the items.
	off func(p *Promotion, minor int64, currency string) (discount int64, ok bool)
}

var promotionTypes = []promotionType{
	{name: FixedDiscount, needs: []string{"currencies"}, off: (*Promotion).fixed},
	{name: PercentDiscount, needs: []string{}, off: (*Promotion).part}, // takes one of two
	{name: ItemFixedDiscount, needs: []string{"currencies"}, off: (*Promotion).fixed},
	{name: ItemPercentDiscount, needs: []string{"percent"}, off: (*Promotion).part},
	{name: XForY, needs: []string{"x", "y", "targets"}},
	{name: XForAmount, needs: []string{"x", "currencies", "targets"}},
	{name: BundleFixedDiscount, needs: []string{"currencies"}, off: (*Promotion).fixed},
	{name: BundleGift, needs: []string{"gifts"}},
}

// promotionTypeOf is a type by its name; one that is not known, which is told
// where it is written, asks for nothing and takes nothing off.
func promotionTypeOf(name PromotionType) promotionType {
	if i := slices.IndexFunc(promotionTypes, func(t promotionType) bool { return t.name == name }); i >= 0 {
		return promotionTypes[i]
	}
	return promotionType{}
}
