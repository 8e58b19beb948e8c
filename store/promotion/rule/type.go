package rule

import (
	"slices"
)

// PromotionType is what a promotion does.
type PromotionType string

// The types. promotionTypes lists the members that each requires.
const (
	FixedDiscount       PromotionType = "fixed_discount"        // an amount off the cart
	PercentDiscount     PromotionType = "percent_discount"      // a percentage off the cart
	ItemFixedDiscount   PromotionType = "item_fixed_discount"   // an amount off some items
	ItemPercentDiscount PromotionType = "item_percent_discount" // a percentage off some items
	XForY               PromotionType = "x_for_y"               // x items for the price of y
	XForAmount          PromotionType = "x_for_amount"          // x items for an amount
	BundleFixedDiscount PromotionType = "bundle_fixed_discount" // an amount off a bundle
	BundleGift          PromotionType = "bundle_gift"           // free items with a bundle
)

// PromotionTypes lists every type.
func PromotionTypes() (types []PromotionType) {
	for _, t := range promotionTypes {
		types = append(types, t.name)
	}
	return types
}

// promotionTypeNames is PromotionTypes as texts.
func promotionTypeNames() (names []string) {
	for _, t := range PromotionTypes() {
		names = append(names, string(t))
	}
	return names
}

// promotionType is a type with the members of schema that it requires, besides the parts of a
// bundle.
type promotionType struct {
	name  PromotionType
	needs []string
}

var promotionTypes = []promotionType{
	{FixedDiscount, []string{"currencies"}},
	{PercentDiscount, []string{}}, // requires percent or currencies
	{ItemFixedDiscount, []string{"currencies"}},
	{ItemPercentDiscount, []string{"percent"}},
	{XForY, []string{"x", "y", "targets"}},
	{XForAmount, []string{"x", "currencies", "targets"}},
	{BundleFixedDiscount, []string{"currencies"}},
	{BundleGift, []string{"gifts"}},
}

// requiredMembers returns the members of schema that a type requires; none for an unknown type.
func requiredMembers(name PromotionType) []string {
	if i := slices.IndexFunc(promotionTypes, func(t promotionType) bool { return t.name == name }); i >= 0 {
		return promotionTypes[i].needs
	}
	return nil
}

// hasAmounts reports whether a promotion of a type has an amount in each currency.
func hasAmounts(t PromotionType) bool {
	return slices.Contains([]PromotionType{FixedDiscount, ItemFixedDiscount, XForAmount, BundleFixedDiscount}, t)
}

// hasPercent reports whether a promotion of a type has a percentage.
func hasPercent(t PromotionType) bool { return t == PercentDiscount || t == ItemPercentDiscount }

// isBundle reports whether a promotion of a type is about a bundle of items.
func isBundle(t PromotionType) bool { return t == BundleFixedDiscount || t == BundleGift }
