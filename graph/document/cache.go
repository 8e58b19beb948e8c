package document

import (
	"container/list"
	"sync"
	"unsafe"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/plan"
	"portico/internal/heapsize"
)

const (
	// DefaultCacheBytes is the default memory of a cache, 16 MiB.
	DefaultCacheBytes = 16 << 20

	maxRequestBytes = 16 << 10 // longer requests are not cached
)

// Cache holds documents, plans and prepared operations within one budget of bytes. It evicts the least
// recently used entry first. It is safe for concurrent use.
//
// A plan refers to its document, and a prepared operation to its plan. Evicting an entry frees memory
// only if no other entry refers to it, so each use of an entry is also a use of its parents: children
// are evicted first.
type Cache struct {
	mu      sync.Mutex
	budget  int        // bytes
	bytes   int        // sum of the entries' sizes
	order   *list.List // of *cacheEntry, the most recently used in front
	entries map[cacheKey]*cacheEntry
	hashes  map[string]*cacheEntry // documents by hash, if a client sent it
}

// cacheKey is the text of a document, an operation and its condition values (a plan), or the bytes of
// a request (a prepared operation).
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
	parent  *cacheEntry   // nil for a document
	size    int           // bytes that the cache counts for the entry, with entryOverhead
	hash    string        // of a document; empty if no client sent it
	element *list.Element // nil if the entry is not in the cache
}

// entryOverhead is the memory of an entry besides its value, in the list and the map. A map has about
// twice the slots that it uses.
const entryOverhead = int(unsafe.Sizeof(cacheEntry{})+unsafe.Sizeof(list.Element{})) + 2*int(unsafe.Sizeof(cacheKey{})+unsafe.Sizeof(&cacheEntry{}))

// NewCache returns a cache of at most budget bytes.
func NewCache(budget int) *Cache {
	return &Cache{budget: budget, order: list.New(), entries: map[cacheKey]*cacheEntry{}, hashes: map[string]*cacheEntry{}}
}

// document returns the cached document of a text, or nil.
func (c *Cache) document(query string) *CachedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, _ := c.find(cacheKey{text: query}).(*CachedDocument)
	return found
}

// addDocument adds a document and returns the cached one, which another request may have added first.
func (c *Cache) addDocument(query string, document *ast.QueryDocument) *CachedDocument {
	made := &CachedDocument{Document: document, Query: query}
	size := int(unsafe.Sizeof(*made)) + heapsize.Round(len(query)) + documentMemory(query, document)
	c.mu.Lock()
	defer c.mu.Unlock()
	made.entry = &cacheEntry{key: cacheKey{text: query}, value: made, size: size}
	return c.add(made.entry).(*CachedDocument)
}

// addHash makes byHash find a document while it is cached. It does nothing if the document was evicted meanwhile.
func (c *Cache) addHash(document *CachedDocument, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := document.entry; entry.element != nil && entry.hash == "" {
		entry.hash, c.hashes[hash] = hash, entry
		c.resize(entry, hashOverhead+heapsize.Round(len(hash)))
	}
}

// hashOverhead is the memory of an entry of hashes, without the hash.
const hashOverhead = 2 * int(unsafe.Sizeof("")+unsafe.Sizeof(&cacheEntry{}))

// byHash returns the text of the document with a hash, or "".
func (c *Cache) byHash(hash string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := c.hashes[hash]; entry != nil {
		return entry.key.text
	}
	return ""
}

// Plan returns the plan of an operation for the values of its conditions (@skip and @include). If it is
// not cached, Plan calls compile, and returns nil if compile does.
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

// Recharge charges a plan for the memory that it has grown by.
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

// Request returns the prepared operation of a request's bytes, or nil, and counts as a use. The bytes are a body, or "?" and a
// query string.
func (c *Cache) Request(sent []byte) *PreparedOperation {
	if len(sent) > maxRequestBytes {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.entries[cacheKey{requestEntry, nil, string(sent)}] // the conversion does not allocate
	if entry == nil {
		return nil
	}
	c.touch(entry)
	return entry.value.(*PreparedOperation)
}

// AddRequest adds the prepared operation of a request.
func (c *Cache) AddRequest(sent []byte, request *PreparedOperation) {
	if len(sent) > maxRequestBytes {
		return
	}
	size := request.size() + heapsize.Round(len(sent))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(&cacheEntry{key: cacheKey{requestEntry, nil, string(sent)}, value: request, parent: request.Plan.entry, size: size})
}

// find returns the value of a key, or nil, and counts as a use.
func (c *Cache) find(key cacheKey) any {
	entry := c.entries[key]
	if entry == nil {
		return nil
	}
	c.touch(entry)
	return entry.value
}

// touch makes an entry the most recently used one, and its parents more recent still.
func (c *Cache) touch(entry *cacheEntry) {
	for ; entry != nil; entry = entry.parent {
		c.order.MoveToFront(entry.element)
	}
}

// add adds an entry and returns the value of its key, which may have been added before. It does not
// cache an entry that is larger than the budget or whose parent was evicted.
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

// resize charges more bytes to an entry that is cached.
func (c *Cache) resize(entry *cacheEntry, by int) {
	if entry.element != nil {
		entry.size += by
		c.grow(by)
	}
}

// grow adds to the used bytes and evicts entries until they fit.
func (c *Cache) grow(by int) {
	for c.bytes += by; c.bytes > c.budget; {
		c.evict(c.order.Back().Value.(*cacheEntry))
	}
}

// evict removes an entry. Its value stays valid for those who have it.
func (c *Cache) evict(entry *cacheEntry) {
	c.order.Remove(entry.element)
	delete(c.entries, entry.key)
	delete(c.hashes, entry.hash)
	entry.element = nil
	c.bytes -= entry.size
}

// Stats returns the number of entries and hashes, and the bytes that they are charged.
func (c *Cache) Stats() (entries, hashes, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), len(c.hashes), c.bytes
}
