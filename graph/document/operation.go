package document

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/limits"
	"portico/graph/plan"
	"portico/internal/heapsize"
	"portico/store"
)

// CachedDocument is a parsed and validated document within the limits.
type CachedDocument struct {
	Document *ast.QueryDocument
	Query    string
	entry    *cacheEntry
}

// CachedPlan is a plan, which grows while it runs.
type CachedPlan struct {
	*plan.Plan
	entry   *cacheEntry
	charged atomic.Int64 // bytes that the cache charges for the plan
}

// Operation is the operation of a request, parsed and validated.
type Operation struct {
	*CachedDocument
	Definition *ast.OperationDefinition // nil if the document has no operation of the requested name
	Allowance  limits.Allowance
	Cost       *limits.Cost // estimated; nil until known
	Outcome    string       // Outcome* of the document; empty if it is not counted
}

// IsSubscription reports whether the operation is a subscription.
func (op *Operation) IsSubscription() bool {
	return op.Definition != nil && op.Definition.Operation == ast.Subscription
}

// PreparedOperation is a validated query with its variables and plan. It is immutable: requests of the
// same bytes share it.
type PreparedOperation struct {
	*Operation
	ID                   uint64            // unique in the process
	Params               graphql.RawParams // of the request, without extensions that nothing reads
	Variables            map[string]any    // coerced, with defaults
	Plan                 *CachedPlan
	Introspects          bool     // selects __schema or __type
	ResponseEnd          string   // the part of the response after the data
	CacheCoordinates     []string // root fields to authorize before a cached response is used; nil if not cacheable
	CandidateCoordinates []string // root fields to count for a response that is a candidate; nil if it is none
}

// RootFields visits the root fields of an operation, each as often as it is selected, also where @skip or @include leave it out.
func (op *Operation) RootFields(visit func(*ast.Field)) {
	seen := map[*ast.FragmentDefinition]bool{}
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				visit(selection)
			case *ast.InlineFragment:
				walk(selection.SelectionSet)
			case *ast.FragmentSpread:
				if fragment := selection.Definition; !seen[fragment] {
					seen[fragment] = true
					walk(fragment.SelectionSet)
				}
			}
		}
	}
	walk(op.Definition.SelectionSet)
}

// RootIDs implements opctx.Roots: it returns the distinct values of an argument of the root fields of a name. In a second run
// (plan.IsSecondRun) it returns nil: that is charged field by field, so each field reads its own row.
func (op *PreparedOperation) RootIDs(ctx context.Context, field, argument string) (ids []string) {
	if plan.IsSecondRun(ctx) {
		return nil
	}
	seen := map[string]bool{}
	argument, member, _ := strings.Cut(argument, ".")
	op.RootFields(func(f *ast.Field) {
		if f.Name != field {
			return
		}
		value := f.ArgumentMap(op.Variables)[argument]
		if members, ok := value.(map[string]any); ok {
			value = members[member]
		}
		id := fmt.Sprint(value)
		if argument == "id" || member == "id" {
			id = store.LocalID(id)
		}
		if value != nil && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	})
	return ids
}

// size returns the memory of the operation in bytes, without its plan and document.
func (op *PreparedOperation) size() int {
	return int(unsafe.Sizeof(*op)+unsafe.Sizeof(*op.Operation)+unsafe.Sizeof(*op.Cost)) + heapsize.Round(len(op.ResponseEnd)) +
		heapsize.Of(op.Variables, op.Params.Extensions, op.CacheCoordinates, op.CandidateCoordinates, op.Allowance.RowCosts)
}
