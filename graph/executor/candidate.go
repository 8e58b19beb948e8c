package executor

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/document"
	"portico/graph/plan"
	"portico/internal/reqctx"
)

// Responses that depend on a release, on stock and on settings alone are candidates for the cache in
// front of the server, with the stock in them.

// candidateFields are the root fields whose responses can be candidates, besides cacheableFields.
var candidateFields = []string{"stocks", "stock", "stocksById", "settings", "__typename"}

// candidateStock are the fields of Stock that are of the stock's record, or of a release.
var candidateStock = []string{"id", "uuid", "total", "available", "allocated", "createdAt", "updatedAt", "product", "__typename"}

// candidateCoordinates returns the coordinates of a query's root fields, for the metrics, without __typename; nil if its response
// cannot be a candidate.
func candidateCoordinates(op *document.Operation, of *plan.Plan, variables map[string]any) []string {
	coordinates := []string{}
	for _, name := range of.Roots() {
		if !slices.Contains(cacheableFields, name) && !slices.Contains(candidateFields, name) {
			return nil
		}
		if name != "__typename" {
			coordinates = append(coordinates, "Query."+name)
		}
	}
	if selectsUncacheable(op.Definition.SelectionSet, map[*ast.FragmentDefinition]bool{}) || selectsOutsideRelease(op, variables) {
		return nil
	}
	return coordinates
}

// selectsUncacheable reports whether a field is selected that depends on more than a release, the settings and stock records: one of
// Stock that is not in candidateStock, or the promotions of a product. seen are the fragments that were looked at.
func selectsUncacheable(set ast.SelectionSet, seen map[*ast.FragmentDefinition]bool) bool {
	return slices.ContainsFunc(set, func(selection ast.Selection) bool {
		switch s := selection.(type) {
		case *ast.Field:
			return s.ObjectDefinition.Name == "Stock" && !slices.Contains(candidateStock, s.Name) ||
				s.ObjectDefinition.Name == "Product" && s.Name == "promotions" || selectsUncacheable(s.SelectionSet, seen)
		case *ast.InlineFragment:
			return selectsUncacheable(s.SelectionSet, seen)
		case *ast.FragmentSpread:
			if seen[s.Definition] {
				return false
			}
			seen[s.Definition] = true
			return selectsUncacheable(s.Definition.SelectionSet, seen)
		}
		return true
	})
}

// countRepeated returns a function that counts a request for the same query as Execute counts its own.
// It refers to little of the query, since it lives as long as a candidate.
func (e *Executor) countRepeated(query *document.PreparedOperation) func(*reqctx.Request) {
	stats, coordinates, outcome := statsOf(query.Operation), query.CandidateCoordinates, query.Outcome
	stats.Name = strings.Clone(stats.Name)
	return func(req *reqctx.Request) {
		e.countFields(req, coordinates)
		e.CountExecutor(byPlan)
		e.record(req, stats, req.Start)
		e.processor.CountOutcome(outcome)
	}
}
