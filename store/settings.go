package store

// Settings are the shop's settings.
type Settings struct {
	PageLength int    // default rows of a page, 1 to 100
	Currency   string // ISO 4217; default currency of prices
	Locale     string // BCP 47; language of texts without one

	LowStockThreshold int // available units up to which AvailabilityOf is low, 0 to MaxLowStockThreshold

	CodesIgnoreCase bool // promotion codes match without regard to case
}

// MaxLowStockThreshold is the largest Settings.LowStockThreshold.
const MaxLowStockThreshold = 1_000_000

// PageLengthMax is the largest page. REST shows it with the settings.
func (Settings) PageLengthMax() int { return MaxPageLength }

// PageOffsetLimit is the largest offset. REST shows it with the settings.
func (Settings) PageOffsetLimit() int { return MaxOffset }
