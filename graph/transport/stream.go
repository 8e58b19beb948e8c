package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

// StreamConfig is what streams are given. Two transports bring them: server-sent events
// and WebSockets.
type StreamConfig struct {
	Connection int           // subscriptions at once on one connection; 0 is any number
	Client     int           // those of one client, over all connections; 0 is any number
	Address    int           // those of one address, of a client whose secret nobody showed; 0 is a tenth of Client
	Message    int64         // bytes of a message that a WebSocket brings
	Within     time.Duration // how long an event may take to be read; 0 is any time
	Begin      time.Duration // how long a WebSocket may take to begin
	Ping       time.Duration // how often a client is asked whether it is still there; silent for two of it, it is not

	Origin   func(*http.Request) bool              // whether a page may open a WebSocket; nil is this server's own only
	Draining func(context.Context) <-chan struct{} // closed when the server of a request shuts down; nil is never
	Count    func(change int)                      // told of subscriptions that begin and end; nil is nobody
}

// DefaultStreamConfig is what streams are given unless something else is said.
func DefaultStreamConfig() StreamConfig {
	return StreamConfig{Connection: 50, Client: 5000, Message: 1 << 20, Within: 30 * time.Second, Begin: 10 * time.Second, Ping: 15 * time.Second}
}

// WithStreams gives streams this, in place of DefaultStreamConfig.
func WithStreams(live StreamConfig) Option { return func(h *handlerConfig) { h.live = live } }

// checkInterval is how often connections are looked at: whether their tokens are
// still good, and whether the server shuts down.
const checkInterval = 500 * time.Millisecond

// streamServer runs what comes over streams. It implements graphql.GraphExecutor, by
// plans and gqlgen's executor as for POST: documents are measured as everywhere,
// and each event is an operation of its own, so that it sees the view of its
// moment.
type streamServer struct {
	StreamConfig
	*Server
	resolver *graph.Resolver

	mu          sync.Mutex
	connections map[*connection]struct{}
	clients     map[quotaKey]int // subscriptions
	checking    bool
}

// quotaKey is whose subscriptions are counted together: a client's or, where nobody
// showed its secret, those of the client from one address as well.
type quotaKey struct{ client, address string }

// connection is a connection that stays open.
type connection struct {
	live     *streamServer
	ctx      context.Context
	end      context.CancelCauseFunc
	readOnly bool // it came by GET, and writes nothing

	// Under live's mu.
	quota         quotaKey
	token         *auth.TokenWatch // nil without a good token
	subscriptions int              // subscriptions
}

type connectionKey struct{}

// closeReason is why the server ends a connection, by its close code.
type closeReason struct {
	code   int
	reason string
	err    error // what its streams are told; nil for nothing, so that their clients come again
}

func (e *closeReason) Error() string { return e.reason }

// Close codes of graphql-transport-ws, and one of WebSockets'.
const (
	closeGoingAway    = 1001
	closeTryLater     = 1013
	closeBadRequest   = 4400
	closeUnauthorized = 4401 // no token will do: the client was revoked
	closeForbidden    = 4403 // another token may do
	closeNotBegun     = 4408
	closeSameID       = 4409
	closeBegunTwice   = 4429
)

// closeReasonOf is why a context was ended by the server; nil unless it was.
func closeReasonOf(ctx context.Context) *closeReason {
	var reason *closeReason
	errors.As(context.Cause(ctx), &reason)
	return reason
}

// open has a connection be looked after. It must be closed.
func (l *streamServer) open(ctx context.Context) *connection {
	made := &connection{live: l}
	made.ctx, made.end = context.WithCancelCause(ctx)
	made.ctx = context.WithValue(made.ctx, connectionKey{}, made)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connections[made] = struct{}{}
	if !l.checking {
		l.checking = true
		time.AfterFunc(checkInterval, l.checkConnections)
	}
	return made
}

// setToken has a connection last no longer than its token.
func (l *connection) setToken(ctx context.Context, held *auth.TokenWatch) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.token = held
	principal, known := auth.PrincipalFrom(ctx), reqctx.From(ctx)
	if principal != nil {
		l.quota.client = principal.ClientID
	}
	if principal.QuotaClientID() == "" && known != nil {
		l.quota.address = reqctx.Network(known.Address)
	}
}

func (l *connection) close() {
	l.end(nil)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	delete(l.live.connections, l)
}

// checkConnections looks at all connections, and comes back while there are any.
func (l *streamServer) checkConnections() {
	l.mu.Lock()
	lines, tokens := make([]*connection, 0, len(l.connections)), make([]*auth.TokenWatch, 0, len(l.connections))
	for line := range l.connections {
		lines, tokens = append(lines, line), append(tokens, line.token)
	}
	if l.checking = len(lines) > 0; l.checking {
		defer time.AfterFunc(checkInterval, l.checkConnections)
	}
	l.mu.Unlock()
	for i, line := range lines {
		if l.isDraining(line.ctx) {
			line.end(&closeReason{closeGoingAway, "The server shuts down; connect again.", nil})
		} else if token := tokens[i]; token != nil {
			if err := token.Check(line.ctx); err != nil && line.ctx.Err() == nil {
				line.end(tokenCloseReason(err, token.Expired()))
			}
		}
	}
}

func (l *streamServer) isDraining(ctx context.Context) bool {
	if l.Draining == nil {
		return false
	}
	select {
	case <-l.Draining(ctx):
		return true
	default:
		return false
	}
}

// tokenCloseReason is what a token that is no good ends a connection with.
func tokenCloseReason(err error, renewable bool) *closeReason {
	fault := store.AsErrors(err)[0]
	switch {
	case fault.Code != store.Unauthenticated:
		return &closeReason{closeTryLater, model.Message(fault), fault}
	case renewable:
		return &closeReason{closeForbidden, model.Message(fault), fault}
	}
	return &closeReason{closeUnauthorized, model.Message(fault), fault}
}

// streamOperation is an operation that was read, with what it may cost and what was sent.
type streamOperation struct {
	*document.Operation
	params graphql.RawParams
	query  *document.PreparedOperation // nil for what gqlgen's executor runs
}

const streamOperationKey = "begun"

// CreateOperationContext implements graphql.GraphExecutor. Faults come as they
// are to be shown.
func (l *streamServer) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	operation, sent := &graphql.OperationContext{}, *params
	_, prepared := store.StartStep(ctx, executor.StepPrepare)
	asked, faults := l.documents.Prepare(params)
	var query *document.PreparedOperation
	if faults == nil {
		query = l.exec.Prepare(asked, params)
	}
	prepared(executor.StepError(faults))
	if faults == nil {
		operation, faults = l.exec.CreateOperationContext(graphql.StartOperationTrace(executor.WithPrepared(ctx, asked)), params)
	}
	if line, _ := ctx.Value(connectionKey{}).(*connection); faults == nil {
		if line.readOnly && operation.Operation.Operation == ast.Mutation {
			by := mutationByGet()
			faults = gqlerror.List{{Message: by.message, Extensions: map[string]any{"code": by.code}}}
		} else {
			if err := l.reserve(line); err != nil {
				faults = gqlerror.List{err}
			}
		}
	}
	if faults != nil {
		response := l.exec.DispatchError(graphql.WithOperationContext(ctx, operation), faults)
		l.exec.RecordRejected(ctx, asked, response.Errors)
		operation.Stats.SetExtension(streamOperationKey, &streamOperation{asked, sent, nil})
		return operation, l.redactResponse(&sent, response).Errors
	}
	operation.Stats.SetExtension(streamOperationKey, &streamOperation{asked, sent, query})
	return operation, nil
}

// DispatchError implements graphql.GraphExecutor, for faults that are as they
// are to be shown. What a refused operation would cost is told beside them; an
// error over a WebSocket has no place for it.
func (l *streamServer) DispatchError(ctx context.Context, faults gqlerror.List) *graphql.Response {
	response := &graphql.Response{Errors: faults}
	if graphql.HasOperationContext(ctx) {
		if asked, is := graphql.GetOperationContext(ctx).Stats.GetExtension(streamOperationKey).(*streamOperation); is {
			executor.AddCost(asked.Operation, &asked.params, response)
		}
	}
	return response
}

// reserve counts an operation of a connection in, or refuses it.
func (l *streamServer) reserve(line *connection) *gqlerror.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	refuse := func(of string, most int, flag string) *gqlerror.Error {
		return &gqlerror.Error{Message: fmt.Sprintf("This %s has %d subscriptions, which is as many as one may have; end some first (%s).", of, most, flag),
			Extensions: map[string]any{"code": store.RateLimited}}
	}
	whole := quotaKey{client: line.quota.client}
	switch {
	case l.Connection > 0 && line.subscriptions >= l.Connection:
		return refuse("connection", l.Connection, "--subscriptions-connection")
	case line.quota != whole && l.Address > 0 && l.clients[line.quota] >= l.Address:
		return refuse("address", l.Address, "--subscriptions-address")
	case line.quota != whole && l.clients[line.quota] < minAddressSubscriptions: // however many others have
	case l.Client > 0 && l.clients[whole] >= l.Client:
		return refuse("client", l.Client, "--subscriptions-client")
	}
	line.subscriptions++
	l.count(line.quota, 1)
	return nil
}

// minAddressSubscriptions is how many subscriptions an address may always have: those of a
// shopper or two, whom a few other addresses cannot shut out.
const minAddressSubscriptions = 10

// count counts subscriptions of a share in or out.
func (l *streamServer) count(of quotaKey, change int) {
	for _, each := range []quotaKey{of, {client: of.client}} {
		if l.clients[each] += change; l.clients[each] == 0 {
			delete(l.clients, each)
		}
		if of.address == "" {
			break
		}
	}
	if l.Count != nil {
		l.Count(change)
	}
}

// release counts it out.
func (l *streamServer) release(line *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line.subscriptions--
	l.count(line.quota, -1)
}

// DispatchOperation implements graphql.GraphExecutor.
func (l *streamServer) DispatchOperation(ctx context.Context, operation *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	asked, line := operation.Stats.GetExtension(streamOperationKey).(*streamOperation), ctx.Value(connectionKey{}).(*connection)
	lasts := l.exec.StartOperation(ctx, asked.Operation)
	context.AfterFunc(ctx, func() { l.release(line); lasts.End() }) // the transports end it with the operation
	streams := operation.Operation.Operation == ast.Subscription
	anew := func(ctx context.Context) context.Context { return withBudget(ctx, opctx.NewBudget(asked.Allowance)) }
	if streams {
		field := graphql.CollectFields(operation, operation.Operation.SelectionSet, []string{"Subscription"})[0]
		l.exec.CountFields(ctx, []string{"Subscription." + field.Name})
		anew = func(ctx context.Context) context.Context { // with the field, which the library leaves out of paths within events
			return graphql.WithFieldContext(newOperation(ctx, opctx.NewBudget(asked.Allowance)), &graphql.FieldContext{Object: "Subscription", Field: field})
		}
	}
	responses, within := l.dispatch(withBudget(ctx, opctx.NewBudget(asked.Allowance)), operation, asked)
	told, refused, first := false, false, true
	event := ctx // whose response is written once the transport comes back
	return func(ctx context.Context) *graphql.Response {
		executor.ReleaseExpensive(event)
		if refused {
			return nil
		}
		end, err := l.acquire(ctx, operation.Operation.Operation)
		if err != nil {
			refused = true
			faults := executor.ErrorList(store.AsErrors(err)[0])
			lasts.AddErrors(faults)
			return &graphql.Response{Errors: faults}
		}
		defer end()
		event = store.WithLockWaitListener(anew(within), store.LockWaitFunc(end))
		response := l.nextResponse(event, asked.Operation, responses)
		if response != nil {
			lasts.AddErrors(response.Errors)
			if first {
				executor.AddCost(asked.Operation, &asked.params, response)
			}
			first = false
			return l.redactResponse(&asked.params, response)
		}
		executor.ReleaseExpensive(event)
		if reason := closeReasonOf(ctx); reason != nil && reason.err != nil && !told {
			told = true
			fault := store.AsErrors(reason.err)[0]
			return &graphql.Response{Errors: gqlerror.List{{Message: model.Message(fault), Extensions: map[string]any{"code": fault.Code}}}}
		}
		return nil
	}, ctx
}

// nextResponse makes the next response of an operation. One that is stopped fails as a
// whole.
func (l *streamServer) nextResponse(ctx context.Context, asked *document.Operation, responses graphql.ResponseHandler) *graphql.Response {
	var fault *store.Error
	if !asked.IsSubscription() { // a subscription waits for its event first
		fault = l.exec.StoppedError(l.exec.StartRun(ctx, asked))
	}
	var response *graphql.Response
	if fault == nil {
		response, fault = l.exec.RunHandler(ctx, responses)
	}
	if fault != nil {
		return &graphql.Response{Errors: executor.ErrorList(fault)}
	}
	return response
}

// dispatch has an operation run when its first response is asked for: a query by
// its plan, all else by gqlgen's executor.
func (l *streamServer) dispatch(ctx context.Context, operation *graphql.OperationContext, asked *streamOperation) (graphql.ResponseHandler, context.Context) {
	if operation.Operation.Operation == ast.Subscription {
		return l.exec.DispatchOperation(ctx, operation)
	}
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered || ctx.Err() != nil {
			return nil
		}
		answered = true
		if asked.query != nil {
			if response, ok := l.exec.StreamPlan(ctx, asked.query, operation.Headers); ok {
				return response
			}
			ctx = withBudget(ctx, opctx.NewBudget(asked.Allowance)) // anew: the plan that failed has spent of it
		}
		l.exec.CountGqlgen(ctx, operation)
		ctx, ran := store.StartStep(ctx, executor.StepRun)
		responses, ctx := l.exec.DispatchOperation(ctx, operation)
		response := responses(ctx)
		if response == nil {
			ran(context.Canceled)
			return nil
		}
		ran(executor.StepError(response.Errors))
		return response
	}, ctx
}

// acquire waits for one, but of a subscription, which waits for what happens.
func (l *streamServer) acquire(ctx context.Context, kind ast.Operation) (end func(), err error) {
	switch {
	case l.exec.Limiter == nil || kind == ast.Subscription:
		return func() {}, nil
	case kind == ast.Mutation:
		return l.exec.Limiter.AcquireWrite(ctx)
	}
	return l.exec.Limiter.AcquireRead(ctx)
}

// redactResponse is a response with no more errors than are told, and nothing in them
// that may be secret.
func (l *streamServer) redactResponse(params *graphql.RawParams, response *graphql.Response) *graphql.Response {
	response.Errors = executor.LimitErrors(response.Errors)
	l.names.redactErrors(params, response.Errors)
	return response
}

// newOperation is an operation of the same shopper that has seen nothing yet.
func newOperation(ctx context.Context, budget *opctx.Budget) context.Context {
	return opctx.With(ctx, &opctx.Operation{Shopper: opctx.Shopper(ctx), Budget: budget})
}

// withBudget gives an operation a budget. That of a request stays the one it is,
// for the key it came with; a connection's is but a shopper.
func withBudget(ctx context.Context, budget *opctx.Budget) context.Context {
	if op := opctx.From(ctx); op != nil && op.Idempotency != nil {
		op.Budget = budget
		return ctx
	}
	return newOperation(ctx, budget)
}
