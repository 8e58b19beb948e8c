package release

// The kinds of things kept.
const (
	cachedLanguages = 'a' // *acceptedLanguages, by Accept-Language
	cachedTree      = 't' // *tree: the nodes
	cachedList      = 'l' // *ListHead, by list
	cachedChunk     = 'c' // ordinals or keys, by list, sort and chunk
	cachedMembers   = 'j' // OrdinalSet: what is in a list, by list
	cachedFilter    = 'q' // ordinals that a filter leaves of a list, in order
	cachedIndex     = 'i' // PackedHashes, by attribute and chunk
	cachedRank      = 'k' // rank, by operator and id
	cachedPlace     = 'o' // place, by product id
	cachedProduct   = 'p' // *released, by language and currency, and ordinal
	cachedCrumbs    = 'b' // text: breadcrumbs, by the id of their document
	cachedFile      = 'f' // *File, by id
	cachedPrices    = '$' // *currencyPrices by -1, *priceOrder by epoch; by currency
	cachedMoney     = '#' // *Money, by language and currency, and minor units
	cachedWords     = 'w' // wordChunk by chunk, wordDirectory by -1
	cachedFacet     = 'v' // *facet, by attribute
	cachedCounts    = 'n' // facetCounts of a filtered list, by attribute and list
	cachedTexts     = 'x' // texts, by what they are: listFiles, listCurrencies

	cachedTranslations = 'y' // translationList, by ordinal
	cachedTranslated   = 'z' // *translatedTexts, by the id of their document
	// 'm' is the database's (landmarks)
)

// storedText is kept as it was read.
type storedText string

func (t storedText) Size() int { return len(t) }
