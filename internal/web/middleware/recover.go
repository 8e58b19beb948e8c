package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/store"
)

// Recover answers a request whose handler panicked with INTERNAL, written by
// writeError, in the envelope of the surface. It logs the panic, once, with
// the stack and the request's id; writeError has nothing more to log. Where
// the answer had begun the connection is cut, so that nobody takes half an
// answer for a whole one.
func Recover(log *slog.Logger, writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	log = accesslog.NewLogger(log)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := web.Record(w)
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				if cause == http.ErrAbortHandler { // meant to cut the connection, quietly
					panic(cause)
				}
				log.ErrorContext(r.Context(), "a handler panicked", "panic", fmt.Sprint(cause), "method", r.Method,
					"path", web.Truncate(r.URL.Path, 256), "stack", string(debug.Stack()))
				if rec.Status != 0 {
					panic(http.ErrAbortHandler)
				}
				for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Cache-Control", "Etag", "Last-Modified"} {
					rec.Header().Del(name)
				}
				writeError(rec, r, &store.Error{Code: store.Internal, Detail: "An internal error has occurred."})
			}()
			next.ServeHTTP(rec, r)
		})
	}
}
