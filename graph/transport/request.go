package transport

import (
	"mime"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/document"
	"portico/internal/web/problem"
	"portico/store"
)

const (
	jsonType       = "application/json"
	graphQLType    = "application/graphql-response+json"
	eventsType     = "text/event-stream"
	socketProtocol = "graphql-transport-ws"
	allowedMethods = "GET, HEAD, POST, OPTIONS"
)

// httpError is the error of a request that has no operation to run.
type httpError struct {
	status  int
	allow   string // the header Allow; empty for none
	code    store.Code
	message string
}

// write writes the error as the response.
func (e *httpError) write(w http.ResponseWriter) {
	if e.allow != "" {
		w.Header().Set("Allow", e.allow)
	}
	WriteErrors(w, e.status, store.Errors{{Code: e.code, Detail: e.message}})
}

// WriteErrors writes the response to a request that has no operation to run.
func WriteErrors(w http.ResponseWriter, status int, list store.Errors) {
	problem.WriteGraphQL(w, status, list)
}

// checkRequest rejects other methods, and content types that a page of another origin can send without
// a CORS preflight (forms, plain text).
func checkRequest(r *http.Request) *httpError {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return nil
	case http.MethodPost:
		contentType := r.Header.Get("Content-Type")
		if contentType == jsonType {
			return nil
		}
		mediaType, _, err := mime.ParseMediaType(contentType)
		if err != nil || mediaType != jsonType {
			return &httpError{http.StatusUnsupportedMediaType, "", store.Invalid, "Send the operation as JSON, with the header Content-Type: application/json."}
		}
		return nil
	}
	return &httpError{http.StatusMethodNotAllowed, allowedMethods, store.Invalid, "Send the operation by POST, or a query by GET."}
}

// acceptsEvents reports whether a client accepts server-sent events, and whether it accepts nothing
// else: some clients send the same Accept header with all operations.
func acceptsEvents(r *http.Request) (accepts, only bool) {
	accept := strings.Join(r.Header["Accept"], ",")
	accepts = strings.Contains(accept, eventsType)
	return accepts, accepts && !strings.Contains(accept, "json") && !strings.Contains(accept, "*/*")
}

// onlyEvents reports whether a request must be answered by server-sent events.
func onlyEvents(r *http.Request) bool {
	_, only := acceptsEvents(r)
	return only && r.Method != http.MethodHead
}

// streamRequired is the error of a subscription whose client does not accept a stream.
func streamRequired() *httpError {
	return &httpError{http.StatusNotAcceptable, "", store.Invalid,
		"A subscription needs a stream. Send the header Accept: text/event-stream, or use a WebSocket (" + socketProtocol + ")."}
}

// clientRequest is a request as clients send it. Other members are ignored.
type clientRequest struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
	Extensions    map[string]any `json:"extensions"`
	DocumentID    string         `json:"documentId"`
}

// identify moves a document id into the extensions, which every transport passes on.
func (q *clientRequest) identify() {
	if q.DocumentID == "" {
		return
	}
	if q.Extensions == nil {
		q.Extensions = map[string]any{}
	}
	q.Extensions[document.PersistedQueryExtension], q.DocumentID = document.PersistedQuery(q.DocumentID), ""
}

// params returns the request as gqlgen has it.
func (q *clientRequest) params() graphql.RawParams {
	return graphql.RawParams{Query: q.Query, OperationName: q.OperationName, Variables: q.Variables, Extensions: q.Extensions}
}
