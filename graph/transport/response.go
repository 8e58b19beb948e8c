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

// rejectStatus returns the status of a rejected operation. By the older media type it is 200 if the
// request has a document.
func rejectStatus(params *graphql.RawParams, errs gqlerror.List, modern bool) int {
	switch {
	case errs[0].Message == document.NotFoundMessage: // clients send the document only after a success
		return http.StatusOK
	case errs[0].Extensions["code"] == store.Forbidden:
		return http.StatusForbidden
	case errs[0].Extensions["code"] == store.Internal:
		return http.StatusInternalServerError
	case modern, params.Query == "":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// setRetryAfter sets Retry-After if an error of the response is temporary, and writes the status 429 if
// the whole response is rate limited.
func setRetryAfter(w http.ResponseWriter, response *graphql.Response) {
	limited := isRateLimited(response)
	if (limited || hasUnavailable(response)) && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	if limited {
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// isRateLimited reports whether a response has nothing but RATE_LIMITED errors.
func isRateLimited(response *graphql.Response) bool {
	return len(response.Errors) > 0 &&
		!slices.ContainsFunc(response.Errors, func(e *gqlerror.Error) bool { return e.Extensions["code"] != store.RateLimited }) &&
		isEmpty(response.Data)
}

// hasUnavailable reports whether a response has an UNAVAILABLE error.
func hasUnavailable(response *graphql.Response) bool {
	return slices.ContainsFunc(response.Errors, func(e *gqlerror.Error) bool { return e.Extensions["code"] == store.Unavailable })
}

// isEmpty reports whether data, or each of its members, is null. It stops at the first other value.
func isEmpty(data json.RawMessage) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ { // {, then names and values alternate
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

// writeResponse writes a response as JSON. The data is JSON already, and large data is not copied. A
// response with errors and without data has no member data: the operation did not run.
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
		_, _ = w.Write(b.Bytes()) // an error means that the client is gone
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
	_, _ = w.Write(b.Bytes()) // an error means that the client is gone
}

// maxCopiedBytes is the size of data up to which one write with a copy is faster.
const maxCopiedBytes = 64 << 10

// appendJSON appends a value without escaping HTML.
func appendJSON(b *bytes.Buffer, value any) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		b.WriteString("null")
	}
}
