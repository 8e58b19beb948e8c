package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// maxBody bounds a GraphQL request, in bytes.
const maxBody = 4 << 20

const (
	jsonType    = "application/json"
	graphQLType = "application/graphql-response+json"
)

// fault is a request that never came to be an operation.
type fault struct {
	status  int
	allow   string
	code    store.Code
	message string
}

func (f *fault) write(w http.ResponseWriter) {
	if f.allow != "" {
		w.Header().Set("Allow", f.allow)
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(f.status)
	writeResponse(w, &graphql.Response{Errors: gqlerror.List{{Message: f.message, Extensions: map[string]any{"code": f.code}}}})
}

// refuse turns away what no transport takes: other methods, and bodies that a
// page of another site could send without being asked (forms, plain text).
func refuse(r *http.Request) *fault {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return nil
	case http.MethodPost:
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || kind != jsonType {
			return &fault{http.StatusUnsupportedMediaType, "", store.Invalid, "Send the operation as JSON, with the header Content-Type: application/json."}
		}
		return nil
	}
	return &fault{http.StatusMethodNotAllowed, "GET, POST", store.Invalid, "Send the operation by POST, or a query by GET."}
}

// postTransport takes {"query", "operationName", "variables"}. Unlike the
// stock one it bounds the body, never echoes it, and does not encode the
// finished data again.
type postTransport struct{ names schemaNames }

func (postTransport) Supports(r *http.Request) bool { return r.Method == http.MethodPost }

func (t postTransport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	params := &graphql.RawParams{Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		(&fault{http.StatusRequestEntityTooLarge, "", store.Invalid, "The request is over 4 MiB; send less at a time."}).write(w)
		return
	case err != nil:
		(&fault{http.StatusBadRequest, "", store.Invalid, "The request broke off; send it again."}).write(w)
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(params) != nil || !errors.Is(decoder.Decode(&struct{}{}), io.EOF) {
		(&fault{http.StatusBadRequest, "", store.Invalid, `The body must be one JSON object: {"query": "…", "variables": {…}}.`}).write(w)
		return
	}
	execute(w, r, exec, params, t.names)
}

// getTransport takes a query as parameters: query, operationName, variables.
type getTransport struct{ names schemaNames }

func (getTransport) Supports(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func (t getTransport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	values := r.URL.Query()
	params := &graphql.RawParams{Query: values.Get("query"), OperationName: values.Get("operationName"), Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	for member, into := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
		text := values.Get(member)
		if text == "" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(into) != nil {
			(&fault{http.StatusBadRequest, "", store.Invalid, member + " must be a JSON object."}).write(w)
			return
		}
	}
	execute(w, r, exec, params, t.names)
}

// execute runs an operation and writes its answer.
func execute(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams, names schemaNames) {
	params.ReadTime.End = graphql.Now()
	modern := strings.Contains(r.Header.Get("Accept"), graphQLType)
	w.Header().Set("Content-Type", jsonType)
	if modern {
		w.Header().Set("Content-Type", graphQLType)
	}
	w.Header().Add("Vary", "Accept, "+Vary)
	operation, faults := exec.CreateOperationContext(r.Context(), params)
	if faults != nil {
		if modern { // the older media type answers 200 to whatever is well-formed JSON
			w.WriteHeader(http.StatusBadRequest)
		}
		response := exec.DispatchError(graphql.WithOperationContext(r.Context(), operation), faults)
		names.discreet(params, response.Errors)
		writeResponse(w, response)
		return
	}
	if r.Method != http.MethodPost && operation.Operation.Operation != ast.Query {
		(&fault{http.StatusMethodNotAllowed, "POST", store.Invalid, "A mutation must be sent by POST; GET only reads."}).write(w)
		return
	}
	responses, ctx := exec.DispatchOperation(r.Context(), operation)
	if response := responses(ctx); response != nil { // nil when the caller went away
		if refusedByLimit(response) {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		names.discreet(params, response.Errors)
		writeResponse(w, response)
	}
}

// refusedByLimit tells whether an answer holds nothing but that the caller
// asked too much: proxies and clients heed the status then. How long to wait
// is in Retry-After.
func refusedByLimit(response *graphql.Response) bool {
	return len(response.Errors) > 0 &&
		!slices.ContainsFunc(response.Errors, func(e *gqlerror.Error) bool { return e.Extensions["code"] != store.RateLimited }) &&
		isEmpty(response.Data)
}

// isEmpty tells whether data is null, or all of its members are.
func isEmpty(data json.RawMessage) bool {
	var fields map[string]any
	if len(data) > 0 && json.Unmarshal(data, &fields) != nil {
		return false
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(fields)), func(value any) bool { return value != nil })
}

// writeResponse writes the data as it is: it is JSON already.
func writeResponse(w io.Writer, response *graphql.Response) {
	var b bytes.Buffer
	b.Grow(len(response.Data) + 256)
	b.WriteByte('{')
	if len(response.Errors) > 0 {
		b.WriteString(`"errors":`)
		encodeInto(&b, response.Errors)
		b.WriteByte(',')
	}
	b.WriteString(`"data":`)
	if len(response.Data) == 0 {
		b.WriteString("null")
	} else {
		b.Write(response.Data)
	}
	if len(response.Extensions) > 0 {
		b.WriteString(`,"extensions":`)
		encodeInto(&b, response.Extensions)
	}
	b.WriteString("}\n")
	_, _ = w.Write(b.Bytes()) // a caller that went away reads nothing
}

func encodeInto(b *bytes.Buffer, value any) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		b.WriteString("null")
	}
}
