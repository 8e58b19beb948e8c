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

// Live is what streams are given. Two transports bring them: server-sent events
// and WebSockets.
type Live struct {
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

// DefaultLive is what streams are given unless something else is said.
func DefaultLive() Live {
	return Live{Connection: 50, Client: 5000, Message: 1 << 20, Within: 30 * time.Second, Begin: 10 * time.Second, Ping: 15 * time.Second}
}

// WithLive gives streams this, in place of DefaultLive.
func WithLive(live Live) HandlerOption { return func(h *config) { h.live = live } }

// lookEvery is how often connections are looked at: whether their tokens are
// still good, and whether the server shuts down.
const lookEvery = 500 * time.Millisecond

// live runs what comes over streams. It implements graphql.GraphExecutor, by
// plans and gqlgen's executor as for POST: documents are measured as everywhere,
// and each event is an operation of its own, so that it sees the view of its
// moment.
type live struct {
	Live
	*desk
	resolver *graph.Resolver

	mu      sync.Mutex
	lines   map[*line]struct{}
	clients map[share]int // subscriptions
	looking bool
}

// share is whose subscriptions are counted together: a client's or, where nobody
// showed its secret, those of the client from one address as well.
type share struct{ client, address string }

// line is a connection that stays open.
type line struct {
	live  *live
	ctx   context.Context
	end   context.CancelCauseFunc
	reads bool // it came by GET, and writes nothing

	// Under live's mu.
	share share
	held  *auth.TokenWatch // nil without a good token
	open  int              // subscriptions
}

type lineKey struct{}

// ending is why the server ends a connection, by its close code.
type ending struct {
	code   int
	reason string
	fault  error // what its streams are told; nil for nothing, so that their clients come again
}

func (e *ending) Error() string { return e.reason }

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

// why is why a context was ended by the server; nil unless it was.
func why(ctx context.Context) *ending {
	var reason *ending
	errors.As(context.Cause(ctx), &reason)
	return reason
}

// begin has a connection be looked after. It must be closed.
func (l *live) begin(ctx context.Context) *line {
	made := &line{live: l}
	made.ctx, made.end = context.WithCancelCause(ctx)
	made.ctx = context.WithValue(made.ctx, lineKey{}, made)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines[made] = struct{}{}
	if !l.looking {
		l.looking = true
		time.AfterFunc(lookEvery, l.look)
	}
	return made
}

// hold has a connection last no longer than its token.
func (l *line) hold(ctx context.Context, held *auth.TokenWatch) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.held = held
	principal, known := auth.PrincipalFrom(ctx), reqctx.From(ctx)
	if principal != nil {
		l.share.client = principal.ClientID
	}
	if principal.QuotaClientID() == "" && known != nil {
		l.share.address = reqctx.Network(known.Address)
	}
}

func (l *line) close() {
	l.end(nil)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	delete(l.live.lines, l)
}

// look looks at all connections, and comes back while there are any.
func (l *live) look() {
	l.mu.Lock()
	lines, tokens := make([]*line, 0, len(l.lines)), make([]*auth.TokenWatch, 0, len(l.lines))
	for line := range l.lines {
		lines, tokens = append(lines, line), append(tokens, line.held)
	}
	if l.looking = len(lines) > 0; l.looking {
		defer time.AfterFunc(lookEvery, l.look)
	}
	l.mu.Unlock()
	for i, line := range lines {
		if l.drains(line.ctx) {
			line.end(&ending{closeGoingAway, "The server shuts down; connect again.", nil})
		} else if token := tokens[i]; token != nil {
			if err := token.Check(line.ctx); err != nil && line.ctx.Err() == nil {
				line.end(endingOf(err, token.Expired()))
			}
		}
	}
}

func (l *live) drains(ctx context.Context) bool {
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

// endingOf is what a token that is no good ends a connection with.
func endingOf(err error, renewable bool) *ending {
	fault := store.AsErrors(err)[0]
	switch {
	case fault.Code != store.Unauthenticated:
		return &ending{closeTryLater, model.Message(fault), fault}
	case renewable:
		return &ending{closeForbidden, model.Message(fault), fault}
	}
	return &ending{closeUnauthorized, model.Message(fault), fault}
}

// begun is an operation that was read, with what it may cost and what was sent.
type begun struct {
	*document.Operation
	params graphql.RawParams
	query  *document.PreparedOperation // nil for what gqlgen's executor runs
}

const begunKey = "begun"

// CreateOperationContext implements graphql.GraphExecutor. Faults come as they
// are to be shown.
func (l *live) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
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
	if line, _ := ctx.Value(lineKey{}).(*line); faults == nil {
		if line.reads && operation.Operation.Operation == ast.Mutation {
			by := mustPost()
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
		operation.Stats.SetExtension(begunKey, &begun{asked, sent, nil})
		return operation, l.shown(&sent, response).Errors
	}
	operation.Stats.SetExtension(begunKey, &begun{asked, sent, query})
	return operation, nil
}

// DispatchError implements graphql.GraphExecutor, for faults that are as they
// are to be shown. What a refused operation would cost is told beside them; an
// error over a WebSocket has no place for it.
func (l *live) DispatchError(ctx context.Context, faults gqlerror.List) *graphql.Response {
	response := &graphql.Response{Errors: faults}
	if graphql.HasOperationContext(ctx) {
		if asked, is := graphql.GetOperationContext(ctx).Stats.GetExtension(begunKey).(*begun); is {
			executor.AddCost(asked.Operation, &asked.params, response)
		}
	}
	return response
}

// reserve counts an operation of a connection in, or refuses it.
func (l *live) reserve(line *line) *gqlerror.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	refuse := func(of string, most int, flag string) *gqlerror.Error {
		return &gqlerror.Error{Message: fmt.Sprintf("This %s has %d subscriptions, which is as many as one may have; end some first (%s).", of, most, flag),
			Extensions: map[string]any{"code": store.RateLimited}}
	}
	whole := share{client: line.share.client}
	switch {
	case l.Connection > 0 && line.open >= l.Connection:
		return refuse("connection", l.Connection, "--subscriptions-connection")
	case line.share != whole && l.Address > 0 && l.clients[line.share] >= l.Address:
		return refuse("address", l.Address, "--subscriptions-address")
	case line.share != whole && l.clients[line.share] < fewStreams: // however many others have
	case l.Client > 0 && l.clients[whole] >= l.Client:
		return refuse("client", l.Client, "--subscriptions-client")
	}
	line.open++
	l.count(line.share, 1)
	return nil
}

// fewStreams is how many subscriptions an address may always have: those of a
// shopper or two, whom a few other addresses cannot shut out.
const fewStreams = 10

// count counts subscriptions of a share in or out.
func (l *live) count(of share, change int) {
	for _, each := range []share{of, {client: of.client}} {
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
func (l *live) release(line *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line.open--
	l.count(line.share, -1)
}

// DispatchOperation implements graphql.GraphExecutor.
func (l *live) DispatchOperation(ctx context.Context, operation *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	asked, line := operation.Stats.GetExtension(begunKey).(*begun), ctx.Value(lineKey{}).(*line)
	lasts := l.exec.StartOperation(ctx, asked.Operation)
	context.AfterFunc(ctx, func() { l.release(line); lasts.End() }) // the transports end it with the operation
	streams := operation.Operation.Operation == ast.Subscription
	anew := func(ctx context.Context) context.Context { return withBudget(ctx, opctx.NewBudget(asked.Allowance)) }
	if streams {
		field := graphql.CollectFields(operation, operation.Operation.SelectionSet, []string{"Subscription"})[0]
		l.exec.CountFields(ctx, []string{"Subscription." + field.Name})
		anew = func(ctx context.Context) context.Context { // with the field, which the library leaves out of paths within events
			return graphql.WithFieldContext(anewOperation(ctx, opctx.NewBudget(asked.Allowance)), &graphql.FieldContext{Object: "Subscription", Field: field})
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
		end, err := l.turn(ctx, operation.Operation.Operation)
		if err != nil {
			refused = true
			faults := executor.ErrorList(store.AsErrors(err)[0])
			lasts.AddErrors(faults)
			return &graphql.Response{Errors: faults}
		}
		defer end()
		event = store.WithLockWaitListener(anew(within), store.LockWaitFunc(end))
		response := l.respond(event, asked.Operation, responses)
		if response != nil {
			lasts.AddErrors(response.Errors)
			if first {
				executor.AddCost(asked.Operation, &asked.params, response)
			}
			first = false
			return l.shown(&asked.params, response)
		}
		executor.ReleaseExpensive(event)
		if reason := why(ctx); reason != nil && reason.fault != nil && !told {
			told = true
			fault := store.AsErrors(reason.fault)[0]
			return &graphql.Response{Errors: gqlerror.List{{Message: model.Message(fault), Extensions: map[string]any{"code": fault.Code}}}}
		}
		return nil
	}, ctx
}

// respond makes the next response of an operation. One that is stopped fails as a
// whole.
func (l *live) respond(ctx context.Context, asked *document.Operation, responses graphql.ResponseHandler) *graphql.Response {
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
func (l *live) dispatch(ctx context.Context, operation *graphql.OperationContext, asked *begun) (graphql.ResponseHandler, context.Context) {
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

// turn waits for one, but of a subscription, which waits for what happens.
func (l *live) turn(ctx context.Context, kind ast.Operation) (end func(), err error) {
	switch {
	case l.exec.Limiter == nil || kind == ast.Subscription:
		return func() {}, nil
	case kind == ast.Mutation:
		return l.exec.Limiter.AcquireWrite(ctx)
	}
	return l.exec.Limiter.AcquireRead(ctx)
}

// shown is a response with no more errors than are told, and nothing in them
// that may be secret.
func (l *live) shown(params *graphql.RawParams, response *graphql.Response) *graphql.Response {
	response.Errors = executor.LimitErrors(response.Errors)
	l.names.discreet(params, response.Errors)
	return response
}

// anewOperation is an operation of the same shopper that has seen nothing yet.
func anewOperation(ctx context.Context, budget *opctx.Budget) context.Context {
	return opctx.With(ctx, &opctx.Operation{Shopper: opctx.Shopper(ctx), Budget: budget})
}

// withBudget gives an operation a budget. That of a request stays the one it is,
// for the key it came with; a connection's is but a shopper.
func withBudget(ctx context.Context, budget *opctx.Budget) context.Context {
	if op := opctx.From(ctx); op != nil && op.Idempotency != nil {
		op.Budget = budget
		return ctx
	}
	return anewOperation(ctx, budget)
}
