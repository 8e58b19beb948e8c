package web_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/web"
)

// varying is what differs from one line to the next.
var varying = regexp.MustCompile(`"time":"[^"]*"|"duration_ms":[0-9.]+`)

// TestTheAccessLogWritesWhatSlogWrites, byte for byte, for whatever was sent.
func TestTheAccessLogWritesWhatSlogWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.String())
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.URL.Path, r.URL.RawQuery = rapid.SampledFrom([]string{"GET", "POST", "B\"D"}).Draw(t, "method"), "/"+text.Draw(t, "path"), text.Draw(t, "query")
		r.Header.Set("X-Request-Id", "r1")
		client, status := text.Draw(t, "client"), rapid.IntRange(200, 599).Draw(t, "status")
		body := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "body")
		var written [2]string
		for i := range written {
			var to bytes.Buffer
			lines := web.NewLines(&to)
			options := []web.AccessOption{web.WithClient(func(context.Context) string { return client })}
			if i == 1 {
				options = append(options, web.WithLines(lines))
			}
			handler := web.Chain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = w.Write(body)
			}), web.RequestID, web.AccessLog(slog.New(slog.NewJSONHandler(lines, nil)), options...))
			handler.ServeHTTP(httptest.NewRecorder(), r)
			written[i] = varying.ReplaceAllString(to.String(), "")
		}
		require.Equal(t, written[0], written[1])
	})
}

// TestALineCostsLittle: what the log adds to a request.
func TestALineCostsLittle(t *testing.T) {
	lines := web.NewLines(io.Discard)
	handler := web.Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), web.RequestID,
		web.AccessLog(slog.New(slog.NewJSONHandler(lines, nil)), web.WithLines(lines)))
	plain := web.Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), web.RequestID)
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/catalog/products", nil)
	with := testing.AllocsPerRun(100, func() { handler.ServeHTTP(w, r) })
	without := testing.AllocsPerRun(100, func() { plain.ServeHTTP(w, r) })
	require.LessOrEqual(t, with-without, 1.0, "the recorder")
}
