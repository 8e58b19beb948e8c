package accesslog_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
	"portico/store"
)

// working returns a handler that reports database statements.
func working(lasting bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/promotions/{id}", func(w http.ResponseWriter, r *http.Request) {
		known := reqctx.From(r.Context())
		known.OperationName, known.Streaming = "Checkout", lasting
		began := time.Now().Add(-time.Minute)
		store.ObserverOf(r.Context()).Statement(r.Context(), "SELECT 1", began, 1, nil)
		within, end := store.StartStep(r.Context(), store.StepWrite)
		store.ObserverOf(within).Statement(within, "UPDATE secret", began, 1, nil) // counts for the write
		end(nil)
		_, _ = io.WriteString(w, "answer")
	})
	return middleware.RecordRoute(mux)
}

func TestSlowRequestIsLogged(t *testing.T) {
	t.Parallel()
	client := func(context.Context) string { return "c1" }
	for name, test := range map[string]struct {
		after   time.Duration
		lasting bool
		told    bool
	}{
		"slow": {after: 1, told: true}, "quick": {after: time.Hour}, "off": {after: 0}, "a stream": {after: 1, lasting: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, to := newLog(slog.LevelInfo)
			served := web.Chain(working(test.lasting), middleware.RequestID, func(next http.Handler) http.Handler {
				if test.after == 0 { // no other observer
					return accesslog.NewSlowLog(log, time.Hour, client).Middleware(next)
				}
				return next
			}, accesslog.NewSlowLog(log, test.after, client).Middleware)
			r := httptest.NewRequest("GET", "/v2/promotions/HIDDEN?filter=eq(code,HIDDEN)", nil)
			r.Header.Set("X-Request-Id", "r1")
			served.ServeHTTP(httptest.NewRecorder(), r)
			require.NotContains(t, to.String(), "HIDDEN")
			lines := to.lines(t)
			if !test.told {
				require.Empty(t, lines)
				return
			}
			require.Len(t, lines, 1)
			spent := lines[0]["database_ms"].(float64)
			require.GreaterOrEqual(t, spent, 60_000.0)
			require.Less(t, spent, 110_000.0, "the statement of the write is part of the write")
			require.Positive(t, lines[0]["duration_ms"])
			for _, varying := range []string{"database_ms", "duration_ms", "time"} {
				delete(lines[0], varying)
			}
			require.Equal(t, map[string]any{
				"level": "WARN", "msg": "slow request", "method": "GET", "route": "/v2/promotions/{id}", "operation": "Checkout",
				"status": 200.0, "bytes": 6.0, "statements": 2.0, "client": "c1", "request_id": "r1",
			}, lines[0])
		})
	}
}

// TestAccessLogOperationNames requires the operation name in both formats, truncated and without
// line breaks.
func TestAccessLogOperationNames(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func(io.Writer) slog.Handler{
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var written bytes.Buffer
			lines := accesslog.NewLineWriter(&written)
			say := func(operation string) string {
				handler := web.Chain(http.HandlerFunc(func(_ http.ResponseWriter,
					r *http.Request) {
					reqctx.From(r.Context()).OperationName = operation
				}),
					middleware.RequestID, accesslog.New(slog.New(to(lines)), accesslog.WithLineWriter(lines)).Middleware)
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/graphql", nil))
				lines.Flush()
				defer written.Reset()
				return written.String()
			}
			require.Regexp(t, `operation"?[:=]"?Products`, say("Products"))
			require.NotContains(t, say(""), "operation")
			require.Less(t, len(say(strings.Repeat("Long", 10_000))), 1000)
			require.Equal(t, 1, strings.Count(say("a\nb\r\x1b[2J"), "\n"))
			require.NotContains(t, say("a\x1b[2J"), "\x1b")
		})
	}
}
