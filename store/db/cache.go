package db

import (
	"sync"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"

	"portico/store"
)

// entryBytes is what an entry takes in memory beside its name and its value.
const entryBytes = 144

// defaultCacheBytes is the memory for what is read of releases.
const defaultCacheBytes = 256 << 20

// CacheKey names something of a release, or of a list of known length. It
// never changes, so what is kept is right for ever, and leaves only for want
// of room.
type CacheKey struct {
	Release Identity
	Kind    byte   // one of the cache kinds
	Name    string // a list, or a view's language and currency
	Sort    store.SortBy
	Number  int // an ordinal or a chunk
}

// Sized tells how much memory a kept value holds, in bytes, about.
type Sized interface{ Size() int }

// Cache keeps immutable parts of releases: the store's within a byte budget,
// or, where the store has none, an operation's own as long as it lasts.
type Cache struct {
	shared *otter.Cache[CacheKey, Sized]
	own    sync.Map
}

// newCache makes the store's; nil when it is to have none.
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
			return uint32(min(len(key.Name)+entryBytes+value.Size(), 1<<31))
		},
	})}
}

// CacheStats tells how often parts were found in memory and how
// often they had to be read, since the database was opened, and how many bytes
// those take that are kept.
func (s *DB) CacheStats() (found, made, bytes uint64) {
	if s.Cache == nil {
		return 0, 0, 0
	}
	counted := s.Cache.shared.Stats()
	return counted.Hits, counted.Misses, s.Cache.shared.WeightedSize()
}

// OrOwn is the cache, or one for what is read ahead now.
func (c *Cache) OrOwn() *Cache {
	if c == nil {
		return &Cache{}
	}
	return c
}

// Cached returns what is kept under a key.
func Cached[T Sized](c *Cache, key CacheKey) (value T, ok bool) {
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

// Keep keeps a value for as long as there is room.
func (c *Cache) Keep(key CacheKey, value Sized) {
	switch {
	case c == nil:
	case c.shared != nil:
		c.shared.Set(key, value)
	default:
		c.own.Store(key, value)
	}
}

// Fetch finds things by name: kept ones, and the others by read, which gets
// at most 512 names at a time and leaves out what there is not.
func Fetch[T Sized](c *Cache, key CacheKey, names []string, read func(names []string) (map[string]T, error)) (map[string]T, error) {
	found := make(map[string]T, len(names))
	var missing []string
	for _, key.Name = range names {
		if kept, ok := Cached[T](c, key); ok {
			found[key.Name] = kept
		} else {
			missing = append(missing, key.Name)
		}
	}
	err := store.Chunked(store.Unique(missing), 512, func(names []string) error {
		fresh, err := read(names)
		for name, value := range fresh {
			found[name], key.Name = value, name
			c.Keep(key, value)
		}
		return err
	})
	return found, err
}

// Identity is what a release is known by in caches: its number alone would be
// that of another release in a database that was restored under this server.
type Identity struct {
	Number    int64
	Published int64 // microseconds
}
