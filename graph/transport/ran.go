package transport

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

// Ran is an operation that has ended, or that was refused.
type Ran struct {
	Name    string        // as its document has it; empty for none
	Kind    string        // query, mutation or subscription; empty for a document that was not one
	Trusted bool          // the manifest has its document
	Took    time.Duration // 0 for a subscription, which lasts as long as its client wants
	Codes   []store.Code  // of its errors, each once
}

// CountOperations calls ran for each operation that ends or is refused, and
// begun for each subscription that begins, several times at once.
func CountOperations(ran func(ctx context.Context, ran Ran), begun func(ctx context.Context, of Ran)) HandlerOption {
	return func(h *handling) { h.ran, h.began = ran, begun }
}

// The steps of an operation, as traces have them.
const (
	stepPrepare = "graphql.prepare" // it is read, measured, validated and planned
	stepRun     = "graphql.run"
)

// errAnswered says of a step that its answer has errors, and not which.
var errAnswered = errors.New("the answer has errors")

func failed(faults gqlerror.List) error {
	if len(faults) > 0 {
		return errAnswered
	}
	return nil
}

// coded is an error of which only its code is told.
func coded(code store.Code) gqlerror.List {
	return gqlerror.List{{Extensions: map[string]any{"code": code}}}
}

// of is what is told of an operation before it runs.
func statsOf(p *document.Operation) (of Ran) {
	if p == nil || p.CachedDocument == nil || p.Definition == nil {
		return Ran{}
	}
	return Ran{Name: p.Definition.Name, Kind: string(p.Definition.Operation), Trusted: p.Outcome == document.OutcomeTrusted}
}

// named has the logs of a request name its operation.
func named(ctx context.Context, asked *document.Operation) {
	if known := reqctx.From(ctx); known != nil {
		known.OperationName = statsOf(asked).Name
	}
}

// tell tells of an operation that has ended with these errors.
func (h *handling) tell(ctx context.Context, asked *document.Operation, faults gqlerror.List) {
	if h.ran == nil {
		return
	}
	ran := statsOf(asked)
	if known := reqctx.From(ctx); known != nil {
		ran.Took = time.Since(known.Start)
	}
	ran.Codes = codesOf(nil, faults)
	h.ran(ctx, ran)
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

// refused tells of an operation of a stream that did not begin.
func (h *handling) refused(ctx context.Context, asked *document.Operation, faults gqlerror.List) {
	if h.ran != nil {
		ran := statsOf(asked)
		ran.Codes = codesOf(nil, faults)
		h.ran(ctx, ran)
	}
}

// lasts is an operation that came over a stream, until it ends.
type lasts struct {
	handling *handling
	ctx      context.Context
	began    time.Time

	mu sync.Mutex
	Ran
}

// begin tells of an operation that begins on a stream.
func (h *handling) begin(ctx context.Context, asked *document.Operation) *lasts {
	l := &lasts{handling: h, ctx: ctx, began: time.Now(), Ran: statsOf(asked)}
	if h.began != nil && l.Kind == string(ast.Subscription) {
		h.began(ctx, l.Ran)
	}
	return l
}

// had notes the errors of an answer or event.
func (l *lasts) had(faults gqlerror.List) {
	if len(faults) > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Codes = codesOf(l.Codes, faults)
	}
}

// end tells that it has ended.
func (l *lasts) end() {
	if l.handling.ran == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Kind != string(ast.Subscription) {
		l.Took = time.Since(l.began)
	}
	l.handling.ran(l.ctx, l.Ran)
}
