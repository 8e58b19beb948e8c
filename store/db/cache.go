package db

import (
	"strings"
	"sync"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"

	"portico/internal/cachekey"
	"portico/store"
)

// entryOverhead is the memory overhead of one cache entry, in bytes.
const entryOverhead = 144

// defaultCacheBytes is the default memory budget for data of releases.
const defaultCacheBytes = 256 << 20

// CacheKey names an immutable part of a release, or of a list of known length.
// Entries never become stale; they are evicted only to stay within the budget.
type CacheKey struct {
	Release ReleaseIdentity
	Kind    byte         // one of the cache kinds
	Name    cachekey.Key // a list, or a view's language and currency
	Sort    store.Sort
	Number  int // ordinal or chunk
}

// Sized returns the approximate memory of a value in bytes.
type Sized interface{ Size() int }

// Cache holds immutable parts of releases. The store's cache is bounded by bytes.
// Without one, each operation has a cache of its own (OrPerOperation). A nil Cache holds nothing.
type Cache struct {
	shared       sharedCache // nil in a cache of an operation
	perOperation sync.Map    // used while shared is nil
}

// sharedCache is the part of otter.Cache in use. Packages that import this one would each compile the cache again if its type
// were a field of Cache.
type sharedCache interface {
	GetIfPresent(CacheKey) (Sized, bool)
	Set(CacheKey, Sized) (Sized, bool)
	InvalidateAll()
	CleanUp()
	WeightedSize() uint64
	Stats() stats.Stats
}

// newCache returns the store's cache, or nil if config disables it.
func newCache(config Config) *Cache {
	if config.NoCache {
		return nil
	}
	budget := config.CacheBytes
	if budget == 0 {
		budget = defaultCacheBytes
	}
	return &Cache{shared: otter.Must(&otter.Options[CacheKey, Sized]{
		MaximumWeight: budget,
		StatsRecorder: stats.NewCounter(),
		Weigher: func(key CacheKey, value Sized) uint32 {
			return uint32(min(key.Name.Size()+entryOverhead+value.Size(), 1<<31))
		},
	})}
}

// OrPerOperation returns c, or a new unbounded cache for one operation if c is nil.
func (c *Cache) OrPerOperation() *Cache {
	if c == nil {
		return &Cache{}
	}
	return c
}

// Cached returns the entry under key; ok is false if there is none.
func Cached[T Sized](c *Cache, key CacheKey) (value T, ok bool) {
	var kept any
	switch {
	case c == nil:
		return value, false
	case c.shared != nil:
		kept, ok = c.shared.GetIfPresent(key)
	default:
		kept, ok = c.perOperation.Load(key)
	}
	if !ok {
		return value, false
	}
	return kept.(T), true
}

// Set stores a value. It does nothing if c is nil.
func (c *Cache) Set(key CacheKey, value Sized) {
	switch {
	case c == nil:
	case c.shared != nil:
		c.shared.Set(key, value)
	default:
		c.perOperation.Store(key, value)
	}
}

// clear empties the store's cache, because a release of a restored database may
// reuse a number and time.
func (c *Cache) clear() {
	if c != nil && c.shared != nil {
		c.shared.InvalidateAll()
	}
}

// Fetch returns the values of names. It takes cached values and calls read for the
// others, with at most 512 names a call. read omits names that do not exist.
func Fetch[T Sized](c *Cache, key CacheKey, names []string, read func(names []string) (map[string]T, error)) (map[string]T, error) {
	found := make(map[string]T, len(names))
	var missing []string
	for _, name := range names {
		key.Name = cachekey.New(name)
		if kept, ok := Cached[T](c, key); ok {
			found[name] = kept
		} else {
			missing = append(missing, name)
		}
	}
	err := store.Chunked(store.Unique(missing), 512, func(names []string) error {
		fresh, err := read(names)
		for name, value := range fresh {
			found[name], key.Name = value, cachekey.New(strings.Clone(name)) // it may be a part of a long text
			c.Set(key, value)
		}
		return err
	})
	return found, err
}

// ReleaseIdentity names a release in caches. The number alone is not enough: a restored
// database may reuse it.
type ReleaseIdentity struct {
	Number    int64
	Published int64 // microseconds
}
