package accesslog_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web/accesslog"
)

// TestAccessLogModes sends requests of each class, and more errors than a minute has lines for.
func TestAccessLogModes(t *testing.T) {
	t.Parallel()
	for mode, wanted := range map[accesslog.Mode]struct {
		requests int            // logged one by one
		summary  map[string]any // nil for none
	}{
		accesslog.Off: {0, nil},
		accesslog.All: {1205, nil},
		accesslog.Errors: {1000, map[string]any{"level": "INFO", "msg": "requests", "2xx": 1.0, "3xx": 1.0, "4xx": 1.0, "5xx": 1202.0,
			"total": 1205.0, "bytes": 2408.0, "errors_not_logged": 203.0}},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			log, to := newLog(slog.LevelInfo)
			access := accesslog.New(log, accesslog.WithMode(mode))
			send := func(path string, status int) {
				handler := access.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(status)
					_, _ = w.Write([]byte("ab"))
				}))
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			}
			send("/readyz", 200) // is neither logged nor counted
			for _, status := range []int{200, 304, 404, 500, 503} {
				send("/catalog", status)
			}
			for range 1200 {
				send("/catalog", 503)
			}
			done, cancel := context.WithCancel(t.Context())
			cancel()
			access.Run(done)
			access.Run(done) // there is nothing more to say
			var requests int
			var summary map[string]any
			for _, line := range to.lines(t) {
				if line["msg"] == "request" {
					requests++
					continue
				}
				require.Nil(t, summary, "one summary")
				delete(line, "time")
				summary = line
			}
			require.Equal(t, wanted.requests, requests)
			require.Equal(t, wanted.summary, summary)
		})
	}
}
