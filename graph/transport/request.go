package transport

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/limits"
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

// requestMembers are the members of a request, and the first byte of their values. Other members are ignored.
var requestMembers = map[string]byte{"query": '"', "operationName": '"', "documentId": '"', "variables": '{', "extensions": '{'}

// newRequest returns the request with the members that a client sent. It copies the document, the names and the extensions, each
// within its limit, and refers to the text for the variables. wrong is a member that has another JSON type; empty if none has.
func newRequest(sent members, config limits.Config) (req *executor.Request, wrong string) {
	for _, name := range slices.Sorted(maps.Keys(requestMembers)) {
		if value := sent.value(name); value != nil && value[0] != requestMembers[name] {
			return nil, name
		}
	}
	query, name, id := sent.value("query"), sent.value("operationName"), sent.value("documentId")
	req = &executor.Request{Variables: sent.below("variables"), Refused: limits.CheckTexts(query, name, id, config)}
	if req.Refused != nil {
		return req, ""
	}
	req.Params = graphql.RawParams{Query: store.TextOf(query), OperationName: store.TextOf(name), Extensions: map[string]any{}}
	for name, value := range sent.below("extensions") {
		if len(value) > limits.MaxReference {
			value = json.RawMessage(`"…"`) // no extension that the server reads is as long
		}
		req.Params.Extensions[name], _ = store.DecodeNumbers(value)
	}
	if reference := store.TextOf(id); reference != "" {
		req.Params.Extensions[document.PersistedQueryExtension] = document.PersistedQuery(reference)
	}
	return req, ""
}
