package web

import (
	"context"
	"net/http"

	"github.com/google/uuid"
)

// RequestIDHeader carries a request's id, both ways.
const RequestIDHeader = "X-Request-Id"

// maxRequestID bounds an id that a caller chose, in bytes.
const maxRequestID = 64

type requestIDKey struct{}

// RequestID gives every request an id, on the context and in the answer's
// header. It is the caller's own if that is 1 to 64 of A-Z, a-z, 0-9, dot, _
// and -, so that one id can be followed through several services; otherwise a
// new UUIDv7.
func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(RequestIDHeader)
		if !saneRequestID(id) {
			id = uuid.Must(uuid.NewV7()).String()
		}
		w.Header().Set(RequestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

// RequestIDFrom is the id of the request that a context belongs to; empty
// when it belongs to none.
func RequestIDFrom(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

func saneRequestID(id string) bool {
	if len(id) == 0 || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if !plain(id[i]) {
			return false
		}
	}
	return true
}

// plain tells whether a byte can stand in any log line and header as it is.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}
