package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
)

// post serves a JSON body. Unlike the library's transport it limits the body, never quotes it, and does
// not encode the data again.
func (h *handler) post(w http.ResponseWriter, r *http.Request) {
	buffer := bodyBuffers.Get().(*[]byte)
	defer bodyBuffers.Put(buffer)
	body, err := auth.ReadBody(w, r, reqctx.MaxBody(r.Context()), (*buffer)[:0])
	if cap(body) <= limits.LargeResponse {
		*buffer = body
	}
	if statusErr := new(auth.StatusError); errors.As(err, &statusErr) {
		WriteErrors(w, statusErr.Status, store.Errors{statusErr.Err})
		return
	}
	_, streams := acceptsEvents(r)
	if !streams && h.runCached(w, r, body) {
		return
	}
	if err := store.CheckJSON(body); err != nil {
		first := store.AsErrors(err)[0]
		first.Path = h.names.redactPath(first.Path, string(body))
		WriteErrors(w, http.StatusBadRequest, store.Errors{first})
		return
	}
	if err := limits.CheckJSON(body, h.documents.Limits); err != nil {
		WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
		return
	}
	exact, _ := store.ExactMembers(body, reflect.TypeFor[clientRequest]())
	var request clientRequest
	decoder := json.NewDecoder(bytes.NewReader(exact))
	decoder.UseNumber()
	if decoder.Decode(&request) != nil || !errors.Is(decoder.Decode(&struct{}{}), io.EOF) {
		(&httpError{http.StatusBadRequest, "", store.Invalid, store.NotJSON(body, "The body", `The body must be one JSON object: {"query": "…", "variables": {…}}.`)}).write(w)
		return
	}
	request.identify()
	if streams {
		h.streams.events(w, r, &request)
		return
	}
	h.execute(w, r, &request, body)
}

// bodyBuffers holds buffers for request bodies.
var bodyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// get serves a query string with the same members as a body.
func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	sent := []byte("?" + r.URL.RawQuery)
	_, streams := acceptsEvents(r)
	streams = streams && r.Method != http.MethodHead
	if !streams && h.runCached(w, r, sent) {
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		(&httpError{http.StatusBadRequest, "", store.Invalid, "The query string is not URL-encoded: % must be followed by two hexadecimal digits, and ; must be encoded."}).write(w)
		return
	}
	request := clientRequest{Query: values.Get("query"), OperationName: values.Get("operationName"), DocumentID: values.Get("documentId")}
	for member, into := range map[string]*map[string]any{"variables": &request.Variables, "extensions": &request.Extensions} {
		text := values.Get(member)
		if text == "" {
			continue
		}
		if err := store.CheckJSON([]byte(text)); err != nil {
			first := store.AsErrors(err)[0].At(member)
			first.Path = h.names.redactPath(first.Path, request.Query+text)
			WriteErrors(w, http.StatusBadRequest, store.Errors{first})
			return
		}
		if err := limits.CheckJSON([]byte(text), h.documents.Limits); err != nil {
			WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(into) != nil {
			(&httpError{http.StatusBadRequest, "", store.Invalid, store.NotJSON([]byte(text), member, member+" must be a JSON object.")}).write(w)
			return
		}
	}
	request.identify()
	if streams {
		h.streams.events(w, r, &request)
		return
	}
	h.execute(w, r, &request, sent)
}

// writeHead sets the headers of all responses. modern means that the client accepts the media type of
// the GraphQL over HTTP specification.
func writeHead(w http.ResponseWriter, r *http.Request) (modern bool) {
	modern = strings.Contains(r.Header.Get("Accept"), graphQLType)
	w.Header()["Content-Type"] = jsonTypes
	if modern {
		w.Header()["Content-Type"] = graphQLTypes
	}
	w.Header()["Vary"] = append(w.Header()["Vary"], varyHeader...)
	if opctx.Cacheable(r) {
		w.Header()["Cache-Control"] = opctx.NoStore
	}
	return modern
}

// Header values, allocated once.
var (
	jsonTypes    = []string{jsonType}
	graphQLTypes = []string{graphQLType}
	varyHeader   = []string{"Accept, Accept-Encoding, " + opctx.Vary}
	varyFound    = opctx.NewVaryVariant("Accept, Accept-Encoding")
)

// runCached runs a request whose exact bytes were sent before. It returns false, with nothing written,
// for any other request.
func (h *handler) runCached(w http.ResponseWriter, r *http.Request, sent []byte) bool {
	prepared := h.documents.Cache.Request(sent)
	if prepared == nil {
		return false
	}
	executor.NameOperation(r.Context(), prepared.Operation)
	before := w.Header()["Vary"]
	writeHead(w, r)
	if h.runPlan(w, r, prepared) {
		h.documents.CountOutcome(prepared.Outcome)
		return true
	}
	w.Header()["Vary"] = before
	return false
}

// execute runs an opCtx and writes the response. sent is the request's key in the document cache.
func (h *handler) execute(w http.ResponseWriter, r *http.Request, request *clientRequest, sent []byte) {
	params, modern := request.params(r), writeHead(w, r)
	_, endStep := store.StartStep(r.Context(), executor.StepPrepare)
	operation, q, errs := h.prepare(r.Context(), params)
	executor.NameOperation(r.Context(), operation)
	if errs == nil && operation.IsSubscription() {
		endStep(nil)
		h.stream(w, r, request)
		return
	}
	endStep(executor.StepError(errs))
	if errs == nil {
		if q != nil && h.runPlan(w, r, q) {
			h.documents.Cache.AddRequest(sent, q)
			return
		}
		if op := opctx.From(r.Context()); op != nil {
			op.Budget = opctx.NewBudget(operation.Allowance) // a plan that failed may have spent the first
		}
	}
	ctx, endStep := store.StartStep(r.Context(), executor.StepRun)
	ctx = graphql.StartOperationTrace(ctx)
	opCtx := &graphql.OperationContext{}
	if errs == nil {
		opCtx, errs = h.createContext(ctx, operation, params)
	}
	if errs != nil {
		endStep(executor.StepError(errs))
		w.WriteHeader(rejectStatus(params, errs, modern))
		response := h.exec.DispatchError(graphql.WithOperationContext(ctx, opCtx), errs)
		h.exec.RecordOperation(r.Context(), operation, response.Errors)
		executor.AddCost(operation, params, response)
		h.write(w, params, response)
		return
	}
	if r.Method != http.MethodPost && opCtx.Operation.Operation != ast.Query {
		endStep(executor.ErrResponse)
		h.exec.RecordOperation(r.Context(), operation, executor.CodeError(store.Invalid))
		mutationByGet().write(w)
		return
	}
	if h.exec.Limiter != nil && opCtx.Operation.Operation == ast.Mutation {
		if err := h.exec.Limiter.SwitchToWrite(w, r); err != nil {
			endStep(err)
			h.refuse(w, r, operation, params, store.AsErrors(err)[0])
			return
		}
	}
	if err := h.exec.StartRun(ctx, operation); err != nil {
		endStep(err)
		h.refuse(w, r, operation, params, h.exec.StoppedError(err))
		return
	}
	response, stopped := h.exec.RunHandler(ctx, func(ctx context.Context) *graphql.Response {
		h.exec.CountGqlgen(ctx, opCtx)
		responses, ctx := h.exec.DispatchOperation(ctx, opCtx)
		return responses(ctx)
	})
	if stopped != nil {
		endStep(stopped)
		h.refuse(w, r, operation, params, stopped)
		return
	}
	if response == nil { // canceled: a timeout, or the client is gone
		endStep(context.Canceled)
		h.exec.RecordOperation(r.Context(), operation, executor.CodeError(store.Unavailable))
		w.Header().Set("Retry-After", "1")
		WriteErrors(w, http.StatusServiceUnavailable, store.AsErrors(context.Canceled))
		return
	}
	endStep(executor.StepError(response.Errors))
	h.exec.RecordOperation(r.Context(), operation, response.Errors)
	executor.AddCost(operation, params, response)
	setRetryAfter(w, response)
	h.write(w, params, response)
}

// prepare returns the operation of a request, and a query with its plan; nil if gqlgen's executor runs the operation.
func (h *handler) prepare(ctx context.Context, params *graphql.RawParams) (operation *document.Operation, query *document.PreparedOperation, errs gqlerror.List) {
	if err := h.exec.Catch(ctx, func() {
		if operation, errs = h.documents.Prepare(params); errs == nil {
			query = h.exec.Prepare(operation, params)
		}
	}); err != nil {
		errs = executor.ErrorList(err)
	}
	return operation, query, errs
}

// createContext returns the context in which gqlgen's executor runs an operation.
func (h *handler) createContext(ctx context.Context, operation *document.Operation, params *graphql.RawParams) (opCtx *graphql.OperationContext, errs gqlerror.List) {
	if err := h.exec.Catch(ctx, func() {
		opCtx, errs = h.exec.CreateOperationContext(executor.WithPrepared(ctx, operation), params)
	}); err != nil {
		return &graphql.OperationContext{}, executor.ErrorList(err)
	}
	return opCtx, errs
}

// runPlan runs a query by its plan. It returns false, with nothing written, if the client is gone or
// gqlgen's executor must run the query.
func (h *handler) runPlan(w http.ResponseWriter, r *http.Request, q *document.PreparedOperation) bool {
	if op := opctx.From(r.Context()); op != nil {
		op.Budget = opctx.NewBudget(q.Allowance)
	}
	buffer := executor.GetBuffer()
	ctx, builder := h.exec.BeginCandidate(r.Context(), q)
	body, found, errs, err := h.exec.RunPlan(ctx, q, r.Header, opctx.Cacheable(r), buffer)
	defer func() { executor.PutBuffer(buffer, body) }()
	if stopped := h.exec.StoppedError(err); stopped != nil {
		h.refuse(w, r, q.Operation, &q.Params, stopped)
		return true
	}
	if err != nil {
		return false
	}
	h.exec.RecordOperation(r.Context(), q.Operation, errs)
	switch {
	case len(errs) > 0:
		response := &graphql.Response{Data: executor.ResponseData(q, body), Errors: errs, Extensions: executor.CostExtensions(q.Operation, &q.Params)}
		setRetryAfter(w, response)
		h.write(w, &q.Params, response)
	case found != nil && opctx.Storable(r):
		h.serve(w, r, q, graph.Delivery{Response: found, Vary: varyFound, Candidate: builder})
	case found != nil:
		h.serve(w, r, q, graph.Delivery{Response: found, Candidate: builder})
	case builder != nil:
		h.serve(w, r, q, graph.Delivery{Response: responsecache.NewResponse(bytes.Clone(body), nil), Candidate: builder})
	default:
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body) // an error means that the client is gone
	}
	return true
}

// serve writes the finished response to a query.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, q *document.PreparedOperation, d graph.Delivery) {
	if d.Candidate != nil {
		count, outcome := h.exec.CountRepeated(q), q.Outcome
		d.Count = func(ctx context.Context) {
			count(ctx)
			h.documents.CountOutcome(outcome)
		}
	}
	h.exec.Responses.Serve(w, r, d)
}

// refuse writes the response to an opCtx that failed as a whole.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, operation *document.Operation, params *graphql.RawParams, err *store.Error) {
	h.exec.RecordOperation(r.Context(), operation, executor.CodeError(err.Code))
	if err.Code == store.Unavailable {
		w.Header().Set("Retry-After", "1")
		WriteErrors(w, http.StatusServiceUnavailable, store.Errors{err})
		return
	}
	response := &graphql.Response{Errors: executor.ErrorList(err)}
	executor.AddCost(operation, params, response)
	modern := slices.Equal(w.Header()["Content-Type"], graphQLTypes)
	w.WriteHeader(rejectStatus(params, response.Errors, modern))
	h.write(w, params, response)
}

// stream serves a subscription to a client that accepts server-sent events.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, request *clientRequest) {
	if accepts, _ := acceptsEvents(r); !accepts || r.Method == http.MethodHead {
		streamRequired().write(w)
		return
	}
	h.streams.events(w, r, request)
}

// write writes a response.
func (h *handler) write(w io.Writer, params *graphql.RawParams, response *graphql.Response) {
	writeResponse(w, h.redactResponse(params, response))
}

// redactResponse limits the errors of a response and redacts secrets in them.
func (h *handler) redactResponse(params *graphql.RawParams, response *graphql.Response) *graphql.Response {
	response.Errors = executor.LimitErrors(response.Errors)
	h.names.redactErrors(params, response.Errors)
	return response
}
