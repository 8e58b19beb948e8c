package middleware

import (
	"cmp"
	"io"
	"net/http"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// LimitBody makes reading a body longer than limit bytes fail with *http.MaxBytesError: at once if Content-Length
// announces it, else at the first byte too many. 0 means reqctx.DefaultMaxBody.
func LimitBody(limit int64) web.Middleware {
	limit = cmp.Or(limit, reqctx.DefaultMaxBody)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, req := reqctx.Begin(r)
			req.MaxBody = limit
			if r.Body != nil && r.Body != http.NoBody {
				body := r.Body
				if r.ContentLength > limit {
					body = oversizedBody{body, limit}
				}
				r.Body = http.MaxBytesReader(baseWriter(w), body, limit)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// oversizedBody is a body that is not read at all.
type oversizedBody struct {
	io.Closer
	limit int64
}

func (b oversizedBody) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: b.limit} }

// baseWriter returns the writer of the connection, which MaxBytesReader needs to close it.
func baseWriter(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapper.Unwrap()
	}
}
