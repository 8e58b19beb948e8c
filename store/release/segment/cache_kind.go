package segment

// The kinds of values that readers cache by CacheIdentity. Other packages have
// kinds too: '#' is price's, 'm' is db's, and release's are in its cache_kind.go.
const (
	cachedList       = 'l' // *ListHead, by list
	cachedChunk      = 'c' // ordinals or keys, by list, sort and chunk
	cachedMembers    = 'j' // OrdinalSet: the products of a list, by list
	cachedSearch     = 'h' // *SearchResult, by search and languages
	cachedSimilar    = 'M' // similarWords, by word, languages and twice the least number of products, plus 1 for a word that may continue
	cachedIndex      = 'i' // PackedHashes, by attribute and chunk
	cachedRank       = 'k' // idRank, by operator and id
	cachedOrdinal    = 'o' // Ordinal, by product id
	cachedFile       = 'f' // *catalog.File, by id
	cachedPrices     = '$' // *Prices by -1, *PriceOrder by epoch; by currency
	cachedWords      = 'w' // *wordChunk by chunk, wordDirectory by -1
	cachedVocabulary = 'y' // *index.Vocabulary, by chunk
	cachedFacet      = 'v' // *Facet, by attribute
	cachedTexts      = 'x' // storedTexts: listFiles, listChangedFiles, listCurrencies
	cachedTree       = 't' // *Tree
	cachedNodeNames  = 'N' // nodeNames, by languages
	cachedAttributes = 'b' // Attributes
	cachedAmounts    = 'e' // epochPrices, by currency and epoch
	cachedOrders     = 'r' // Orders, by attribute
	cachedSynonyms   = 'S' // *index.Synonyms
	cachedRedirects  = 'R' // *Redirects
	cachedFamilies   = 'G' // *Families
)

// storedTexts are a cached list of texts.
type storedTexts []string

func (t storedTexts) Size() int {
	n := 24
	for _, text := range t {
		n += 16 + len(text)
	}
	return n
}
