package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
	"portico/store"
)

func TestAwaitConsistency(t *testing.T) {
	t.Parallel()
	var awaited store.ConsistencyToken
	behind := false
	await := func(_ context.Context, token store.ConsistencyToken) error {
		if awaited = token; behind {
			return &store.Error{Code: store.Unavailable}
		}
		return nil
	}
	refuse := func(w http.ResponseWriter, _ *http.Request, err error) {
		w.WriteHeader(map[bool]int{true: 400, false: 503}[store.HasCode(err, store.Invalid)])
	}
	handler := middleware.AwaitConsistency(await, refuse)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func(path string, tokens ...string) int {
		awaited = nil
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		for _, token := range tokens {
			r.Header.Add(store.ConsistencyHeader, token)
		}
		handler.ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, 200, ask("/v2/settings"))
	require.Nil(t, awaited, "without a token")
	require.Equal(t, 200, ask("/v2/settings", "stock/3=5, settings=7", "stock/3=6"))
	require.Equal(t, store.ConsistencyToken{"stock/3": 6, "settings": 7}, awaited)
	require.Equal(t, 400, ask("/v2/settings", "x"))
	require.Nil(t, awaited)
	behind = true
	require.Equal(t, 503, ask("/graphql", "settings=7"))
	require.Equal(t, 200, ask("/readyz", "settings=7"), "health is not asked to wait")
}
