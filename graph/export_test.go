package graph

import (
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/plan"
	"portico/internal/responsecache"
)

// WithFragmentCache has fragments be kept, and no whole answers.
func WithFragmentCache(room *responsecache.Cache) HandlerOption {
	return func(h *handling) { h.parts = room }
}

// HashOf is what a document is named by.
func HashOf(query string) string { return hashOf(query) }

// WithDocumentCache has documents cached here.
func WithDocumentCache(cache *documentCache) HandlerOption {
	return func(h *handling) { h.cache = cache }
}

// NewDocumentCache is a cache of documents with a budget of bytes.
func NewDocumentCache(budget int) *documentCache { return newDocumentCache(budget) }

// AddDocument adds a document that has nothing but its text.
func (c *documentCache) AddDocument(query string) *cachedDocument {
	return c.addDocument(query, &ast.QueryDocument{})
}

// AddNamed adds a document with its hash.
func (c *documentCache) AddNamed(query string) { c.name(c.AddDocument(query), hashOf(query)) }

// AddPlan adds the plan of a document without operations.
func (c *documentCache) AddPlan(document *cachedDocument, values string) *cachedPlan {
	return c.plan(document, nil, document.query+values, func() *plan.Plan { return &plan.Plan{} })
}

// AddRequest adds a request that runs a plan.
func (c *documentCache) AddRequest(of *cachedPlan, sent string) {
	c.addRequest([]byte(sent), &ready{prepared: &prepared{}, plan: of})
}

// HasDocument, HasPlan and HasRequest tell whether an entry is cached, and use it.
func (c *documentCache) HasDocument(query string) bool { return c.document(query) != nil }

func (c *documentCache) HasPlan(query, values string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(cacheKey{planEntry, nil, query + values}) != nil
}

func (c *documentCache) HasRequest(sent string) bool { return c.request([]byte(sent)) != nil }

// Cached is how many entries there are, how many names, and the bytes that
// they are charged.
func (c *documentCache) Cached() (entries, names, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), len(c.hashes), c.bytes
}
