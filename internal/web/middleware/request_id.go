package middleware

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// RequestIDHeader carries a request's id, both ways.
const RequestIDHeader = "X-Request-Id"

// maxRequestID bounds an id that a caller chose, in bytes.
const maxRequestID = 64

// RequestID gives every request an id, on the context and in the answer's
// header. It is the caller's own if that is 1 to 64 of A-Z, a-z, 0-9, dot, _
// and -, so that one id can be followed through several services; otherwise a
// new UUIDv7.
func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, known := reqctx.Begin(r)
		if known.ID = r.Header.Get(RequestIDHeader); !validRequestID(known.ID) {
			known.ID = newRequestID(known.Start)
		}
		w.Header()[RequestIDHeader] = known.HeaderValue(known.ID)
		next.ServeHTTP(w, r)
	})
}

// RequestIDFrom is the id of the request that a context belongs to; empty
// when it belongs to none.
func RequestIDFrom(ctx context.Context) string {
	if known := reqctx.From(ctx); known != nil {
		return known.ID
	}
	return ""
}

// newRequestID is a UUIDv7. Nobody has to guess it, so that random numbers of
// the cheaper kind do.
func newRequestID(at time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|0x7000|rand.Uint64()&0x0fff)
	binary.BigEndian.PutUint64(id[8:], 1<<63|rand.Uint64()>>2)
	return id.String()
}

func validRequestID(id string) bool {
	if len(id) == 0 || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if !web.IsToken(id[i]) {
			return false
		}
	}
	return true
}
