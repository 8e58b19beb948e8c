package responsecache

import (
	"net/http"
	"time"

	"portico/internal/reqctx"
)

// Candidate tells how to answer requests that repeat one exactly, for a cache in front of the handler
// that made it. The caller has the same rights, but may be another one.
type Candidate struct {
	Response *Response // nil while the cache in front has it
	Tagged   bool      // sent with the ETag
	Bytes    int       // memory of the candidate without the response

	// Current reports whether the handler would send the same response now. It does not block.
	Current func() bool

	// Renew returns a candidate of the response that the handler would send now, where that is known
	// from the last response without running it; else nil. It is nil if that is never known. It does not block.
	Renew func(last *Response) *Candidate

	// SetCaching sets the headers that depend on the time, and on when the caller's token expires; nil
	// if there are none.
	SetCaching func(header http.Header, expires time.Time)

	// Count counts a request that was answered so, as the handler counts its own; nil for nothing.
	Count func(*reqctx.Request)
}
