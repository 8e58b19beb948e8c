package store

// Settings are the store's own (spec: Limits; DESIGN 4, Pages).
type Settings struct {
	PageLength int    // rows of a page when the request does not say, 1 to 100
	Currency   string // ISO 4217; prices are shown in it unless the shopper asks otherwise
	Locale     string // BCP 47; the language of texts that name none
}

// PageLengthMax is how many rows a page can ask for.
func (Settings) PageLengthMax() int { return MaxPageLength }

// PageOffsetLimit is how many rows a page can pass over.
func (Settings) PageOffsetLimit() int { return MaxOffset }
