package middleware_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
	"portico/store"
)

// envelope writes an error like the APIs do.
func envelope(w http.ResponseWriter, _ *http.Request, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintf(w, `{"errors":[{"detail":%q,"code":%q}]}`, err.Error(), store.AsErrors(err)[0].Code)
}

// logLines parses a JSON log.
func logLines(t *testing.T, log *bytes.Buffer) (lines []map[string]any) {
	t.Helper()
	for decoder := json.NewDecoder(log); decoder.More(); {
		var line map[string]any
		require.NoError(t, decoder.Decode(&line))
		lines = append(lines, line)
	}
	return lines
}

func TestRecoverWritesError(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	handler := web.Chain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "3")
		w.Header().Set("Cache-Control", "public")
		panic("the secret is 42")
	}), middleware.RequestID, middleware.Recover(log, envelope), accesslog.New(log).Middleware)
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v2/settings", nil)
	r.Header.Set("X-Request-Id", "r1")
	handler.ServeHTTP(w, r)

	require.Equal(t, 500, w.Code)
	require.Equal(t, `{"errors":[{"detail":"An internal error has occurred.","code":"INTERNAL"}]}`, w.Body.String())
	require.Empty(t, w.Header().Get("Content-Length"))
	require.Empty(t, w.Header().Get("Cache-Control"))

	lines := logLines(t, &out)
	require.Len(t, lines, 2)
	require.Equal(t, "request", lines[0]["msg"])
	require.EqualValues(t, 500, lines[0]["status"])
	require.Equal(t, "ERROR", lines[1]["level"])
	require.Equal(t, "the secret is 42", lines[1]["panic"])
	require.Equal(t, "r1", lines[1]["request_id"])
	require.Contains(t, lines[1]["stack"], "recover_test.go")
}

func TestRecoverAbortsStartedResponse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	handler := middleware.Recover(log, envelope)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[`))
		panic("half-way")
	}))
	w := httptest.NewRecorder()
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil)) })
	require.Equal(t, `{"data":[`, w.Body.String())
	require.Len(t, logLines(t, &out), 1)
}

func TestRecoverPassesAbortHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	handler := middleware.Recover(log, envelope)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	})
	require.Empty(t, logLines(t, &out))
}
