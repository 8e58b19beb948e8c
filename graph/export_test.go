package graph

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"portico/graph/plan"
	"portico/internal/responsecache"
)

// WithFragmentCache has fragments be kept, and no whole answers.
func WithFragmentCache(room *responsecache.Cache) HandlerOption {
	return func(h *handling) { h.parts = room }
}

// StepsOf counts what validation reads of a document that fits the bounds;
// none of one that does not.
func StepsOf(schema *ast.Schema, query string, bounds Bounds) (steps int) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, bounds.Tokens)
	if err != nil || fits(document, bounds) != nil {
		return 0
	}
	observers := &core.Events{}
	observers.OnField(func(*core.Walker, *ast.Field) { steps++ })
	observers.OnInlineFragment(func(*core.Walker, *ast.InlineFragment) { steps++ })
	observers.OnFragmentSpread(func(*core.Walker, *ast.FragmentSpread) { steps++ })
	observers.OnDirective(func(*core.Walker, *ast.Directive) { steps++ })
	observers.OnValue(func(*core.Walker, *ast.Value) { steps++ })
	core.Walk(schema, document, observers)
	return steps
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

// Conflicts are the fields that cannot be merged in a document, which was
// validated.
func Conflicts(schema *ast.Schema, document *ast.QueryDocument) (faults gqlerror.List) {
	for _, operation := range document.Operations {
		conflicts(schema, operation, func(fault *gqlerror.Error) { faults = append(faults, fault) })
	}
	return faults
}

// CostIn is what the operation of a context has cost so far, estimated and
// spent, in units of cost; 0 if it has not run.
func CostIn(ctx context.Context) int {
	op, _ := operationOf(ctx)
	if op == nil || op.budget == nil {
		return 0
	}
	return int(op.budget.spent.Load() + op.budget.bytes.Load()/workUnit)
}

// WorkUnit is how many bytes a unit of cost stands for.
const WorkUnit = workUnit

// FieldWeights are the coordinates that have a weight of their own.
func FieldWeights() map[string]float64 { return fieldWeights }

// RowWeights likewise.
func RowWeights() map[string]float64 { return rowWeights }

// MemberWeights are the arguments and members that have one.
func MemberWeights() map[string]float64 { return memberWeights }

// MeteredLists are the lists that are paid for as they come.
func MeteredLists() []string { return meteredLists }

// WeightOf is what a field costs by itself.
func WeightOf(schema *ast.Schema, object, field string) float64 {
	definition := schema.Types[object]
	return newPricing(schema, DefaultBounds()).fieldWeight(definition, definition.Fields.ForName(field))
}
