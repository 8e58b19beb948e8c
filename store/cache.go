package store

import (
	"github.com/maypok86/otter/v2"
)

// defaultCacheBytes is the memory for what is read of releases.
const defaultCacheBytes = 256 << 20

// cacheKey names something of a release, or of a list of known length. It
// never changes, so what is kept is right for ever, and leaves only for want
// of room.
type cacheKey struct {
	release int64
	kind    byte   // one of the cache kinds
	name    string // a list, or a view's language and currency
	sort    SortBy
	number  int // an ordinal or a chunk
}

// The kinds of things kept.
const (
	cachedRelease = 'r' // *Release
	cachedTree    = 't' // *tree: the nodes
	cachedList    = 'l' // *listHead, by list
	cachedChunk   = 'c' // ordinals or keys, by list, sort and chunk
	cachedFilter  = 'q' // ordinals that a filter leaves of a list, in order
	cachedPlace   = 'o' // place, by product id
	cachedProduct = 'p' // *released, by language and currency, and ordinal
	cachedFile    = 'f' // *File, by id
	cachedMarks   = 'm' // landmarks of a live list, by its table and length
)

// sized tells how much memory a kept value holds, in bytes, about.
type sized interface{ size() int }

// cache keeps immutable parts of releases within a byte budget. A nil cache
// keeps nothing.
type cache struct{ entries *otter.Cache[cacheKey, sized] }

func newCache(config Config) *cache {
	if config.NoCache {
		return &cache{}
	}
	budget := config.CacheBytes
	if budget == 0 {
		budget = defaultCacheBytes
	}
	return &cache{otter.Must(&otter.Options[cacheKey, sized]{
		MaximumWeight: budget,
		Weigher: func(key cacheKey, value sized) uint32 {
			return uint32(min(len(key.name)+96+value.size(), 1<<31))
		},
	})}
}

// cached returns what is kept under a key.
func cached[T sized](c *cache, key cacheKey) (value T, ok bool) {
	if c.entries == nil {
		return value, false
	}
	kept, ok := c.entries.GetIfPresent(key)
	if !ok {
		return value, false
	}
	return kept.(T), true
}

func (c *cache) keep(key cacheKey, value sized) {
	if c.entries != nil {
		c.entries.Set(key, value)
	}
}
