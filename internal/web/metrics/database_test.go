package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web/metrics"
)

// TestSlowStatementMetrics requires slow statements by name, also while the database does not respond.
func TestSlowStatementMetrics(t *testing.T) {
	t.Parallel()
	m := metrics.New(func(context.Context) string { return "" })
	m.RegisterDatabase(slog.New(slog.DiscardHandler), func(context.Context) (metrics.DatabaseStats, error) {
		return metrics.DatabaseStats{SlowStatements: map[string]int64{"SELECT product": 3}}, errors.New("it does not respond")
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metrics.Path, nil))
	require.Contains(t, w.Body.String(), "\n"+`portico_database_slow_statements_total{statement="SELECT product"} 3`+"\n")
}
