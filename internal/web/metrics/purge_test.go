package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/web/metrics"
	"portico/store/storetest/testkit"
)

func TestPurgeMetrics(t *testing.T) {
	t.Parallel()
	scrape := func(m *metrics.Metrics) string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metrics.Path, nil))
		require.Equal(t, http.StatusOK, w.Code)
		return w.Body.String()
	}
	m, log := metrics.New(auth.ClientID), &testkit.LogBuffer{}
	var failure error
	count := m.RegisterPurges(slog.New(slog.NewTextHandler(log, nil)), func(context.Context) (int, time.Duration, error) {
		return 3, 1500 * time.Millisecond, failure
	}, "ok", "error")
	count("error")
	for _, line := range []string{`portico_purge_calls_total{outcome="ok"} 0`, `portico_purge_calls_total{outcome="error"} 1`, "portico_purge_pending 3",
		"portico_purge_oldest_seconds 1.5"} {
		require.Contains(t, scrape(m), line+"\n")
	}
	failure = errors.New("away")
	require.NotContains(t, scrape(m), "portico_purge_pending ")
	require.Contains(t, log.String(), "error=away")

	without := metrics.New(auth.ClientID)
	without.RegisterPurges(slog.New(slog.DiscardHandler), nil, "ok", "error")
	require.True(t, strings.Contains(scrape(without), "portico_purge_pending 0\n"))
}
