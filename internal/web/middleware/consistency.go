package middleware

import (
	"context"
	"net/http"

	"portico/internal/web"
	"portico/store"
)

// AwaitConsistency has a request with a consistency token wait until this server knows
// the writes that the token names, so that it is answered by what they left. A
// token that is none is 400; one that this server does not come to know is 503.
// Health is answered without a wait.
func AwaitConsistency(await func(context.Context, store.ConsistencyToken) error, writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sent := r.Header[store.ConsistencyHeader]; sent != nil && r.URL.Path != web.HealthPath && r.URL.Path != web.ReadyPath {
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
