package middleware_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
	"portico/store/shop"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	away := func(context.Context) error { return errors.New("dial tcp 10.0.0.7: secret") }
	here := func(context.Context) error { return nil }
	writable, standby := func() bool { return false }, func() bool { return true }
	for _, test := range []struct {
		name    string
		handler http.Handler
		status  int
		body    string
	}{
		{"up", middleware.Health(), 200, `{"status":"ok"}`},
		{"ready", middleware.Ready(here, writable), 200, `{"status":"ok"}`},
		{"a standby", middleware.Ready(here, standby), 200, `{"status":"ok","detail":"The database is read-only at the moment: reads work, writes fail."}`},
		{"the database is not responding", middleware.Ready(away, standby), 503,
			`{"status":"unavailable","detail":"The database is not responding."}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			test.handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
			require.Equal(t, test.status, w.Code)
			require.JSONEq(t, test.body, w.Body.String())
			require.Equal(t, "application/json", w.Header().Get("Content-Type"))
			require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		})
	}
}

func TestReadyFollowsPing(t *testing.T) {
	t.Parallel()
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + filepath.Join(t.TempDir(), "x.db"), Synchronous: "OFF"})
	require.NoError(t, err)
	ready := middleware.Ready(s.Ping, s.ReadOnly)
	ask := func() int {
		w := httptest.NewRecorder()
		ready.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		return w.Code
	}
	require.Equal(t, 200, ask(), "an empty store is ready")
	require.NoError(t, s.Close())
	require.Equal(t, 503, ask())
}
