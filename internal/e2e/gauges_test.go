package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestDatabaseMetrics(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		writer := openDemo(t, e.URL(t))
		_, err := writer.Publisher.PublishLater(t.Context(), "test", "catalog-coffee", true) // no worker runs yet
		require.NoError(t, err)
		open, err := writer.Gauges(t.Context())
		require.NoError(t, err)
		require.Len(t, open.Jobs, 1)
		require.Equal(t, []any{"catalog_publish", "queued", 1}, []any{open.Jobs[0].Kind, open.Jobs[0].State, open.Jobs[0].Count})
		require.Len(t, open.Catalogs, 1)

		s := writer.serve(t, "--admin-addr", "127.0.0.1:0")
		response, _ := s.send(t, "GET", "/debug/pprof/goroutine?debug=1", "")
		require.Equal(t, http.StatusNotFound, response.StatusCode, "profiles on the admin address only")
		s.url = s.admin
		_, text := s.send(t, "GET", "/metrics", "")
		for _, line := range []string{
			`portico_database_up 1`, `portico_database_connections_max{pool="read"} `, `portico_database_connections_in_use{pool="write"} `,
			`portico_database_connection_waits_total{pool="read"} `, `portico_catalog_served_age_seconds{catalog="` + open.Catalogs[0].ID + `"} `,
			`portico_build_info{engine="`,
		} {
			require.Contains(t, text, "\n"+line)
		}
		testkit.Eventually(t, true, func() bool {
			_, now := s.send(t, "GET", "/metrics", "")
			return !strings.Contains(now, "\nportico_jobs{")
		})
		var body string
		response, body = s.send(t, "GET", "/debug/pprof/goroutine?debug=1", "")
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Contains(t, body, "goroutine profile: total ")
		require.Zero(t, s.stop())
	})
}
