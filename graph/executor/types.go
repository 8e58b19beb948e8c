package executor

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	library "github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/limits"
	"portico/graph/plan"
	"portico/store"
)

// Config configures an Executor. Functions may be nil, and are called concurrently.
type Config struct {
	Limits            limits.Config
	OpenIntrospection bool                // introspection without a token
	DisablePlans      bool                // gqlgen's executor runs everything
	Responses         graph.ResponseCache // of whole responses
	Documents         *document.Cache     // of documents and plans
	Manifest          *document.Manifest  // of trusted documents; nil for none
	Limiter           ConcurrencyLimiter  // nil for none

	CountDocument     func(outcome string)                            // with the document.Outcome* of each persisted or trusted document
	CountField        func(ctx context.Context, coordinate string)    // of each root field
	CountExecutor     func(by string)                                 // of each query: plan or gqlgen
	CountOperation    func(ctx context.Context, stats OperationStats) // when an operation ended or was rejected
	CountSubscription func(ctx context.Context, stats OperationStats) // when a subscription began
}

// ConcurrencyLimiter bounds the number of operations that run at once. Its methods wait for a slot, and
// fail with UNAVAILABLE if that takes too long. end releases the slot, unless a method says otherwise, and may be called again.
type ConcurrencyLimiter interface {
	// SwitchToWrite exchanges the read slot of a request for a write slot.
	SwitchToWrite(w http.ResponseWriter, r *http.Request) error

	// AcquireRead and AcquireWrite take a slot for a response of a stream.
	AcquireRead(ctx context.Context) (end func(), err error)
	AcquireWrite(ctx context.Context) (end func(), err error)

	// AcquireExpensive takes one of the few slots for operations of high cost or with a large
	// response. inMemory says that part of the response is in memory already: then fewer may wait. The slot
	// of a request is released when the request ends, and end does nothing; end releases that of an event.
	AcquireExpensive(ctx context.Context, inMemory bool) (end func(), err error)
}

// Executor runs operations by Execute: queries by plans, everything else by gqlgen's executor. Errors and
// statistics are the same in both. It is safe for concurrent use.
type Executor struct {
	*library.Executor // gqlgen's
	Config
	introspection introspection
	resolver      *graph.Resolver
	runner        *plan.Runner // nil if gqlgen's executor runs everything
	schema        *ast.Schema
	present       graphql.ErrorPresenterFunc
	log           *slog.Logger
	processor     *document.Processor // prepares documents
	cache         *document.Cache     // of documents and plans: Config.Documents
	prepared      atomic.Uint64       // number of prepared operations so far, for document.PreparedOperation.ID
}

// OperationStats describes an operation that ended or was rejected.
type OperationStats struct {
	Name    string        // of the operation; may be empty
	Kind    string        // query, mutation or subscription; empty if the document is invalid
	Trusted bool          // the document is in the manifest
	Took    time.Duration // 0 for a subscription
	Codes   []store.Code  // distinct codes of its errors
}
