package metrics_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web"
	"portico/internal/web/metrics"
	"portico/internal/web/middleware"
)

type clientKey struct{}

// counted is metrics around nested muxes, as in the server.
type counted struct {
	*metrics.Metrics
	handler http.Handler
}

func count() *counted {
	inner := http.NewServeMux()
	inner.HandleFunc("/v2/promotions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "panics" {
			panic("on purpose")
		}
		_, _ = io.WriteString(w, "ok")
	})
	inner.HandleFunc("/", http.NotFound)
	mux := http.NewServeMux()
	mux.Handle("/", inner)
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/graphql", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) })
	m := metrics.New(func(ctx context.Context) string {
		client, _ := ctx.Value(clientKey{}).(string)
		return client
	})
	fail := func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusInternalServerError) }
	return &counted{m, web.Chain(middleware.RecordRoute(mux), middleware.Recover(slog.New(slog.DiscardHandler), fail), m.Middleware)}
}

func (c *counted) send(client, method, path string) {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Authorization", "Bearer SECRET")
	c.handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), clientKey{}, client)))
}

// text returns the metrics as Prometheus reads them.
func (c *counted) text() string {
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metrics.Path, nil))
	return w.Body.String()
}

func TestRequestsByRouteAndClient(t *testing.T) {
	t.Parallel()
	m := count()
	m.send("c1", "GET", "/v2/promotions/one")
	m.send("c1", "GET", "/v2/promotions/two?filter=x")
	m.send("c2", "DELETE", "/v2/promotions/one")
	m.send("c1", "GET", "/v2/promotions/panics")
	m.send("", "GET", "/v2/nowhere")
	m.send("c1", "NONSENSE", "/nowhere")
	m.send("c1", "GET", "/")
	m.send("c1", "POST", "/graphql")
	m.CountField(context.WithValue(t.Context(), clientKey{}, "c1"), "Query.product")
	m.CountField(t.Context(), "Query.product")
	var got []string
	for line := range strings.Lines(m.text()) {
		if strings.HasPrefix(line, "portico_") && !strings.Contains(line, "_seconds_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	const requests = "portico_http_requests_total"
	require.ElementsMatch(t, []string{
		requests + `{client="c1",method="GET",route="/v2/promotions/{id}",status="2xx",surface="rest"} 2`,
		requests + `{client="c2",method="DELETE",route="/v2/promotions/{id}",status="2xx",surface="rest"} 1`,
		requests + `{client="c1",method="GET",route="/v2/promotions/{id}",status="5xx",surface="rest"} 1`,
		requests + `{client="none",method="GET",route="unmatched",status="4xx",surface="rest"} 1`,
		requests + `{client="c1",method="other",route="unmatched",status="4xx",surface="other"} 1`,
		requests + `{client="c1",method="GET",route="/",status="2xx",surface="other"} 1`,
		requests + `{client="c1",method="POST",route="/graphql",status="4xx",surface="graphql"} 1`,
		`portico_graphql_fields_total{client="c1",field="Query.product"} 1`,
		`portico_graphql_fields_total{client="none",field="Query.product"} 1`,
		`portico_graphql_subscriptions 0`,
	}, got)
	require.Contains(t, m.text(), `portico_http_request_duration_seconds_count{method="GET",route="/v2/promotions/{id}",surface="rest"} 3`)
	require.Contains(t, m.text(), "go_goroutines ")
}

func TestClientLabelsAreLimited(t *testing.T) {
	t.Parallel()
	m := count()
	for range 2 {
		for i := range 300 {
			m.send(fmt.Sprint("client-", i), "GET", "/v2/promotions/one")
		}
	}
	text := m.text()
	require.Equal(t, 201, strings.Count(text, "portico_http_requests_total{"))
	require.Contains(t, text, `{client="client-199",method="GET",route="/v2/promotions/{id}",status="2xx",surface="rest"} 2`)
	require.Contains(t, text, `{client="other",method="GET",route="/v2/promotions/{id}",status="2xx",surface="rest"} 200`)
}

func TestMetricsContainNoRequestData(t *testing.T) {
	t.Parallel()
	m := count()
	for _, path := range []string{"/v2/promotions/SECRET", "/v2/SECRET", "/SECRET", "/graphql?query=SECRET",
		"/v2/promotions/one?filter=eq(code,SECRET)", "/graphql/SECRET"} {
		for _, method := range []string{"GET", "POST", "SECRET"} {
			m.send("c1", method, path)
		}
	}
	text := m.text()
	require.Contains(t, text, `route="/v2/promotions/{id}"`)
	require.NotContains(t, text, "SECRET")
}

func TestResponseCacheMetrics(t *testing.T) {
	t.Parallel()
	m := metrics.New(func(context.Context) string { return "" })
	m.RegisterResponseCache(func() (found, made, bytes uint64) { return 5, 3, 4096 })
	m.RegisterStockCache(func() (held, bytes, age, loads, full float64) { return 22, 1144, .25, 2, 1 })
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metrics.Path, nil))
	for _, line := range []string{`portico_response_cache_total{outcome="found"} 5`, `portico_response_cache_total{outcome="made"} 3`,
		`portico_response_cache_bytes 4096`,
		`portico_stock_cache_records 22`, `portico_stock_cache_bytes 1144`, `portico_stock_cache_age_seconds 0.25`,
		`portico_stock_cache_loads_total 2`} {
		require.Contains(t, w.Body.String(), line+"\n")
	}
}
