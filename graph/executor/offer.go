package executor

import (
	"context"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/plan"
)

// Responses that depend on a release, on stock and on settings alone are offered to the cache in
// front of the server, with the stock in them.

// offeredFields are the root fields whose responses can be offered, besides cacheableFields.
var offeredFields = []string{"stocks", "stock", "stocksById", "settings", "__typename"}

// offeredStock are the fields of Stock that are of the stock's record, or of a release.
var offeredStock = []string{"id", "uuid", "total", "available", "allocated", "createdAt", "updatedAt", "product", "__typename"}

// offerCoordinates returns the root fields of a query whose response can be offered, for the
// metrics; nil if it cannot be offered.
func offerCoordinates(op *document.Operation, plan *plan.Plan, variables map[string]any) []string {
	coordinates := []string{}
	for _, name := range plan.Roots() {
		if !slices.Contains(cacheableFields, name) && !slices.Contains(offeredFields, name) {
			return nil
		}
		if name != "__typename" {
			coordinates = append(coordinates, "Query."+name)
		}
	}
	if selectsOther(op.Definition.SelectionSet, map[*ast.FragmentDefinition]bool{}) || selectsOutsideRelease(op, variables) {
		return nil
	}
	return coordinates
}

// selectsOther reports whether fields of Stock other than offeredStock, or promotions, are selected. seen are the
// fragments that were looked at.
func selectsOther(set ast.SelectionSet, seen map[*ast.FragmentDefinition]bool) bool {
	return slices.ContainsFunc(set, func(selection ast.Selection) bool {
		switch s := selection.(type) {
		case *ast.Field:
			return s.ObjectDefinition.Name == "Stock" && !slices.Contains(offeredStock, s.Name) ||
				s.ObjectDefinition.Name == "Product" && s.Name == "promotions" || selectsOther(s.SelectionSet, seen)
		case *ast.InlineFragment:
			return selectsOther(s.SelectionSet, seen)
		case *ast.FragmentSpread:
			if seen[s.Definition] {
				return false
			}
			seen[s.Definition] = true
			return selectsOther(s.Definition.SelectionSet, seen)
		}
		return true
	})
}

// BeginOffer returns a context for the run of a query, and who makes its offer; nil if it makes
// none.
func (e *Executor) BeginOffer(ctx context.Context, query *document.PreparedOperation) (context.Context, *graph.Offerer) {
	if query.OfferCoordinates == nil {
		return ctx, nil
	}
	return e.resolver.BeginOffer(ctx)
}

// CountRepeated returns a function that counts a request for the same query as RunPlan counts its own.
// It refers to little of the query, since it lives as long as an offer.
func (e *Executor) CountRepeated(query *document.PreparedOperation) func(context.Context) {
	stats, coordinates := statsOf(query.Operation), query.OfferCoordinates
	stats.Name = strings.Clone(stats.Name)
	return func(ctx context.Context) {
		e.CountFields(ctx, coordinates)
		e.CountExecutor(byPlan)
		e.recordEnd(ctx, stats)
	}
}
