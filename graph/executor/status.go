package executor

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/store"
)

// rejectStatus returns the status of an operation that was rejected or failed as a whole, by its first error. The first that applies:
// 200 for a document that the client is to send, 403 for FORBIDDEN, 500 for INTERNAL. Otherwise it is 400 by the newer media type
// (modern) or for a request without a document, else 200.
func rejectStatus(params *graphql.RawParams, errs gqlerror.List, modern bool) int {
	switch {
	case errs[0].Message == document.NotFoundMessage: // clients send the document only after a success
		return http.StatusOK
	case errs[0].Extensions["code"] == store.Forbidden:
		return http.StatusForbidden
	case errs[0].Extensions["code"] == store.Internal:
		return http.StatusInternalServerError
	case modern, params.Query == "" && errs[0].Extensions["code"] != store.Unprocessable: // a document above a limit was not read
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// resultStatus returns the status of a result: 429 if the whole result is rate limited, else 0, which is 200. retry means that an
// error of it is temporary: the client may try again in a second.
func resultStatus(result *graphql.Response) (status int, retry bool) {
	if isRateLimited(result) {
		return http.StatusTooManyRequests, true
	}
	return 0, hasUnavailable(result)
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

// isEmpty reports whether data is absent or null, or each of its members is null. It stops at the first other value.
func isEmpty(data json.RawMessage) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ { // {, then names and values alternate
		token, err := decoder.Token()
		switch {
		case err != nil:
			return len(data) == 0
		case i == 0 && token == nil: // null
			return true
		case token == json.Delim('}'):
			return true
		case i > 0 && i%2 == 0 && token != nil:
			return false
		}
	}
}
