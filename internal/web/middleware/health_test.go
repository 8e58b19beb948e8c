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
	"portico/store"
	"portico/store/shop"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	away := func(context.Context) error { return errors.New("dial tcp 10.0.0.7: secret") }
	here := func(context.Context) error { return nil }
	writable, standby := func() error { return nil }, func() error { return store.ErrReadOnly }
	for _, test := range []struct {
		name    string
		handler http.Handler
		status  int
		body    string
	}{
		{"up", middleware.Health(), 200, `{"status":"ok"}`},
		{"ready", middleware.Ready(here, writable), 200, `{"status":"ok"}`},
		{"a standby", middleware.Ready(here, standby), 200, `{"status":"ok","detail":"Reads work, writes fail: the database is read-only."}`},
		{"a full disk", middleware.Ready(here, func() error { return store.ErrDiskFull }), 200, `{"status":"ok","detail":"Reads work, writes fail: the database's disk is full."}`},
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
	ready := middleware.Ready(s.Ping, s.WriteTrouble)
	ask := func() int {
		w := httptest.NewRecorder()
		ready.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		return w.Code
	}
	require.Equal(t, 200, ask(), "an empty store is ready")
	require.NoError(t, s.Close())
	require.Equal(t, 503, ask())
}
