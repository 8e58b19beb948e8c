package shop

import (
	"sync"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"

	"portico/store"
)

// defaultCacheBytes is the memory for what is read of releases.
const defaultCacheBytes = 256 << 20

// cacheKey names something of a release, or of a list of known length. It
// never changes, so what is kept is right for ever, and leaves only for want
// of room.
type cacheKey struct {
	release releaseIdentity
	kind    byte   // one of the cache kinds
	name    string // a list, or a view's language and currency
	sort    store.SortBy
	number  int // an ordinal or a chunk
}

// The kinds of things kept.
const (
	cachedTongue  = 'a' // *tongue, by Accept-Language
	cachedTree    = 't' // *tree: the nodes
	cachedList    = 'l' // *listHead, by list
	cachedChunk   = 'c' // ordinals or keys, by list, sort and chunk
	cachedMembers = 'j' // ordinalSet: what is in a list, by list
	cachedFilter  = 'q' // ordinals that a filter leaves of a list, in order
	cachedIndex   = 'i' // packedHashes, by attribute and chunk
	cachedRank    = 'k' // rank, by operator and id
	cachedPlace   = 'o' // place, by product id
	cachedProduct = 'p' // *released, by language and currency, and ordinal
	cachedCrumbs  = 'b' // text: breadcrumbs, by the id of their document
	cachedFile    = 'f' // *File, by id
	cachedPrices  = '$' // *currencyPrices by -1, *priceOrder by epoch; by currency
	cachedMoney   = '#' // *Money, by language and currency, and minor units
	cachedWords   = 'w' // wordChunk by chunk, wordDirectory by -1
	cachedFacet   = 'v' // *facet, by attribute
	cachedCounts  = 'n' // facetCounts of a filtered list, by attribute and list
	cachedTexts   = 'x' // texts, by what they are: listFiles, listCurrencies
	cachedMarks   = 'm' // landmarks of a live list, by its table and length
)

// sized tells how much memory a kept value holds, in bytes, about.
type sized interface{ Size() int }

// text is kept as it was read.
type text string

func (t text) Size() int { return len(t) }

// cache keeps immutable parts of releases: the store's within a byte budget,
// or, where the store has none, an operation's own as long as it lasts.
type cache struct {
	shared *otter.Cache[cacheKey, sized]
	own    sync.Map
}

// newCache makes the store's; nil when it is to have none.
func newCache(config Config) *cache {
	if config.NoCache {
		return nil
	}
	budget := config.CacheBytes
	if budget == 0 {
		budget = defaultCacheBytes
	}
	return &cache{shared: otter.Must(&otter.Options[cacheKey, sized]{
		MaximumWeight: budget,
		StatsRecorder: stats.NewCounter(),
		Weigher: func(key cacheKey, value sized) uint32 {
			return uint32(min(len(key.name)+96+value.Size(), 1<<31))
		},
	})}
}

// CacheStats tells how often parts of releases were found in memory and how
// often they had to be read, since the store was opened, and how many bytes
// those take that are kept.
func (s *Store) CacheStats() (found, made, bytes uint64) {
	if s.cache == nil {
		return 0, 0, 0
	}
	counted := s.cache.shared.Stats()
	return counted.Hits, counted.Misses, s.cache.shared.WeightedSize()
}

// orOwn is the cache, or one for what is read ahead now.
func (c *cache) orOwn() *cache {
	if c == nil {
		return &cache{}
	}
	return c
}

// cached returns what is kept under a key.
func cached[T sized](c *cache, key cacheKey) (value T, ok bool) {
	var kept any
	switch {
	case c == nil:
		return value, false
	case c.shared != nil:
		kept, ok = c.shared.GetIfPresent(key)
	default:
		kept, ok = c.own.Load(key)
	}
	if !ok {
		return value, false
	}
	return kept.(T), true
}

func (c *cache) keep(key cacheKey, value sized) {
	switch {
	case c == nil:
	case c.shared != nil:
		c.shared.Set(key, value)
	default:
		c.own.Store(key, value)
	}
}

// fetch finds things by name: kept ones, and the others by read, which gets
// at most 512 names at a time and leaves out what there is not.
func fetch[T sized](c *cache, key cacheKey, names []string, read func(names []string) (map[string]T, error)) (map[string]T, error) {
	found := make(map[string]T, len(names))
	var missing []string
	for _, key.name = range names {
		if kept, ok := cached[T](c, key); ok {
			found[key.name] = kept
		} else {
			missing = append(missing, key.name)
		}
	}
	err := store.Chunked(store.Unique(missing), 512, func(names []string) error {
		fresh, err := read(names)
		for name, value := range fresh {
			found[name], key.name = value, name
			c.keep(key, value)
		}
		return err
	})
	return found, err
}
