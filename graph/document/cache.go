package document

import (
	"container/list"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/plan"
	"portico/internal/heapsize"
)

// Bounds of the cache.
const (
	DefaultCacheBytes = 16 << 20 // of memory, for all entries
	maxRequestBytes   = 16 << 10 // bytes of a request, to be cached as prepared
)

// Cache keeps documents, the plans of their operations and the
// prepared requests that run them, within one budget of bytes. Each entry is
// charged the memory that it takes by itself, and evicted by itself: the least
// recently used first. It is safe for concurrent use.
//
// A plan refers to its document, and a request to its plan. So that evicting an
// entry frees its memory, none may outlive its parent: whatever uses an entry
// uses its parents too, which keeps them more recently used than it is.
type Cache struct {
	mu      sync.Mutex
	budget  int
	bytes   int
	order   *list.List // of *cacheEntry, the most recently used in front
	entries map[cacheKey]*cacheEntry
	hashes  map[string]*cacheEntry // documents that were sent with their hashes, by those
}

// cacheKey is the text of a document; an operation and the values of its
// conditions, for a plan; or a request as it was sent.
type cacheKey struct {
	kind      entryKind
	operation *ast.OperationDefinition
	text      string
}

type entryKind byte

const (
	documentEntry entryKind = iota
	planEntry
	requestEntry
)

type cacheEntry struct {
	key     cacheKey
	value   any
	parent  *cacheEntry // nil for a document
	size    int
	hash    string        // that a document was sent with; empty for none
	element *list.Element // nil while the cache does not have it
}

// entryOverhead is what an entry takes in memory beside its value: its place in
// the order and in the map, which are larger than what they hold.
const entryOverhead = int(unsafe.Sizeof(cacheEntry{})+unsafe.Sizeof(list.Element{})) + 2*int(unsafe.Sizeof(cacheKey{})+unsafe.Sizeof(&cacheEntry{}))

// CachedDocument is a document that was parsed, measured and validated.
type CachedDocument struct {
	Document *ast.QueryDocument
	Query    string
	entry    *cacheEntry
}

// CachedPlan is a plan, which grows while it runs.
type CachedPlan struct {
	*plan.Plan
	entry   *cacheEntry
	charged atomic.Int64 // of what the plan takes
}

func NewCache(budget int) *Cache {
	return &Cache{budget: budget, order: list.New(), entries: map[cacheKey]*cacheEntry{}, hashes: map[string]*cacheEntry{}}
}

// document returns the document of a text; nil when it is not cached.
func (c *Cache) document(query string) *CachedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, _ := c.find(cacheKey{text: query}).(*CachedDocument)
	return found
}

// addDocument adds a document, and returns the one that is cached: another
// request may have added it first.
func (c *Cache) addDocument(query string, document *ast.QueryDocument) *CachedDocument {
	made := &CachedDocument{Document: document, Query: query}
	size := int(unsafe.Sizeof(*made)) + heapsize.Round(len(query)) + documentMemory(query, document)
	c.mu.Lock()
	defer c.mu.Unlock()
	made.entry = &cacheEntry{key: cacheKey{text: query}, value: made, size: size}
	return c.add(made.entry).(*CachedDocument)
}

// addHash has a document be found by its hash too, for as long as it is cached.
func (c *Cache) addHash(document *CachedDocument, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := document.entry; entry.element != nil && entry.hash == "" {
		entry.hash, c.hashes[hash] = hash, entry
		c.resize(entry, hashOverhead+heapsize.Round(len(hash)))
	}
}

// hashOverhead is what a place among the names takes in memory, about.
const hashOverhead = 2 * int(unsafe.Sizeof("")+unsafe.Sizeof(&cacheEntry{}))

// byHash returns the text of the document of a hash; empty for none.
func (c *Cache) byHash(hash string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := c.hashes[hash]; entry != nil {
		return entry.key.text
	}
	return ""
}

// Plan returns the plan of a document's operation for some values of its
// conditions, and compiles it when it is not cached; nil where compile is nil.
func (c *Cache) Plan(document *CachedDocument, operation *ast.OperationDefinition, values string, compile func() *plan.Plan) *CachedPlan {
	key := cacheKey{planEntry, operation, values}
	c.mu.Lock()
	found, _ := c.find(key).(*CachedPlan)
	c.mu.Unlock()
	if found != nil {
		return found
	}
	compiled := compile()
	if compiled == nil {
		return nil
	}
	made := &CachedPlan{Plan: compiled}
	made.charged.Store(int64(compiled.Size()))
	c.mu.Lock()
	defer c.mu.Unlock()
	made.entry = &cacheEntry{key: key, value: made, parent: document.entry,
		size: int(unsafe.Sizeof(*made)) + heapsize.Round(len(values)) + int(made.charged.Load())}
	return c.add(made.entry).(*CachedPlan)
}

// Recharge charges a plan for what it has grown by.
func (c *Cache) Recharge(p *CachedPlan) {
	size := int64(p.Size())
	if p.charged.Load() == size {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := p.charged.Load(); before < size {
		p.charged.Store(size)
		c.resize(p.entry, int(size-before))
	}
}

// Request returns the request that was sent as these bytes: a body, or a query
// string behind a question mark; nil when it is not cached.
func (c *Cache) Request(sent []byte) *PreparedOperation {
	if len(sent) > maxRequestBytes {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.entries[cacheKey{requestEntry, nil, string(sent)}] // which copies nothing
	if entry == nil {
		return nil
	}
	c.touch(entry)
	return entry.value.(*PreparedOperation)
}

// AddRequest adds a request.
func (c *Cache) AddRequest(sent []byte, request *PreparedOperation) {
	if len(sent) > maxRequestBytes {
		return
	}
	size := request.size() + heapsize.Round(len(sent))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(&cacheEntry{key: cacheKey{requestEntry, nil, string(sent)}, value: request, parent: request.Plan.entry, size: size})
}

// find returns the value of a key; nil for none. It is used then.
func (c *Cache) find(key cacheKey) any {
	entry := c.entries[key]
	if entry == nil {
		return nil
	}
	c.touch(entry)
	return entry.value
}

// touch says that an entry is used, and its parents after it.
func (c *Cache) touch(entry *cacheEntry) {
	for ; entry != nil; entry = entry.parent {
		c.order.MoveToFront(entry.element)
	}
}

// add adds an entry, unless its parent was evicted meanwhile or it is larger
// than the budget, and returns the value that the key has by now.
func (c *Cache) add(entry *cacheEntry) any {
	if value := c.find(entry.key); value != nil {
		return value
	}
	entry.size += entryOverhead
	if entry.size > c.budget || entry.parent != nil && entry.parent.element == nil {
		return entry.value
	}
	entry.element = c.order.PushFront(entry)
	c.entries[entry.key] = entry
	c.touch(entry)
	c.grow(entry.size)
	return entry.value
}

// resize charges an entry for more bytes, if it is cached.
func (c *Cache) resize(entry *cacheEntry, by int) {
	if entry.element != nil {
		entry.size += by
		c.grow(by)
	}
}

// grow adds to the bytes, and evicts what does not fit any more. Parents come
// after their children in the order, so that a child is evicted first.
func (c *Cache) grow(by int) {
	for c.bytes += by; c.bytes > c.budget; {
		c.evict(c.order.Back().Value.(*cacheEntry))
	}
}

func (c *Cache) evict(entry *cacheEntry) {
	c.order.Remove(entry.element)
	delete(c.entries, entry.key)
	delete(c.hashes, entry.hash)
	entry.element = nil
	c.bytes -= entry.size
}

// Stats returns how many entries and hashes the cache holds, and the bytes that it charges them.
func (c *Cache) Stats() (entries, hashes, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), len(c.hashes), c.bytes
}
