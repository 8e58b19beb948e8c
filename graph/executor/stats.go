package executor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/internal/reqctx"
	"portico/store"
)

// The steps of an operation, as traces name them.
const (
	stepPrepare = "graphql.prepare" // parse, validate and plan
	stepRun     = "graphql.run"
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

// nameOperation sets the operation name of a request's log entry.
func nameOperation(ctx context.Context, op *document.Operation) {
	if req := reqctx.From(ctx); req != nil {
		req.OperationName = statsOf(op).Name
	}
}

// recordOperation reports an operation of a request that ended with these errors.
func (e *Executor) recordOperation(ctx context.Context, op *document.Operation, errs gqlerror.List) {
	stats := statsOf(op)
	stats.Codes = addCodes(nil, errs)
	e.recordEnd(ctx, stats)
}

// recordEnd reports an operation of a request that ends now.
func (e *Executor) recordEnd(ctx context.Context, stats OperationStats) {
	if e.CountOperation == nil {
		return
	}
	if req := reqctx.From(ctx); req != nil {
		stats.Took = time.Since(req.Start)
	}
	e.CountOperation(ctx, stats)
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

// recordRejected reports an operation of a stream that was rejected.
func (e *Executor) recordRejected(ctx context.Context, op *document.Operation, errs gqlerror.List) {
	if e.CountOperation != nil {
		stats := statsOf(op)
		stats.Codes = addCodes(nil, errs)
		e.CountOperation(ctx, stats)
	}
}

// streamStats collects the statistics of an operation of a stream. It is safe for concurrent use.
type streamStats struct {
	exec  *Executor
	ctx   context.Context
	start time.Time

	mu sync.Mutex
	OperationStats
}

// startStream begins the statistics of an operation of a stream, and reports a new subscription.
func (e *Executor) startStream(ctx context.Context, op *document.Operation) *streamStats {
	s := &streamStats{exec: e, ctx: ctx, start: time.Now(), OperationStats: statsOf(op)}
	if e.CountSubscription != nil && s.Kind == string(ast.Subscription) {
		e.CountSubscription(ctx, s.OperationStats)
	}
	return s
}

// addErrors adds the errors of a response or event.
func (s *streamStats) addErrors(errs gqlerror.List) {
	if len(errs) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Codes = addCodes(s.Codes, errs)
	}
}

// end reports the operation. Call it once.
func (s *streamStats) end() {
	if s.exec.CountOperation == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Kind != string(ast.Subscription) {
		s.Took = time.Since(s.start)
	}
	s.exec.CountOperation(s.ctx, s.OperationStats)
}
