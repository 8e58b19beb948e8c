package middleware

import (
	"context"
	"net/http"

	"portico/internal/web"
	"portico/store"
)

// AwaitConsistency makes a request with a consistency token wait until this server has seen the writes that the
// token names. It writes 400 for an invalid token, and 503 if the server does not see them in time. Health checks
// do not wait.
func AwaitConsistency(await func(context.Context, store.ConsistencyToken) error, writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sent := r.Header[store.ConsistencyHeader]; sent != nil && !web.IsHealthCheck(r.URL.Path) {
				token, err := store.ParseConsistencyToken(sent)
				if err == nil {
					err = await(r.Context(), token)
				}
				if err != nil {
					writeError(w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
