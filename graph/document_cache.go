package graph

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
	maxCachedBytes  = 16 << 20 // of memory, for all entries
	maxCachedSource = 16 << 10 // bytes of a request, to be cached as prepared
)

// documentCache keeps documents, the plans of their operations and the
// prepared requests that run them, within one budget of bytes. Each entry is
// charged the memory that it takes by itself, and evicted by itself: the least
// recently used first. It is safe for concurrent use.
//
// A plan refers to its document, and a request to its plan. So that evicting an
// entry frees its memory, none may outlive its parent: whatever uses an entry
// uses its parents too, which keeps them more recently used than it is.
type documentCache struct {
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
	key    cacheKey
	value  any
	parent *cacheEntry // nil for a document
	size   int
	hash   string        // that a document was sent with; empty for none
	place  *list.Element // nil while the cache does not have it
}

// entryBytes is what an entry takes in memory beside its value: its place in
// the order and in the map, which are larger than what they hold.
const entryBytes = int(unsafe.Sizeof(cacheEntry{})+unsafe.Sizeof(list.Element{})) + 2*int(unsafe.Sizeof(cacheKey{})+unsafe.Sizeof(&cacheEntry{}))

// cachedDocument is a document that was parsed, measured and validated.
type cachedDocument struct {
	document *ast.QueryDocument
	query    string
	entry    *cacheEntry
}

// cachedPlan is a plan, which grows while it runs.
type cachedPlan struct {
	*plan.Plan
	entry   *cacheEntry
	charged atomic.Int64 // of what the plan takes
}

func newDocumentCache(budget int) *documentCache {
	return &documentCache{budget: budget, order: list.New(), entries: map[cacheKey]*cacheEntry{}, hashes: map[string]*cacheEntry{}}
}

// document returns the document of a text; nil when it is not cached.
func (c *documentCache) document(query string) *cachedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, _ := c.find(cacheKey{text: query}).(*cachedDocument)
	return found
}

// addDocument adds a document, and returns the one that is cached: another
// request may have added it first.
func (c *documentCache) addDocument(query string, document *ast.QueryDocument) *cachedDocument {
	made := &cachedDocument{document: document, query: query}
	size := int(unsafe.Sizeof(*made)) + heapsize.Round(len(query)) + documentBytes(query, document)
	c.mu.Lock()
	defer c.mu.Unlock()
	made.entry = &cacheEntry{key: cacheKey{text: query}, value: made, size: size}
	return c.add(made.entry).(*cachedDocument)
}

// name has a document be found by its hash too, for as long as it is cached.
func (c *documentCache) name(document *cachedDocument, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := document.entry; entry.place != nil && entry.hash == "" {
		entry.hash, c.hashes[hash] = hash, entry
		c.resize(entry, nameBytes+heapsize.Round(len(hash)))
	}
}

// nameBytes is what a place among the names takes in memory, about.
const nameBytes = 2 * int(unsafe.Sizeof("")+unsafe.Sizeof(&cacheEntry{}))

// named returns the text of the document of a hash; empty for none.
func (c *documentCache) named(hash string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := c.hashes[hash]; entry != nil {
		return entry.key.text
	}
	return ""
}

// plan returns the plan of a document's operation for some values of its
// conditions, and compiles it when it is not cached; nil where compile is nil.
func (c *documentCache) plan(document *cachedDocument, operation *ast.OperationDefinition, values string, compile func() *plan.Plan) *cachedPlan {
	key := cacheKey{planEntry, operation, values}
	c.mu.Lock()
	found, _ := c.find(key).(*cachedPlan)
	c.mu.Unlock()
	if found != nil {
		return found
	}
	compiled := compile()
	if compiled == nil {
		return nil
	}
	made := &cachedPlan{Plan: compiled}
	made.charged.Store(int64(compiled.Size()))
	c.mu.Lock()
	defer c.mu.Unlock()
	made.entry = &cacheEntry{key: key, value: made, parent: document.entry,
		size: int(unsafe.Sizeof(*made)) + heapsize.Round(len(values)) + int(made.charged.Load())}
	return c.add(made.entry).(*cachedPlan)
}

// charge charges a plan for what it has grown by.
func (c *documentCache) charge(p *cachedPlan) {
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

// request returns the request that was sent as these bytes: a body, or a query
// string behind a question mark; nil when it is not cached.
func (c *documentCache) request(sent []byte) *ready {
	if len(sent) > maxCachedSource {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.entries[cacheKey{requestEntry, nil, string(sent)}] // which copies nothing
	if entry == nil {
		return nil
	}
	c.touch(entry)
	return entry.value.(*ready)
}

// addRequest adds a request.
func (c *documentCache) addRequest(sent []byte, request *ready) {
	if len(sent) > maxCachedSource {
		return
	}
	size := request.bytes() + heapsize.Round(len(sent))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(&cacheEntry{key: cacheKey{requestEntry, nil, string(sent)}, value: request, parent: request.plan.entry, size: size})
}

// find returns the value of a key; nil for none. It is used then.
func (c *documentCache) find(key cacheKey) any {
	entry := c.entries[key]
	if entry == nil {
		return nil
	}
	c.touch(entry)
	return entry.value
}

// touch says that an entry is used, and its parents after it.
func (c *documentCache) touch(entry *cacheEntry) {
	for ; entry != nil; entry = entry.parent {
		c.order.MoveToFront(entry.place)
	}
}

// add adds an entry, unless its parent was evicted meanwhile or it is larger
// than the budget, and returns the value that the key has by now.
func (c *documentCache) add(entry *cacheEntry) any {
	if value := c.find(entry.key); value != nil {
		return value
	}
	entry.size += entryBytes
	if entry.size > c.budget || entry.parent != nil && entry.parent.place == nil {
		return entry.value
	}
	entry.place = c.order.PushFront(entry)
	c.entries[entry.key] = entry
	c.touch(entry)
	c.grow(entry.size)
	return entry.value
}

// resize charges an entry for more bytes, if it is cached.
func (c *documentCache) resize(entry *cacheEntry, by int) {
	if entry.place != nil {
		entry.size += by
		c.grow(by)
	}
}

// grow adds to the bytes, and evicts what does not fit any more. Parents come
// after their children in the order, so that a child is evicted first.
func (c *documentCache) grow(by int) {
	for c.bytes += by; c.bytes > c.budget; {
		c.evict(c.order.Back().Value.(*cacheEntry))
	}
}

func (c *documentCache) evict(entry *cacheEntry) {
	c.order.Remove(entry.place)
	delete(c.entries, entry.key)
	delete(c.hashes, entry.hash)
	entry.place = nil
	c.bytes -= entry.size
}
