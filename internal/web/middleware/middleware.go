package middleware

import (
	"net/http"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// OnRequest calls asked for each request, before it is looked at.
func OnRequest(asked func()) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked()
			next.ServeHTTP(w, r)
		})
	}
}

var noSniff = []string{"nosniff"}

// NoSniff sends X-Content-Type-Options: nosniff with every response, so that
// browsers go by its Content-Type. It is the outermost layer.
func NoSniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Content-Type-Options"] = noSniff
		next.ServeHTTP(w, r)
	})
}

// RecordRoute tells Middleware which route of a mux, or of a mux within it, a
// request took. Nothing between them may replace the request.
func RecordRoute(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known := reqctx.From(r.Context()); known != nil {
			defer func() { known.Route = r.Pattern }()
		}
		mux.ServeHTTP(w, r)
	})
}
