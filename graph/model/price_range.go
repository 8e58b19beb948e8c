package model

import "portico/store/release/price"

// PriceRange is the lowest and the highest of some prices.
type PriceRange struct{ Min, Max *price.DisplayPrice }

// NewPriceRange returns a range, or nil without a price.
func NewPriceRange(low, high *price.DisplayPrice) *PriceRange {
	if low == nil {
		return nil
	}
	return &PriceRange{low, high}
}
