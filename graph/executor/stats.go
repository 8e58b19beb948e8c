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

// OperationStats is an operation that has ended, or that was refused.
type OperationStats struct {
	Name    string        // as its document has it; empty for none
	Kind    string        // query, mutation or subscription; empty for a document that was not one
	Trusted bool          // the manifest has its document
	Took    time.Duration // 0 for a subscription, which lasts as long as its client wants
	Codes   []store.Code  // of its errors, each once
}

// The steps of an operation, as traces have them.
const (
	StepPrepare = "graphql.prepare" // it is read, measured, validated and planned
	StepRun     = "graphql.run"
)

// ErrResponse says of a step that its answer has errors, and not which.
var ErrResponse = errors.New("the answer has errors")

func StepError(faults gqlerror.List) error {
	if len(faults) > 0 {
		return ErrResponse
	}
	return nil
}

// CodeError is an error of which only its code is told.
func CodeError(code store.Code) gqlerror.List {
	return gqlerror.List{{Extensions: map[string]any{"code": code}}}
}

// of is what is told of an operation before it runs.
func statsOf(p *document.Operation) (of OperationStats) {
	if p == nil || p.CachedDocument == nil || p.Definition == nil {
		return OperationStats{}
	}
	return OperationStats{Name: p.Definition.Name, Kind: string(p.Definition.Operation), Trusted: p.Outcome == document.OutcomeTrusted}
}

// NameOperation has the logs of a request name its operation.
func NameOperation(ctx context.Context, asked *document.Operation) {
	if known := reqctx.From(ctx); known != nil {
		known.OperationName = statsOf(asked).Name
	}
}

// RecordOperation tells of an operation that has ended with these errors.
func (e *Executor) RecordOperation(ctx context.Context, asked *document.Operation, faults gqlerror.List) {
	if e.CountOperation == nil {
		return
	}
	ran := statsOf(asked)
	if known := reqctx.From(ctx); known != nil {
		ran.Took = time.Since(known.Start)
	}
	ran.Codes = codesOf(nil, faults)
	e.CountOperation(ctx, ran)
}

// codesOf adds the codes of errors that are not yet there.
func codesOf(codes []store.Code, faults gqlerror.List) []store.Code {
	for _, fault := range faults {
		code, ok := fault.Extensions["code"].(store.Code)
		if !ok {
			code = store.Invalid
		}
		if !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// RecordRejected tells of an operation of a stream that did not begin.
func (e *Executor) RecordRejected(ctx context.Context, asked *document.Operation, faults gqlerror.List) {
	if e.CountOperation != nil {
		ran := statsOf(asked)
		ran.Codes = codesOf(nil, faults)
		e.CountOperation(ctx, ran)
	}
}

// StreamStats is an operation that came over a stream, until it ends.
type StreamStats struct {
	exec  *Executor
	ctx   context.Context
	start time.Time

	mu sync.Mutex
	OperationStats
}

// begin tells of an operation that begins on a stream.
func (e *Executor) StartOperation(ctx context.Context, asked *document.Operation) *StreamStats {
	l := &StreamStats{exec: e, ctx: ctx, start: time.Now(), OperationStats: statsOf(asked)}
	if e.CountSubscription != nil && l.Kind == string(ast.Subscription) {
		e.CountSubscription(ctx, l.OperationStats)
	}
	return l
}

// AddErrors notes the errors of an answer or event.
func (l *StreamStats) AddErrors(faults gqlerror.List) {
	if len(faults) > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Codes = codesOf(l.Codes, faults)
	}
}

// End tells that it has ended.
func (l *StreamStats) End() {
	if l.exec.CountOperation == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Kind != string(ast.Subscription) {
		l.Took = time.Since(l.start)
	}
	l.exec.CountOperation(l.ctx, l.OperationStats)
}
