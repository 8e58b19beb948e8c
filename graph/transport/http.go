package transport

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"portico/graph/executor"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

// post serves a JSON body. It finds an operation that was sent by the same bytes before. Otherwise it checks the number of values,
// and reads the members in one pass. Unlike the library's transport it limits the body, never quotes it, and does not encode the
// data again.
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
	if err := limits.CheckJSON(body, h.exec.Limits); err != nil {
		WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
		return
	}
	sent, err := readMembers(body, h.exec.Limits, "variables", "extensions")
	request, wrong := newRequest(sent, h.exec.Limits)
	if err == nil && wrong != "" {
		err = errNotObject
	}
	if err != nil {
		writeUnread(w, body, "The body", `The body must be one JSON object: {"query": "…", "variables": {…}}.`, nil, err)
		return
	}
	request.Known, request.Sent = known, body
	h.execute(w, r, request)
}

// writeUnread writes why readMembers failed to read a text. what names the text in errors of its syntax, path in those of its
// encoding, which name members of a request only: other names are the client's text. rule is the error for JSON of another form.
func writeUnread(w http.ResponseWriter, text []byte, what, rule string, path []string, err error) {
	if tooMany := new(store.Error); errors.As(err, &tooMany) {
		WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{tooMany})
		return
	}
	if encoding := store.EncodingError(err); encoding != nil {
		if len(path) == 0 && len(encoding.Path) > 0 && requestMembers[encoding.Path[0]] != 0 {
			path = encoding.Path[:1]
		}
		encoding.Path = path
		WriteErrors(w, http.StatusBadRequest, store.Errors{encoding})
		return
	}
	(&httpError{http.StatusBadRequest, "", store.Invalid, store.NotJSON(text, what, rule)}).write(w)
}

// bodyBuffers holds buffers for request bodies.
var bodyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// get serves a query string with the same members as a body.
func (h *handler) get(w http.ResponseWriter, r *http.Request, known *reqctx.Request) {
	key := []byte("?" + r.URL.RawQuery)
	if !onlyEvents(r) {
		if prepared := h.exec.Find(key); prepared != nil {
			h.execute(w, r, &executor.Request{Known: known, Prepared: prepared})
			return
		}
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		(&httpError{http.StatusBadRequest, "", store.Invalid, "The query string is not URL-encoded: % must be followed by two hexadecimal digits, and ; must be encoded."}).write(w)
		return
	}
	sent := members{}
	for _, member := range slices.Sorted(maps.Keys(requestMembers)) {
		text := []byte(values.Get(member))
		switch {
		case len(text) == 0 || requestMembers[member] == '{' && string(text) == "null":
			continue
		case requestMembers[member] == '"':
			if text, err = jsontext.AppendQuote(nil, text); err != nil {
				WriteErrors(w, http.StatusBadRequest, store.AsErrors(store.CheckText(values.Get(member), member)))
				return
			}
		default:
			if err := limits.CheckJSON(text, h.exec.Limits); err != nil {
				WriteErrors(w, http.StatusRequestEntityTooLarge, store.Errors{err})
				return
			}
			below, err := readMembers(text, h.exec.Limits)
			if err != nil {
				writeUnread(w, text, member, member+" must be a JSON object.", []string{member}, err)
				return
			}
			for name, value := range below {
				sent[member+"."+name] = value
			}
		}
		sent[member] = text
	}
	request, _ := newRequest(sent, h.exec.Limits)
	request.Known, request.Sent = known, key
	h.execute(w, r, request)
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
