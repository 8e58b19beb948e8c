package rest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/store/shop"
	"portico/store/storetest"
)

// BenchmarkNewCodes creates a thousand codes per request, durably. Compare
// BenchmarkCodes/engine of the store.
func BenchmarkNewCodes(b *testing.B) {
	const promotion = `{"type":"promotion","id":"p","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`
	storetest.EachBackendBenchmark(b, func(b *testing.B, e storetest.Backend) {
		s := e.Open(b, func(c *shop.Config) { c.Synchronous = "FULL" })
		importLines(b, s, promotion)
		handler := (&testServer{store: s, handler: rest.New(graph.NewResolver(s), problem.Writer(slog.New(slog.DiscardHandler))).Handler()}).as(admin())
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			var codes []string
			for range 1000 {
				codes = append(codes, fmt.Sprintf(`{"code":"R-%08X"}`, uint32(n)*2654435761)) // unique, in random order
				n++
			}
			r := httptest.NewRequestWithContext(b.Context(), "POST", "/v2/promotions/p/codes",
				strings.NewReader(`{"data":{"type":"promotion_codes","codes":[`+strings.Join(codes, ",")+`]}}`))
			r.Header.Set("Content-Type", "application/json")
			w := &sink{header: http.Header{}}
			handler.ServeHTTP(w, r)
			require.Equal(b, http.StatusCreated, w.status)
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "codes/s")
	})
}
