package graph

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"portico/internal/answers"
)

// KeepingFragments has fragments be kept, and no whole answers.
func KeepingFragments(room *answers.Room) HandlerOption {
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

// KeptDocuments is a store of documents with a budget of bytes.
func KeptDocuments(budget int) *keptDocuments { return newKeptDocuments(budget) }

// Kept is how many documents are kept, and their bytes as they are counted.
func (k *keptDocuments) Kept() (n, bytes int) { return k.documents.order.Len(), k.documents.bytes }

// KeepRequest keeps a request that asks a document, which is kept too.
func (k *keptDocuments) KeepRequest(query, sent string) {
	document := k.find(query)
	if document == nil {
		document = k.add(query, &ast.QueryDocument{})
	}
	k.keep([]byte(sent), &ready{prepared: &prepared{keptDocument: document}})
}

// KeepNamed keeps a document by its hash too.
func (k *keptDocuments) KeepNamed(query string) {
	k.name(k.add(query, &ast.QueryDocument{}), hashOf(query), query)
}

// Names is how many documents are kept by their hashes.
func (k *keptDocuments) Names() int { return len(k.names) }

// HasRequest tells whether a request is kept.
func (k *keptDocuments) HasRequest(sent string) bool { return k.ready([]byte(sent)) != nil }

// Requests is how many requests are kept, and their bytes as they are counted.
func (k *keptDocuments) Requests() (n, bytes int) { return k.requests.order.Len(), k.requests.bytes }

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
