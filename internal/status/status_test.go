package status

import (
	"html"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

var start = time.Unix(1_795_600_000, 0)

// snapshot returns the metrics of testdata/metrics.txt with other values.
func snapshot(t *testing.T, after time.Duration, changed ...string) *Snapshot {
	t.Helper()
	text, err := os.ReadFile("testdata/metrics.txt")
	require.NoError(t, err)
	body := string(text)
	for i := 0; i < len(changed); i += 2 {
		require.Equal(t, 1, strings.Count(body, changed[i]), changed[i])
		body = strings.Replace(body, changed[i], changed[i+1], 1)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	return &Snapshot{start.Add(after), families}
}

func TestText(t *testing.T) {
	t.Parallel()
	before := snapshot(t, time.Hour)
	now := snapshot(t, time.Hour+10*time.Second,
		`status="2xx",surface="rest"} 100`, `status="2xx",surface="rest"} 190`, `status="5xx",surface="rest"} 1`, `status="5xx",surface="rest"} 11`,
		`surface="rest",le="0.001"} 50`, `surface="rest",le="0.001"} 100`, `surface="rest",le="0.01"} 101`, `surface="rest",le="0.01"} 201`,
		`surface="rest",le="+Inf"} 101`, `surface="rest",le="+Inf"} 201`, `surface="rest"} 0.4`, `surface="rest"} 1.4`,
		`_count{method="GET",route="/catalog/products",surface="rest"} 101`, `_count{method="GET",route="/catalog/products",surface="rest"} 201`,
		`portico_response_cache_total{outcome="found"} 90`, `portico_response_cache_total{outcome="found"} 165`, `portico_response_cache_total{outcome="made"} 10`, `portico_response_cache_total{outcome="made"} 35`,
		`process_cpu_seconds_total 20`, `process_cpu_seconds_total 25`, `portico_database_connection_waits_total{pool="write"} 2`, `portico_database_connection_waits_total{pool="write"} 5`)
	for name, text := range map[string]string{"last": NewReport(before, now).Text(), "start": NewReport(nil, before).Text()} {
		file := "testdata/" + name + ".txt"
		if os.Getenv("PORTICO_TEST_UPDATE") != "" {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), text)
	}
	r := NewReport(before, now)
	require.InDelta(t, 10, r.Requests.PerSecond, 1e-9)
	require.InDelta(t, .75, *r.Caches[0].HitRate, 1e-9)
	require.InDelta(t, .5, r.Server.CPU, 1e-9)
	require.Zero(t, r.Requests.GraphQLErrors)
	require.InDelta(t, 1.0/3600, NewReport(nil, before).Requests.GraphQLErrors, 1e-9)
	require.InDelta(t, 1, *r.Busiest[0].P50, 1e-9, "50 of 100 took a millisecond or less")
	require.InDelta(t, 1+9*.98, *r.Busiest[0].P99, 1e-9)
	require.Equal(t, []string{"Requests fail with status 5xx.", "Requests wait to run.", "Writes or reads wait for a connection of the pool write."}, r.Problems)
	full := snapshot(t, time.Hour+10*time.Second, `portico_database_failed_writes_total{cause="full"} 2`, `portico_database_failed_writes_total{cause="full"} 302`)
	require.Equal(t, []string{"300 writes failed in the last 10 s: the disk of the database is full.", "Requests wait to run."}, NewReport(before, full).Problems)
	require.Equal(t, []string{"302 writes failed since the start: the disk of the database is full.", "Requests wait to run."}, NewReport(nil, full).Problems)
	require.Equal(t, map[string]float64{"full": 300}, NewReport(before, full).FailedWrites)
	restarted := snapshot(t, time.Hour+10*time.Second, "process_start_time_seconds 1.7956e+09", "process_start_time_seconds 1.795603605e+09")
	require.True(t, NewReport(before, restarted).SinceBoot, "rates of another process are not compared")
	require.InDelta(t, 5, NewReport(before, restarted).Seconds, 1e-9)
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: []float64{.1, .2, 1}})
	read := func() *histogram {
		m := &dto.Metric{}
		require.NoError(t, h.Write(m))
		s := NewSnapshot(start, []*dto.MetricFamily{{Name: new("h"), Metric: []*dto.Metric{m}}})
		return s.histograms("h", func(*dto.Metric) string { return "all" })["all"]
	}
	require.Nil(t, read().quantile(.5))
	for _, seconds := range []float64{.05, .05, .15, .15} {
		h.Observe(seconds)
	}
	before := read()
	require.InDelta(t, 100, *before.quantile(.5), 1e-9)
	require.InDelta(t, 150, *before.quantile(.75), 1e-9)
	h.Observe(30)
	require.InDelta(t, 1000, *read().since(before).quantile(.5), 1e-9, "above the last bound")
	require.Nil(t, before.since(before).quantile(.99))
}

// TestPage: the page shows what the report does, and escapes it.
func TestPage(t *testing.T) {
	t.Parallel()
	at := start.Add(time.Hour)
	s := snapshot(t, time.Hour, `catalog="main"} 120`, `catalog="<script>"} 120`)
	var families []*dto.MetricFamily
	for _, f := range s.families {
		families = append(families, f)
	}
	handler := Page(func() ([]*dto.MetricFamily, error) { return families, nil }, func() time.Time { return at })
	load := func(accept ...string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", Path, nil)
		r.Header["Accept"] = accept
		handler.ServeHTTP(w, r)
		return w
	}
	w := load("text/html,application/xhtml+xml", "text/plain;q=0.9,*/*;q=0.8")
	require.Contains(t, w.Body.String(), "since the start")
	require.Contains(t, w.Body.String(), "&lt;script&gt;")
	require.NotContains(t, w.Body.String(), "<script")
	for _, table := range NewReport(nil, s).tables() {
		for _, row := range table.rows {
			for _, cell := range row[1:] {
				require.Contains(t, w.Body.String(), "<td>"+html.EscapeString(cell)+"</td>")
			}
		}
	}
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
	at = at.Add(30 * time.Second)
	require.Contains(t, load().Body.String(), "last 30s")
	at = at.Add(2 * time.Minute)
	require.Contains(t, load().Body.String(), "since the start")
}

// TestPageAsText: a terminal gets the report of two seconds, or of the time since others asked.
func TestPageAsText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, first := time.Now(), snapshot(t, time.Hour)
		now := func() time.Time { return first.At.Add(time.Since(begun)) }
		handler := Page(func() ([]*dto.MetricFamily, error) { return slices.Collect(maps.Values(first.families)), nil }, now)
		for _, seconds := range []time.Duration{2, 12} {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", Path, nil)
			r.Header.Set("Accept", "text/plain")
			handler.ServeHTTP(w, r)
			require.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
			require.Equal(t, seconds*time.Second, time.Since(begun))
			require.Equal(t, NewReport(first, &Snapshot{now(), first.families}).Text(), w.Body.String())
			time.Sleep(10 * time.Second)
		}
	})
}
