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

// Recover writes INTERNAL through writeError for a request whose handler panicked. It logs the panic with its stack
// and the request id. If the response had already begun, it closes the connection, so that no client takes a part
// of a response for all of it.
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
				if cause == http.ErrAbortHandler { // closes the connection without a log entry
					panic(cause)
				}
				log.ErrorContext(r.Context(), "handler panicked", "panic", fmt.Sprint(cause), "method", r.Method,
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
