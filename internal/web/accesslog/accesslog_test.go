package accesslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
)

// logged is a log that tests can parse.
type logged struct{ bytes.Buffer }

func newLog(level slog.Level) (*slog.Logger, *logged) {
	to := &logged{}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level})), to
}

func (l *logged) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		lines = append(lines, line)
	}
	return lines
}

func TestAccessLogEntry(t *testing.T) {
	t.Parallel()
	log, to := newLog(slog.LevelInfo)
	handler := web.Chain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short ")
		_, _ = w.Write([]byte("and stout"))
	}), middleware.RequestID, accesslog.New(log, accesslog.WithClient(func(context.Context) string { return "client:c1" })).Middleware)
	r := httptest.NewRequest("PUT", "/v2/settings", nil)
	r.Header.Set("X-Request-Id", "r1")
	handler.ServeHTTP(httptest.NewRecorder(), r)

	lines := to.lines(t)
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "duration_ms")
	delete(lines[0], "duration_ms")
	delete(lines[0], "time")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "method": "PUT", "path": "/v2/settings",
		"status": 418.0, "bytes": 15.0, "request_id": "r1", "client": "client:c1",
	}, lines[0])
}

func TestAccessLogRedactsValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, logged string }{
		{"page[limit]=5&page%5Boffset%5D=10", "page[limit]=5&page[offset]=10"},
		{"include=main_image,files&sort=-id", "include=main_image,files&sort=-id"},
		{"filter=eq(code,ABC)", "filter=***"},
		{"access_token=eyJhbGciOiJFZERTQSJ9", "access_token=***"},
		{"query=%7Bsettings%7D&variables=%7B%7D", "query=***&variables=***"},
		{"c2VjcmV0", "***"},
		{"a%20secret=1", "***"},
		{strings.Repeat("x", 41) + "=1", "***"},
		{"%zz=1", "***"},
		{strings.Repeat("a=1&", 20), strings.Repeat("a=***&", 16) + "…"},
	} {
		t.Run(test.query, func(t *testing.T) {
			log, to := newLog(slog.LevelInfo)
			handler := accesslog.New(log).Middleware(http.NotFoundHandler())
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/x?"+test.query, nil))
			require.Equal(t, test.logged, to.lines(t)[0]["query"])
		})
	}
}

func TestAccessLogOfHealthChecks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, path string
		status     int
		level      string // empty if nothing is logged
	}{
		{"a good probe", "/readyz", 200, ""},
		{"a bad probe", "/readyz", 503, "INFO"},
		{"liveness", "/healthz", 200, ""},
		{"another path", "/readyz/", 200, "INFO"},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, to := newLog(slog.LevelInfo)
			handler := accesslog.New(log).Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", test.path, nil))
			lines := to.lines(t)
			if test.level == "" {
				require.Empty(t, lines)
				return
			}
			require.Equal(t, test.level, lines[0]["level"])
		})
	}
}

func TestAccessLogOfEmptyResponse(t *testing.T) {
	t.Parallel()
	log, to := newLog(slog.LevelInfo)
	handler := accesslog.New(log).Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	require.EqualValues(t, 200, to.lines(t)[0]["status"])
}

func TestResponsesCanBeFlushed(t *testing.T) {
	t.Parallel()
	log, _ := newLog(slog.LevelInfo)
	w := httptest.NewRecorder()
	handler := accesslog.New(log).Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
	}))
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	require.True(t, w.Flushed)
}

func TestAccessLogIgnoresEarlyHints(t *testing.T) {
	t.Parallel()
	log, to := newLog(slog.LevelInfo)
	handler := accesslog.New(log).Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
	}))
	server := httptest.NewServer(handler)
	response, err := http.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	server.Close() // waits for the handler
	require.EqualValues(t, http.StatusTeapot, to.lines(t)[0]["status"])
}

func TestLoggerAddsRequestID(t *testing.T) {
	t.Parallel()
	log, to := newLog(slog.LevelInfo)
	log = accesslog.NewLogger(accesslog.NewLogger(log)) // wrapping twice adds the id once
	log.Info("outside")
	handler := middleware.RequestID(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		log.With("a", 1).InfoContext(r.Context(), "inside")
	}))
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-Request-Id", "r1")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	lines := to.lines(t)
	require.NotContains(t, lines[0], "request_id")
	require.Equal(t, "r1", lines[1]["request_id"])
	require.Equal(t, 1, strings.Count(to.String(), "request_id"))
}
