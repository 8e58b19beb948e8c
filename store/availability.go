package store

// NoStockRecord stands for the available units of a product without a stock record.
const NoStockRecord = -1

// InStock reports whether a product with so many available units can be bought: a product without a stock record can.
func InStock(units int32) bool { return units > 0 || units == NoStockRecord }

// Availability is whether the stock of a product can be bought.
type Availability string

// The availabilities. A product without a stock record has none.
const (
	AvailabilityInStock Availability = "in_stock" // more units than Settings.LowStockThreshold
	AvailabilityLow     Availability = "low"      // at most so many
	AvailabilityOut     Availability = "out"      // none
)

// AvailabilityOf returns the availability of the products that a parent is bought as, or of one product: the best of them. It
// is empty if one of them has no stock record, so that its stock is not limited.
func (s *Settings) AvailabilityOf(units ...int32) (best Availability) {
	most := int32(0)
	for _, n := range units {
		if n == NoStockRecord {
			return ""
		}
		most = max(most, n)
	}
	switch {
	case most > int32(s.LowStockThreshold):
		return AvailabilityInStock
	case most > 0:
		return AvailabilityLow
	}
	return AvailabilityOut
}
