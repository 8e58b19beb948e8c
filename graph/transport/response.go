package transport

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/store"
)

// rejectStatus is the status of a request that did not come to run. The older media
// type answers 200 to whatever has a document.
func rejectStatus(params *graphql.RawParams, faults gqlerror.List, modern bool) int {
	switch {
	case faults[0].Message == document.NotFoundMessage: // clients send the document then, if the status is no failure
		return http.StatusOK
	case faults[0].Extensions["code"] == store.Forbidden:
		return http.StatusForbidden
	case modern, params.Query == "":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// setRetryAfter begins an answer with errors: where something of it may be had in a
// moment, it says when to come again.
func setRetryAfter(w http.ResponseWriter, response *graphql.Response) {
	limited := isRateLimited(response)
	if (limited || hasUnavailable(response)) && w.Header().Get("Retry-After") == "" { // a limit by time has said so already
		w.Header().Set("Retry-After", "1")
	}
	if limited {
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// isRateLimited tells whether an answer holds nothing but that the caller
// asked too much: proxies and clients heed the status then. How long to wait
// is in Retry-After.
func isRateLimited(response *graphql.Response) bool {
	return len(response.Errors) > 0 &&
		!slices.ContainsFunc(response.Errors, func(e *gqlerror.Error) bool { return e.Extensions["code"] != store.RateLimited }) &&
		isEmpty(response.Data)
}

// hasUnavailable tells whether an answer is without something that may be had in a
// moment.
func hasUnavailable(response *graphql.Response) bool {
	return slices.ContainsFunc(response.Errors, func(e *gqlerror.Error) bool { return e.Extensions["code"] == store.Unavailable })
}

// isEmpty tells whether data is null, or all of its members are. It reads no
// further than the first that is not.
func isEmpty(data json.RawMessage) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ { // {, then names and values in turn
		token, err := decoder.Token()
		switch {
		case err != nil, i == 0 && token == nil:
			return len(data) == 0 || i == 0 && token == nil && err == nil
		case token == json.Delim('}'):
			return true
		case i > 0 && i%2 == 0 && token != nil:
			return false
		}
	}
}

// writeResponse writes the data as it is, and no copy of it: it is JSON already.
// Where nothing came to run there is none.
func writeResponse(w io.Writer, response *graphql.Response) {
	var b bytes.Buffer
	b.WriteByte('{')
	if len(response.Errors) > 0 {
		b.WriteString(`"errors":`)
		appendJSON(&b, response.Errors)
	}
	switch {
	case len(response.Data) > 0:
		if len(response.Errors) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"data":`)
		if len(response.Data) <= maxCopiedBytes {
			b.Write(response.Data)
			break
		}
		_, _ = w.Write(b.Bytes()) // a caller that went away reads nothing
		_, _ = w.Write(response.Data)
		b.Reset()
	case len(response.Errors) == 0:
		b.WriteString(`"data":null`)
	}
	if len(response.Extensions) > 0 {
		b.WriteString(`,"extensions":`)
		appendJSON(&b, response.Extensions)
	}
	b.WriteString("}\n")
	_, _ = w.Write(b.Bytes()) // a caller that went away reads nothing
}

// maxCopiedBytes is how much data is copied to be written at once, in bytes.
const maxCopiedBytes = 64 << 10

func appendJSON(b *bytes.Buffer, value any) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		b.WriteString("null")
	}
}
