package release

// The kinds of values that views cache by Release.CacheIdentity, or by HolderIdentity if they are of one product. Segment's
// cache_kind.go lists the others. A kind is a byte that no other package uses, for values of one type. A filtered list is named by
// resultOrder.key and, if it depends on prices, the epoch: the number of price changes by time until now.
const (
	cachedLanguages  = 'a' // *acceptedLanguages, by the shopper's languages
	cachedFilter     = 'q' // ordinals of a filtered list, in order
	cachedBest       = 'Q' // *bestProducts: the first 200 products of a filtered list by relevance
	cachedProduct    = 'p' // *storedProduct, by languages, locale and currency, and ordinal
	cachedFound      = 'F' // *foundSet: the products of a filtered list as a set, to be counted
	cachedTerm       = 'W' // *foundSet of a term that keeps many products
	cachedOnSale     = 'O' // *foundSet of the products on sale, by currency and epoch
	cachedCounts     = 'n' // facetCounts of a filtered list, by attribute and list
	cachedPrices     = 'g' // *ProductPrices, by languages, locale and currency, and ordinal of a parent
	cachedWithin     = 'd' // ordinals of the products of nodes and those below, by ids
	cachedPriceRange = 'u' // *PriceRange of a filtered list, by currency, list and epoch
	cachedTranslated = 'z' // translations, by ordinal
)
