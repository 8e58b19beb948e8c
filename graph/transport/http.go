package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"portico/graph/executor"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

// post serves a JSON body. It finds an operation that was sent by the same bytes before. Otherwise it checks the text and the number of
// values, and decodes the body. Unlike the library's transport it limits the body, never quotes it, and does not encode the data
// again.
func (h *handler) post(w http.ResponseWriter, r *http.Request, known *reqctx.Request) {
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
	if !onlyEvents(r) {
		if prepared := h.exec.Find(body); prepared != nil {
			h.execute(w, r, &executor.Request{Known: known, Prepared: prepared})
			return
		}
	}
	if err := store.CheckJSON(body); err != nil {
		first := store.AsErrors(err)[0]
		first.Path = h.exec.RedactPath(first.Path, string(body))
		WriteErrors(w, http.StatusBadRequest, store.Errors{first})
		return
	}
	if err := limits.CheckJSON(body, h.exec.Limits); err != nil {
		WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
		return
	}
	exact, _ := store.ExactMembers(body, reflect.TypeFor[clientRequest]()) // encoding/json would also take "Query"
	var request clientRequest
	decoder := json.NewDecoder(bytes.NewReader(exact))
	decoder.UseNumber()
	if decoder.Decode(&request) != nil || !errors.Is(decoder.Decode(&struct{}{}), io.EOF) {
		(&httpError{http.StatusBadRequest, "", store.Invalid, store.NotJSON(body, "The body", `The body must be one JSON object: {"query": "…", "variables": {…}}.`)}).write(w)
		return
	}
	request.identify()
	h.execute(w, r, &executor.Request{Known: known, Params: request.params(), Sent: body})
}

// bodyBuffers holds buffers for request bodies.
var bodyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// get serves a query string with the same members as a body.
func (h *handler) get(w http.ResponseWriter, r *http.Request, known *reqctx.Request) {
	sent := []byte("?" + r.URL.RawQuery)
	if !onlyEvents(r) {
		if prepared := h.exec.Find(sent); prepared != nil {
			h.execute(w, r, &executor.Request{Known: known, Prepared: prepared})
			return
		}
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		(&httpError{http.StatusBadRequest, "", store.Invalid, "The query string is not URL-encoded: % must be followed by two hexadecimal digits, and ; must be encoded."}).write(w)
		return
	}
	request := clientRequest{Query: values.Get("query"), OperationName: values.Get("operationName"), DocumentID: values.Get("documentId")}
	for _, object := range []struct {
		member string
		into   *map[string]any
	}{{"variables", &request.Variables}, {"extensions", &request.Extensions}} {
		member, text := object.member, values.Get(object.member)
		if text == "" {
			continue
		}
		if err := store.CheckJSON([]byte(text)); err != nil {
			first := store.AsErrors(err)[0].At(member)
			first.Path = h.exec.RedactPath(first.Path, request.Query+text)
			WriteErrors(w, http.StatusBadRequest, store.Errors{first})
			return
		}
		if err := limits.CheckJSON([]byte(text), h.exec.Limits); err != nil {
			WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(object.into) != nil {
			(&httpError{http.StatusBadRequest, "", store.Invalid, store.NotJSON([]byte(text), member, member+" must be a JSON object.")}).write(w)
			return
		}
	}
	request.identify()
	h.execute(w, r, &executor.Request{Known: known, Params: request.params(), Sent: sent})
}

// execute executes an operation and writes the response. A prepared operation is never a subscription.
func (h *handler) execute(w http.ResponseWriter, r *http.Request, req *executor.Request) {
	req.HTTP, req.Params.Headers = r, r.Header
	if req.Prepared == nil && onlyEvents(r) {
		req.Sent = nil
		h.streams.events(w, req)
		return
	}
	req.Writer, req.Modern = w, writeHead(w, r)
	resp := h.exec.Execute(r.Context(), req)
	defer resp.Release()
	switch {
	case resp.NeedsStream != nil:
		if accepts, _ := acceptsEvents(r); !accepts || r.Method == http.MethodHead {
			streamRequired().write(w)
			return
		}
		h.streams.events(w, resp.NeedsStream)
	case resp.Delivery.Response != nil:
		h.exec.Responses.Serve(w, r, resp.Delivery)
	case resp.Result == nil:
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(resp.Body))}
		_, _ = w.Write(resp.Body) // an error means that the client is gone
	default:
		writeResult(w, &resp)
	}
}

// writeResult writes a response with a result.
func writeResult(w http.ResponseWriter, resp *executor.Response) {
	header := w.Header()
	if resp.RetryAfter && header.Get("Retry-After") == "" {
		header.Set("Retry-After", "1")
	}
	if resp.Allow != "" {
		header.Set("Allow", resp.Allow)
	}
	if resp.Plain {
		header["Content-Type"] = jsonTypes
	}
	if resp.Status != 0 {
		w.WriteHeader(resp.Status)
	}
	writeResponse(w, resp.Result)
}

// writeHead sets the headers of all responses: those of an error, which opctx.CachePolicy.SetCaching changes for a response that may be
// stored. modern means that the client accepts the media type of the GraphQL over HTTP specification.
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
)
