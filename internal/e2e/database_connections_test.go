package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestExhaustedDatabaseConnections blocks the only read connection of a server. Requests get 503 with
// Retry-After, /healthz stays 200, /readyz returns 503 with the reason, and the server recovers.
func TestExhaustedDatabaseConnections(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "takes all connections of a server")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name == "sqlite" {
			t.Skip("SQLite has no table locks")
		}
		o := openDemo(t, e.URL(t))
		_, token := o.issue(t)
		s := o.serve(t, "--readers", "1", "--database-wait", "1s", "--read-time", "1m")
		ask := func() (status int, again, body string) {
			response, body := s.send(t, "GET", "/v2/promotions", "", "Authorization", "Bearer "+token)
			return response.StatusCode, response.Header.Get("Retry-After"), body
		}
		status, _, body := ask()
		require.Equal(t, 200, status, body)

		holder, err := e.SQL(t).Begin()
		require.NoError(t, err)
		defer func() { _ = holder.Rollback() }()
		_, err = holder.Exec(`LOCK TABLE promotion IN ACCESS EXCLUSIVE MODE`)
		require.NoError(t, err)
		answered := make(chan int, 1)
		go func() { status, _, _ := ask(); answered <- status }()
		testkit.Eventually(t, 1, func() (waiting int) {
			require.NoError(t, e.SQL(t).QueryRow(`
				SELECT COUNT(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%OFFSET%' -- sweeps wait too, by a connection of their own`).Scan(&waiting))
			return waiting
		}, "the request holds the connection")
		status, again, body := ask()
		require.Equal(t, 503, status, "no connection left")
		require.NotEmpty(t, again)
		require.Contains(t, body, `"status":503`)
		response, body := s.send(t, "GET", "/healthz", "")
		require.Equal(t, 200, response.StatusCode, body)
		response, body = s.send(t, "GET", "/readyz", "")
		require.Equal(t, 503, response.StatusCode, body)
		require.Contains(t, body, "The database is not responding")

		require.NoError(t, holder.Rollback())
		select {
		case status := <-answered:
			require.Equal(t, 200, status, "the blocked request succeeds")
		case <-time.After(time.Minute):
			t.Fatal("the blocked request still waits")
		}
		status, _, body = ask()
		require.Equal(t, 200, status, body)
		response, body = s.send(t, "GET", "/readyz", "")
		require.Equal(t, 200, response.StatusCode, body)
	})
}
