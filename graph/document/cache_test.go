package document

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/plan"
	"portico/store/storetest/testkit"
)

// testDocument adds a document without operations.
func (c *Cache) testDocument(query string) *CachedDocument {
	return c.addDocument(query, &ast.QueryDocument{})
}

// testHash adds a document with its hash.
func (c *Cache) testHash(query string) { c.addHash(c.testDocument(query), Hash(query)) }

// testPlan adds the plan of a document without operations.
func (c *Cache) testPlan(document *CachedDocument, values string) *CachedPlan {
	return c.Plan(document, nil, document.Query+values, func() *plan.Plan { return &plan.Plan{} })
}

// testRequest adds a request that runs a plan.
func (c *Cache) testRequest(of *CachedPlan, sent string) {
	c.AddRequest([]byte(sent), &PreparedOperation{Operation: &Operation{}, Plan: of})
}

// hasDocument, hasPlan and hasRequest report whether an entry is cached, and count as a use.
func (c *Cache) hasDocument(query string) bool { return c.document(query) != nil }

func (c *Cache) hasPlan(query, values string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(cacheKey{planEntry, nil, query + values}) != nil
}

func (c *Cache) hasRequest(sent string) bool { return c.Request([]byte(sent)) != nil }

// The cache stays within its budget, evicts the least recently used entry, and has no entry whose
// parent was evicted.
func TestCacheEvictsLeastRecentlyUsedEntries(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 1))
	const budget = 20_000
	cache := NewCache(budget)
	query := func(i int) string { return fmt.Sprintf("document %d %s", i, strings.Repeat("x", 50*i)) }
	requests := map[string][2]int{}
	evicted := 0
	for range 20_000 {
		i, values := random.IntN(12), random.IntN(4)
		switch document := cache.testDocument(query(i)); random.IntN(4) {
		case 0:
			cache.testHash(query(i))
		case 1:
			cache.testPlan(document, fmt.Sprint(values))
		default:
			sent := fmt.Sprint("request ", i, " ", values, " ", random.IntN(5))
			plan := cache.testPlan(document, fmt.Sprint(values))
			cache.testRequest(plan, sent)
			requests[sent] = [2]int{i, values}
			require.True(t, cache.hasRequest(sent), "an entry that was just added stays")
		}
		entries, names, bytes := cache.Stats()
		require.LessOrEqual(t, bytes, budget)
		require.LessOrEqual(t, names, entries)
		if random.IntN(50) > 0 {
			continue
		}
		for sent, of := range requests {
			if !cache.hasRequest(sent) {
				evicted++
				delete(requests, sent)
				continue
			}
			require.True(t, cache.hasPlan(query(of[0]), fmt.Sprint(of[1])), "a request's plan is cached")
			require.True(t, cache.hasDocument(query(of[0])), "a request's document is cached")
		}
	}
	require.Positive(t, evicted)

	cache = NewCache(budget)
	for i := range 1_000 {
		cache.testHash(fmt.Sprintf("%0500d", i))
		require.True(t, cache.hasDocument(fmt.Sprintf("%0500d", 0)), "what is used again and again stays")
	}
	entries, names, bytes := cache.Stats()
	require.Equal(t, entries, names, "a name goes with its document")
	require.Greater(t, bytes, budget*9/10)
	first := cache.testDocument("first")
	cache.testPlan(first, "0")
	cache.testPlan(first, "1")
	require.True(t, cache.hasPlan("first", "1"))
	for i := range 1_000 {
		cache.hasPlan("first", "1")
		cache.testDocument(fmt.Sprintf("%0500d", i))
	}
	require.True(t, cache.hasPlan("first", "1"))
	require.False(t, cache.hasPlan("first", "0"), "one plan of a document is evicted without the others")
	before, _, _ := cache.Stats()
	cache.testDocument(strings.Repeat("x", 2*budget))
	after, _, _ := cache.Stats()
	require.Equal(t, before, after, "what is larger than the budget is not cached, and evicts nothing")
	cache.testRequest(cache.testPlan(first, "1"), strings.Repeat("x", 17<<10))
	require.False(t, cache.hasRequest(strings.Repeat("x", 17<<10)), "nor is a request longer than 16 KiB")
}
