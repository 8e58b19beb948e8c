package executor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/store"
)

// The steps of an operation, as traces name them.
const (
	stepPrepare = "graphql.prepare" // parse, validate and plan
	stepRun     = "graphql.run"
)

// The executors, as metrics name them.
const (
	byPlan   = "plan"
	byGqlgen = "gqlgen"
)

// errResponse is the error of a step whose response has errors.
var errResponse = errors.New("the response has errors")

// stepError returns errResponse if there are errors.
func stepError(errs gqlerror.List) error {
	if len(errs) > 0 {
		return errResponse
	}
	return nil
}

// statsOf returns the statistics of an operation that are known before it runs.
func statsOf(op *document.Operation) OperationStats {
	if op == nil || op.CachedDocument == nil || op.Definition == nil {
		return OperationStats{}
	}
	return OperationStats{Name: op.Definition.Name, Kind: string(op.Definition.Operation), Trusted: op.Outcome == document.OutcomeTrusted}
}

// record reports an operation that ends now. began is zero if its duration means nothing, as for a subscription.
func (e *Executor) record(ctx context.Context, stats OperationStats, began time.Time) {
	if e.CountOperation == nil {
		return
	}
	if !began.IsZero() {
		stats.Took = time.Since(began)
	}
	e.CountOperation(ctx, stats)
}

// countFields counts root fields that come from a cached response, or are subscriptions.
func (e *Executor) countFields(ctx context.Context, coordinates []string) {
	if e.CountField == nil {
		return
	}
	for _, coordinate := range coordinates {
		e.CountField(ctx, coordinate)
	}
}

// countDocument counts the document of an operation that is prepared already, if its outcome is counted.
func (e *Executor) countDocument(outcome string) {
	if outcome != "" {
		e.processor.Count(outcome)
	}
}

// addCodes adds the codes of errors that codes does not have.
func addCodes(codes []store.Code, errs gqlerror.List) []store.Code {
	for _, err := range errs {
		code, ok := err.Extensions["code"].(store.Code)
		if !ok {
			code = store.Invalid
		}
		if !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// countGqlgen counts a query that gqlgen's executor runs, unless the client is gone.
func (e *Executor) countGqlgen(ctx context.Context, operation *graphql.OperationContext) {
	if operation.Operation.Operation == ast.Query && ctx.Err() == nil {
		e.CountExecutor(byGqlgen)
	}
}
