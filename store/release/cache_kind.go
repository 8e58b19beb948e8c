package release

// The kinds of values that views cache by Release.CacheIdentity. Segment's
// cache_kind.go lists the others.
const (
	cachedLanguages  = 'a' // *acceptedLanguages, by the shopper's languages
	cachedFilter     = 'q' // ordinals of a filtered list, in order
	cachedBest       = 'Q' // *firstByRelevance of a filtered list
	cachedProduct    = 'p' // *storedProduct, by languages, locale and currency, and ordinal
	cachedFound      = 'F' // *foundSet of a filtered list
	cachedTerm       = 'W' // *foundSet of a term that keeps many products
	cachedCounts     = 'n' // facetCounts of a filtered list, by attribute and list
	cachedPrices     = 'g' // *ProductPrices, by languages, locale and currency, and ordinal of a parent
	cachedWithin     = 'd' // ordinals of the products of nodes and those below, by ids
	cachedPriceRange = 'u' // *PriceRange of a filtered list, by currency, list and epoch
	cachedTranslated = 'z' // translations, by ordinal
)
