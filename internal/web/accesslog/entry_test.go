package accesslog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
)

// varying matches the fields that differ between runs.
var varying = regexp.MustCompile(`"time":"[^"]*"|"duration_ms":[0-9.]+`)

// TestAccessLogMatchesSlog requires the same bytes as slog for any request.
func TestAccessLogMatchesSlog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.String())
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.URL.Path, r.URL.RawQuery = rapid.SampledFrom([]string{"GET", "POST", "B\"D"}).Draw(t, "method"), "/"+text.Draw(t, "path"),
			text.Draw(t, "query")
		r.Header.Set("X-Request-Id", "r1")
		client, status := text.Draw(t, "client"), rapid.IntRange(200, 599).Draw(t, "status")
		body := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "body")
		var written [2]string
		for i := range written {
			var to bytes.Buffer
			lines := accesslog.NewLineWriter(&to)
			options := []accesslog.Option{accesslog.WithClient(func(context.Context) string { return client })}
			if i == 1 {
				options = append(options, accesslog.WithLineWriter(lines))
			}
			handler := web.Chain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = w.Write(body)
			}), middleware.RequestID, accesslog.New(slog.New(slog.NewJSONHandler(lines, nil)), options...).Middleware)
			handler.ServeHTTP(httptest.NewRecorder(), r)
			lines.Flush()
			written[i] = varying.ReplaceAllString(to.String(), "")
		}
		require.Equal(t, written[0], written[1])
	})
}

// TestAccessLogAllocations limits the allocations of an entry.
func TestAccessLogAllocations(t *testing.T) {
	lines := accesslog.NewLineWriter(io.Discard)
	handler := web.Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), middleware.RequestID,
		accesslog.New(slog.New(slog.NewJSONHandler(lines, nil)), accesslog.WithLineWriter(lines)).Middleware)
	plain := web.Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), middleware.RequestID)
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/catalog/products", nil)
	with := testing.AllocsPerRun(100, func() { handler.ServeHTTP(w, r) })
	without := testing.AllocsPerRun(100, func() { plain.ServeHTTP(w, r) })
	require.LessOrEqual(t, with-without, 1.0, "the recorder")
}

// TestLineWriterKeepsOrder requires that concurrent writers lose, split or reorder no lines.
func TestLineWriterKeepsOrder(t *testing.T) {
	t.Parallel()
	var to bytes.Buffer
	lines := accesslog.NewLineWriter(&to)
	var writers sync.WaitGroup
	const many, each = 8, 2000
	for writer := range many {
		writers.Go(func() {
			for i := range each {
				line := fmt.Appendf(nil, "%d %d\n", writer, i)
				if i%100 == 99 {
					_, _ = lines.Write(line)
				} else {
					lines.Add(line)
				}
			}
		})
	}
	writers.Wait()
	lines.Flush()
	var next [many]int
	for line := range strings.Lines(to.String()) {
		var writer, i int
		_, err := fmt.Sscanf(line, "%d %d\n", &writer, &i)
		require.NoError(t, err, "%q", line)
		require.Equal(t, next[writer], i)
		next[writer]++
	}
	for _, count := range next {
		require.Equal(t, each, count)
	}
}

// TestLineWriterWriteFlushes requires that Write also writes the lines that were added before.
func TestLineWriterWriteFlushes(t *testing.T) {
	t.Parallel()
	var to bytes.Buffer
	lines := accesslog.NewLineWriter(&to)
	lines.Add([]byte("a\n"))
	_, err := lines.Write([]byte("b\n"))
	require.NoError(t, err)
	require.Equal(t, "a\nb\n", to.String())
}
