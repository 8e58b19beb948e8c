package middleware_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
)

// BenchmarkChain measures the middleware of a request.
func BenchmarkChain(b *testing.B) {
	for name, level := range map[string]slog.Level{"logged": slog.LevelInfo, "quiet": slog.LevelWarn} {
		b.Run(name, func(b *testing.B) {
			log := slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: level}))
			handler := web.Chain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }),
				middleware.RequestID, middleware.Recover(log, envelope), accesslog.New(log).Middleware, middleware.CORS(nil, log), middleware.LimitBody(1<<20))
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/catalog/nodes/n/relationships/products?page[limit]=25", nil)
			b.ReportAllocs()
			for b.Loop() {
				w.Body.Reset()
				handler.ServeHTTP(w, r)
			}
		})
	}
}
