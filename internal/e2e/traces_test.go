package e2e

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// spanCollector records the spans that an OpenTelemetry collector receives.
type spanCollector struct {
	mu    sync.Mutex
	spans []*spans.Span
	about []string // resources of the spans
	asked int
}

// startCollector starts a collector and sets the environment for the processes that the test
// starts.
func startCollector(t *testing.T) *spanCollector {
	t.Helper()
	c := &spanCollector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		text, err := io.ReadAll(body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(text, &sent) != nil {
			t.Errorf("%s %s is not an OTLP request", r.Method, r.URL.Path)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked++
		for _, of := range sent.ResourceSpans {
			c.about = append(c.about, of.Resource.String())
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	return c
}

// all returns a copy of the received spans.
func (c *spanCollector) all() []*spans.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// find returns the only span that fits.
func find(t *testing.T, all []*spans.Span, what string, fits func(*spans.Span) bool) *spans.Span {
	t.Helper()
	at := slices.IndexFunc(all, fits)
	require.GreaterOrEqual(t, at, 0, "no span of %s in %v", what, all)
	return all[at]
}

func named(name string) func(*spans.Span) bool {
	return func(s *spans.Span) bool { return s.Name == name }
}

// withoutRequestID returns the attributes of a span that all requests for the same have.
func withoutRequestID(s *spans.Span) (attributes []string) {
	for _, attribute := range s.Attributes {
		if attribute.Key != "portico.request_id" {
			attributes = append(attributes, attribute.String())
		}
	}
	return attributes
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestTraces requires spans of a request, in the caller's trace, of its operation, write and
// statements, and of a job. No span contains values.
func TestTraces(t *testing.T) {
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		c := startCollector(t)
		writer := openDemo(t, e.URL(t))
		_, token := writer.issue(t, "catalog:read", "catalog:write", "settings:write", "settings:read", "promotions:read")
		s := writer.serve(t)
		traced := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json", "Traceparent", traceparent}
		s.send(t, "POST", "/graphql", `{"query": "query Vouchers($id: ID!) { promotion(id: $id) { id } }", "variables": {"id": "HIDDEN"}}`,
			traced...)
		s.send(t, "POST", "/graphql", `{"query": "mutation Paged { settingsUpdate(input: {pageLength: 31}) { settings { pageLength } } }"}`,
			traced...)
		for range 4 {
			s.send(t, "POST", "/graphql", `{"query": "query Repeated { settings { pageLength } }"}`, traced...)
		}
		s.send(t, "GET", "/v2/promotions/HIDDEN/codes?filter=eq(code,HIDDEN)", "", traced...)
		s.send(t, "GET", "/HIDDEN", "", "Authorization", "Bearer HIDDEN")
		_, published := s.graphql(t, token, `mutation { catalogPublish(input: {catalogId: "catalog-coffee"}) { job { id } userErrors { message } } }`)
		require.Contains(t, published, `"job":{"id"`)
		testkit.Eventually(t, true, func() bool {
			return slices.ContainsFunc(c.all(), named("job catalog_publish")) && slices.ContainsFunc(c.all(), named("sweep idempotency keys"))
		})
		require.Zero(t, s.stop(), "which sends the rest")

		all := c.all()
		require.Contains(t, strings.Join(c.about, " "), "portico")
		root := find(t, all, "the query", named("POST /graphql Vouchers"))
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(root.TraceId))
		require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(root.ParentSpanId))
		within := func(parent *spans.Span, names ...string) *spans.Span {
			t.Helper()
			for _, name := range names {
				parent = find(t, all, name, func(s *spans.Span) bool {
					return (s.Name == name || name == "a statement" && s.Kind == spans.Span_SPAN_KIND_CLIENT) &&
						string(s.ParentSpanId) == string(parent.SpanId) && string(s.TraceId) == string(parent.TraceId)
				})
			}
			return parent
		}
		within(root, "graphql.prepare")
		var repeated []*spans.Span
		inFront := 0 // of them: without spans within
		for _, span := range all {
			if span.Name == "POST /graphql Repeated" {
				repeated = append(repeated, span)
				if !slices.ContainsFunc(all, func(child *spans.Span) bool { return string(child.ParentSpanId) == string(span.SpanId) }) {
					inFront++
				}
			}
		}
		require.Len(t, repeated, 4)
		require.Equal(t, 2, inFront)
		for _, span := range repeated {
			require.Equal(t, root.TraceId, span.TraceId)
			require.Equal(t, root.ParentSpanId, span.ParentSpanId)
			require.Equal(t, root.Kind, span.Kind)
			require.Equal(t, withoutRequestID(repeated[0]), withoutRequestID(span))
		}
		statement := within(root, "graphql.run", "a statement")
		require.Contains(t, fmt.Sprint(statement.Attributes), "SELECT")
		require.Contains(t, fmt.Sprint(statement.Attributes), "$1")
		within(find(t, all, "the mutation", named("POST /graphql Paged")), "graphql.run", "write", "a statement")
		read := find(t, all, "the route", named("GET /v2/promotions/{id}/codes"))
		within(read, "a statement")
		require.Contains(t, fmt.Sprint(read.Attributes), "http.response.status_code")
		stranger := find(t, all, "what has no route", named("GET"))
		require.Empty(t, stranger.ParentSpanId)
		job := find(t, all, "the job", named("job catalog_publish"))
		require.Empty(t, job.ParentSpanId)
		within(job, "a statement")
		sweep := find(t, all, "a sweep", named("sweep idempotency keys"))
		require.Empty(t, sweep.ParentSpanId, "it is a trace of its own")
		require.NotEqual(t, job.TraceId, sweep.TraceId)
		within(sweep, "write", "a statement")
		inJob := 0
		for _, span := range all {
			require.NotContains(t, span.String(), "HIDDEN")
			require.NotContains(t, span.String(), token)
			if string(span.TraceId) == string(job.TraceId) {
				inJob++
			}
		}
		require.LessOrEqual(t, inJob, 501, "a job has a bounded number of spans")
		line := s.log[slices.IndexFunc(s.log, func(line map[string]any) bool { return line["operation"] == "Vouchers" })]
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", line["trace_id"])
	})
}

// TestTracingIsOptional requires no spans by default, and that an unreachable collector blocks
// nothing.
func TestTracingIsOptional(t *testing.T) {
	c := startCollector(t)
	for name, env := range map[string][2]string{
		"no endpoint": {"OTEL_EXPORTER_OTLP_ENDPOINT", ""}, "disabled": {"OTEL_SDK_DISABLED", "true"},
		"another exporter": {"OTEL_TRACES_EXPORTER", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(env[0], env[1])
			s := startServer(t, "--demo")
			_, body := s.send(t, "GET", "/v2/settings", "", "Traceparent", traceparent)
			require.Zero(t, s.stop())
			require.NotContains(t, fmt.Sprint(s.log), "trace_id", body)
			require.Empty(t, c.all())
			require.Zero(t, c.asked)
		})
	}
	t.Run("unsampled by the caller", func(t *testing.T) {
		s := startServer(t, "--demo")
		s.send(t, "GET", "/v2/settings", "", "Traceparent", strings.TrimSuffix(traceparent, "01")+"00")
		require.Zero(t, s.stop())
		require.False(t, slices.ContainsFunc(c.all(), func(s *spans.Span) bool { return strings.HasPrefix(s.Name, "GET") }))
	})
	t.Run("unreachable collector", func(t *testing.T) {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		s := startServer(t, "--demo")
		response, _ := s.send(t, "GET", "/healthz", "")
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Zero(t, s.stop())
	})
	t.Run("unsupported protocol", func(t *testing.T) {
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
		code, _, stderr := portico(t, "serve", "--demo", "--addr", "127.0.0.1:0")
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf")
	})
}
