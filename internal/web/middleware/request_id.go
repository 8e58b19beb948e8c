package middleware

import (
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// RequestIDHeader carries the id of a request, in requests and responses.
const RequestIDHeader = "X-Request-Id"

// maxRequestID is the length limit of an id that a client chose, in bytes.
const maxRequestID = 64

// RequestID gives each request an id, on its context and in the response header: the one the client sent if
// it is 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', else a new UUIDv7.
func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, req := reqctx.Begin(r)
		req.ID = RequestIDOf(r, req.Start)
		w.Header()[RequestIDHeader] = req.HeaderValue(req.ID)
		next.ServeHTTP(w, r)
	})
}

// RequestIDOf returns the id of a request that began at a time.
func RequestIDOf(r *http.Request, start time.Time) string {
	if sent := r.Header[RequestIDHeader]; len(sent) > 0 && validRequestID(sent[0]) {
		return sent[0]
	}
	return newRequestID(start)
}

// newRequestID returns a UUIDv7. Ids need not be hard to guess, so math/rand is enough.
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
