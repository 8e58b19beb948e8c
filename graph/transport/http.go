package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
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

	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

const (
	jsonType    = "application/json"
	graphQLType = "application/graphql-response+json"
)

// allowedMethods are the methods of the endpoint.
const allowedMethods = "GET, HEAD, POST, OPTIONS"

// httpError is a request that never came to be an operation.
type httpError struct {
	status  int
	allow   string
	code    store.Code
	message string
}

func (f *httpError) write(w http.ResponseWriter) {
	if f.allow != "" {
		w.Header().Set("Allow", f.allow)
	}
	WriteErrors(w, f.status, store.Errors{{Code: f.code, Detail: f.message}})
}

// WriteErrors answers a request that never came to be an operation, with what
// is wrong with it.
func WriteErrors(w http.ResponseWriter, status int, list store.Errors) {
	response := &graphql.Response{}
	for _, e := range list {
		response.Errors = append(response.Errors, &gqlerror.Error{Message: e.Error(), Extensions: map[string]any{"code": e.Code}})
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	writeResponse(w, response)
}

// checkRequest turns away what no transport takes: other methods, and bodies that a
// page of another site could send without being asked (forms, plain text).
func checkRequest(r *http.Request) *httpError {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return nil
	case http.MethodPost:
		sent := r.Header.Get("Content-Type")
		if sent == jsonType {
			return nil
		}
		kind, _, err := mime.ParseMediaType(sent)
		if err != nil || kind != jsonType {
			return &httpError{http.StatusUnsupportedMediaType, "", store.Invalid, "Send the operation as JSON, with the header Content-Type: application/json."}
		}
		return nil
	}
	return &httpError{http.StatusMethodNotAllowed, allowedMethods, store.Invalid, "Send the operation by POST, or a query by GET."}
}

// post takes {"query", "operationName", "variables", "extensions",
// "documentId"}. Unlike the library's
// transport it bounds the body, never echoes it, and does not encode the
// finished data again.
func (d *Server) post(w http.ResponseWriter, r *http.Request) {
	buffer := bodyBuffers.Get().(*[]byte)
	defer bodyBuffers.Put(buffer)
	body, err := auth.ReadBody(w, r, reqctx.MaxBody(r.Context()), (*buffer)[:0])
	if cap(body) <= limits.LargeResponse {
		*buffer = body
	}
	if refused := new(auth.StatusError); errors.As(err, &refused) {
		WriteErrors(w, refused.Status, store.Errors{refused.Err})
		return
	}
	_, streams := acceptsEvents(r)
	if !streams && d.runCached(w, r, body) {
		return
	}
	if err := store.CheckJSON(body); err != nil {
		fault := store.AsErrors(err)[0]
		fault.Path = d.names.redactPath(fault.Path, string(body))
		WriteErrors(w, http.StatusBadRequest, store.Errors{fault})
		return
	}
	if err := limits.CheckJSON(body, d.documents.Bounds); err != nil {
		WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
		return
	}
	exact, _ := store.ExactMembers(body, reflect.TypeFor[clientRequest]())
	var request clientRequest
	decoder := json.NewDecoder(bytes.NewReader(exact))
	decoder.UseNumber()
	if decoder.Decode(&request) != nil || !errors.Is(decoder.Decode(&struct{}{}), io.EOF) {
		(&httpError{http.StatusBadRequest, "", store.Invalid, `The body must be one JSON object: {"query": "…", "variables": {…}}.`}).write(w)
		return
	}
	request.identify()
	if streams {
		d.live.events(w, r, &request)
		return
	}
	d.execute(w, r, &request, body)
}

// bodyBuffers are for requests while they are read.
var bodyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// clientRequest is an operation as it is sent. What else a body holds is passed over.
type clientRequest struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
	Extensions    map[string]any `json:"extensions"`
	DocumentID    string         `json:"documentId"`
}

// identify names the document by the extension, which every transport hands on,
// where its id was sent as a member of the request.
func (q *clientRequest) identify() {
	if q.DocumentID == "" {
		return
	}
	if q.Extensions == nil {
		q.Extensions = map[string]any{}
	}
	q.Extensions[document.PersistedQueryExtension], q.DocumentID = document.PersistedQuery(q.DocumentID), ""
}

// params are the operation in the executor's words.
func (q *clientRequest) params(r *http.Request) *graphql.RawParams {
	return &graphql.RawParams{Query: q.Query, OperationName: q.OperationName, Variables: q.Variables, Extensions: q.Extensions, Headers: r.Header}
}

// get takes a query as parameters: query, operationName, variables,
// extensions, documentId.
func (d *Server) get(w http.ResponseWriter, r *http.Request) {
	sent := []byte("?" + r.URL.RawQuery)
	_, streams := acceptsEvents(r)
	streams = streams && r.Method != http.MethodHead // which is answered, and at once
	if !streams && d.runCached(w, r, sent) {
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		(&httpError{http.StatusBadRequest, "", store.Invalid, "The query string is not URL-encoded: a % must be followed by two hexadecimal digits, and a ; be encoded."}).write(w)
		return
	}
	request := clientRequest{Query: values.Get("query"), OperationName: values.Get("operationName"), DocumentID: values.Get("documentId")}
	for member, into := range map[string]*map[string]any{"variables": &request.Variables, "extensions": &request.Extensions} {
		text := values.Get(member)
		if text == "" {
			continue
		}
		if err := store.CheckJSON([]byte(text)); err != nil {
			fault := store.AsErrors(err)[0].At(member)
			fault.Path = d.names.redactPath(fault.Path, request.Query+text)
			WriteErrors(w, http.StatusBadRequest, store.Errors{fault})
			return
		}
		if err := limits.CheckJSON([]byte(text), d.documents.Bounds); err != nil {
			WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(into) != nil {
			(&httpError{http.StatusBadRequest, "", store.Invalid, member + " must be a JSON object."}).write(w)
			return
		}
	}
	request.identify()
	if streams {
		d.live.events(w, r, &request)
		return
	}
	d.execute(w, r, &request, sent)
}

// Server is where both transports hand in their operations.
type Server struct {
	exec      *executor.Executor
	names     schemaNames
	documents *document.Processor
	live      *streamServer // what lasts
}

// writeHead writes what is told of every answer before it.
func writeHead(w http.ResponseWriter, r *http.Request) (modern bool) {
	modern = strings.Contains(r.Header.Get("Accept"), graphQLType)
	w.Header()["Content-Type"] = jsonTypes
	if modern {
		w.Header()["Content-Type"] = graphQLTypes
	}
	w.Header()["Vary"] = append(w.Header()["Vary"], varyAnswers...)
	if opctx.Cacheable(r) {
		w.Header()["Cache-Control"] = opctx.NoStore // unless it turns out that they may
	}
	return modern
}

// Header lines of answers, made once.
var (
	jsonTypes    = []string{jsonType}
	graphQLTypes = []string{graphQLType}
	varyAnswers  = []string{"Accept, Accept-Encoding, " + opctx.Vary}
)

// runCached runs a request that was sent before, byte by byte; false for one that
// is to be read.
func (d *Server) runCached(w http.ResponseWriter, r *http.Request, sent []byte) bool {
	known := d.documents.Cache.Request(sent)
	if known == nil {
		return false
	}
	executor.NameOperation(r.Context(), known.Operation)
	before := w.Header()["Vary"]
	writeHead(w, r)
	if d.runPlan(w, r, known) {
		d.documents.CountOutcome(known.Outcome)
		return true
	}
	w.Header()["Vary"] = before
	return false
}

// execute runs an operation and writes its answer. sent is the request, to
// know it by when it comes again.
func (d *Server) execute(w http.ResponseWriter, r *http.Request, request *clientRequest, sent []byte) {
	params, modern := request.params(r), writeHead(w, r)
	_, prepared := store.StartStep(r.Context(), executor.StepPrepare)
	asked, faults := d.documents.Prepare(params)
	executor.NameOperation(r.Context(), asked)
	if faults == nil && asked.IsSubscription() {
		prepared(nil)
		d.stream(w, r, request)
		return
	}
	var q *document.PreparedOperation
	if faults == nil {
		q = d.exec.Prepare(asked, params)
	}
	prepared(executor.StepError(faults))
	if faults == nil {
		if q != nil && d.runPlan(w, r, q) {
			d.documents.Cache.AddRequest(sent, q)
			return
		}
		if op := opctx.From(r.Context()); op != nil {
			op.Budget = opctx.NewBudget(asked.Allowance) // anew: a plan that failed has spent of it
		}
	}
	ctx, ran := store.StartStep(r.Context(), executor.StepRun)
	ctx = graphql.StartOperationTrace(ctx)
	operation := &graphql.OperationContext{}
	if faults == nil {
		operation, faults = d.exec.CreateOperationContext(executor.WithPrepared(ctx, asked), params)
	}
	if faults != nil {
		ran(executor.StepError(faults))
		w.WriteHeader(rejectStatus(params, faults, modern))
		response := d.exec.DispatchError(graphql.WithOperationContext(ctx, operation), faults)
		d.exec.RecordOperation(r.Context(), asked, response.Errors)
		executor.AddCost(asked, params, response)
		d.write(w, params, response)
		return
	}
	if r.Method != http.MethodPost && operation.Operation.Operation != ast.Query {
		ran(executor.ErrResponse)
		d.exec.RecordOperation(r.Context(), asked, executor.CodeError(store.Invalid))
		mutationByGet().write(w)
		return
	}
	if d.exec.Limiter != nil && operation.Operation.Operation == ast.Mutation {
		if err := d.exec.Limiter.SwitchToWrite(w, r); err != nil {
			ran(err)
			d.refuse(w, r, asked, params, store.AsErrors(err)[0])
			return
		}
	}
	d.exec.CountGqlgen(ctx, operation)
	if err := d.exec.StartRun(ctx, asked); err != nil {
		ran(err)
		d.refuse(w, r, asked, params, d.exec.StoppedError(err))
		return
	}
	responses, ctx := d.exec.DispatchOperation(ctx, operation)
	response, fault := d.exec.RunHandler(ctx, responses)
	if fault != nil {
		ran(fault)
		d.refuse(w, r, asked, params, fault)
		return
	}
	if response == nil { // the work was ended: it took too long, or the caller went away
		ran(context.Canceled)
		d.exec.RecordOperation(r.Context(), asked, executor.CodeError(store.Unavailable))
		w.Header().Set("Retry-After", "1")
		WriteErrors(w, http.StatusServiceUnavailable, store.AsErrors(context.Canceled))
		return
	}
	ran(executor.StepError(response.Errors))
	d.exec.RecordOperation(r.Context(), asked, response.Errors)
	executor.AddCost(asked, params, response)
	setRetryAfter(w, response)
	d.write(w, params, response)
}

// run answers a query by its plan. False, without anything written, for a
// client that has gone, and for what gqlgen's executor has to answer.
func (d *Server) runPlan(w http.ResponseWriter, r *http.Request, q *document.PreparedOperation) bool {
	if op := opctx.From(r.Context()); op != nil {
		op.Budget = opctx.NewBudget(q.Allowance)
	}
	buffer := executor.GetBuffer()
	body, found, faults, err := d.exec.RunPlan(r.Context(), q, r.Header, opctx.Cacheable(r), buffer)
	defer func() { executor.PutBuffer(buffer, body) }()
	if fault := d.exec.StoppedError(err); fault != nil {
		d.refuse(w, r, q.Operation, &q.Params, fault)
		return true
	}
	if err != nil {
		return false
	}
	d.exec.RecordOperation(r.Context(), q.Operation, faults)
	switch {
	case len(faults) > 0:
		response := &graphql.Response{Data: executor.ResponseData(q, body), Errors: faults, Extensions: executor.CostExtensions(q.Operation, &q.Params)}
		setRetryAfter(w, response)
		d.write(w, &q.Params, response)
	case found != nil && opctx.Cacheable(r):
		w.Header()["Cache-Control"] = opctx.CacheControl(r)
		found.ServeHTTP(w, r)
	case found != nil:
		found.ServeWithoutETag(w, r)
	default:
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body) // a caller that went away reads nothing
	}
	return true
}

// refuse answers an operation that fails as a whole, without data.
func (d *Server) refuse(w http.ResponseWriter, r *http.Request, asked *document.Operation, params *graphql.RawParams, fault *store.Error) {
	d.exec.RecordOperation(r.Context(), asked, executor.CodeError(fault.Code))
	if fault.Code == store.Unavailable {
		w.Header().Set("Retry-After", "1")
		WriteErrors(w, http.StatusServiceUnavailable, store.Errors{fault})
		return
	}
	response := &graphql.Response{Errors: executor.ErrorList(fault)}
	executor.AddCost(asked, params, response)
	modern := slices.Equal(w.Header()["Content-Type"], graphQLTypes)
	w.WriteHeader(rejectStatus(params, response.Errors, modern))
	d.write(w, params, response)
}

// stream answers a subscription to who takes a stream.
func (d *Server) stream(w http.ResponseWriter, r *http.Request, request *clientRequest) {
	if may, _ := acceptsEvents(r); !may || r.Method == http.MethodHead {
		streamRequired().write(w)
		return
	}
	d.live.events(w, r, request)
}

// write writes an answer, with no more errors than are told, and nothing in
// them that may be secret.
func (d *Server) write(w io.Writer, params *graphql.RawParams, response *graphql.Response) {
	response.Errors = executor.LimitErrors(response.Errors)
	d.names.redactErrors(params, response.Errors)
	writeResponse(w, response)
}
