package store

// NoStockRecord stands for the available units of a product without a stock record.
const NoStockRecord = -1

// InStock reports whether a product with so many available units can be bought: a product without a stock record can.
func InStock(units int32) bool { return units > 0 || units == NoStockRecord }

// Availability is whether the stock of a product can be bought.
type Availability string

// The availabilities.
const (
	AvailabilityInStock   Availability = "in_stock"  // more units than Settings.LowStockThreshold
	AvailabilityLow       Availability = "low"       // at most so many
	AvailabilityOut       Availability = "out"       // none
	AvailabilityUntracked Availability = "untracked" // no stock record, so not limited
)

// AvailabilityOf returns the availability of a product of which so many units can be bought.
func (s *Settings) AvailabilityOf(units int32) Availability {
	switch {
	case units == NoStockRecord:
		return AvailabilityUntracked
	case units > int32(s.LowStockThreshold):
		return AvailabilityInStock
	case units > 0:
		return AvailabilityLow
	}
	return AvailabilityOut
}
