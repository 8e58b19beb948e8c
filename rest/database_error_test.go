package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// databaseErrors makes a PostgreSQL database fail every read of a promotion or a job with the
// SQLSTATE in the table refusal, if it has one.
var databaseErrors = []string{
	`CREATE TABLE refusal (code TEXT)`,
	`CREATE FUNCTION refused() RETURNS BOOLEAN LANGUAGE plpgsql AS $$
	DECLARE planted TEXT;
	BEGIN
	    SELECT code INTO planted FROM refusal;
	    IF planted IS NOT NULL THEN RAISE EXCEPTION 'planted' USING ERRCODE = planted; END IF;
	    RETURN FALSE;
	END $$`,
	`ALTER TABLE promotion RENAME TO promotion_behind`,
	`CREATE VIEW promotion AS SELECT * FROM promotion_behind WHERE NOT refused()`,
	`ALTER TABLE job RENAME TO job_behind`,
	`CREATE VIEW job AS SELECT * FROM job_behind WHERE NOT refused()`,
}

// TestDatabaseErrorsAreUnavailable requires UNAVAILABLE and Retry-After from every API when the
// database rejects a statement.
func TestDatabaseErrorsAreUnavailable(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name != "postgres" {
			t.Skip("the SQLSTATEs are PostgreSQL's")
		}
		s, db := openShop(t, e, shopFile()), e.SQL(t)
		task, err := s.store.Publisher.PublishLater(t.Context(), "test", "main", true)
		require.NoError(t, err)
		for _, statement := range databaseErrors {
			_, err := db.Exec(statement)
			require.NoError(t, err)
		}
		requests := []struct {
			method, path, body, accept string
			status                     int
			writes                     bool
		}{
			{"GET", "/v2/promotions/ten-off", "", "", http.StatusServiceUnavailable, false},
			{"DELETE", "/v2/promotions/ten-off", "", "", http.StatusServiceUnavailable, true},
			{"POST", "/graphql", `{"query":"{ promotions { nodes { name } } settings { currency } }"}`, "", http.StatusOK, false},
			{"POST", "/graphql", `{"query":"mutation { promotionDelete(input: {id: \"ten-off\"}) { userErrors { message } } }"}`, "",
				http.StatusOK, true},
			{"POST", "/graphql", `{"query":"subscription { jobProgress(id: \"` + task.ID + `\") { state } }"}`, "text/event-stream",
				http.StatusOK, false},
		}
		for code, of := range map[string]struct {
			says     string
			conflict bool // a write returns CONFLICT
		}{
			"57014": {says: "took too long"}, "25P03": {says: "took too long"}, "25P04": {says: "took too long"},
			"25006": {says: "is read-only"}, "53100": {says: "is read-only"},
			"53300": {says: "is not responding"}, "57P01": {says: "is not responding"}, "57P03": {says: "is not responding"},
			"08006": {says: "is not responding"},
			"40001": {says: "is not responding", conflict: true}, // a standby canceled a query
		} {
			_, err := db.Exec(`INSERT INTO refusal VALUES ($1)`, code)
			require.NoError(t, err)
			for _, req := range requests {
				if req.writes && of.conflict {
					continue
				}
				w := s.send(t, req.method, req.path, req.body, "Accept", req.accept)
				require.Equal(t, req.status, w.Code, "%s: %s %s returns %s", code, req.method, req.path, w.Body)
				require.Contains(t, w.Body.String(), of.says, "%s: %s %s", code, req.method, req.path)
				if req.path == "/graphql" {
					require.Contains(t, w.Body.String(), `"code":"UNAVAILABLE"`, code)
				}
				if req.accept == "" { // a stream sends no header later
					require.Equal(t, "1", w.Header().Get("Retry-After"), "%s: %s %s", code, req.method, req.path)
				}
			}
			_, err = db.Exec(`DELETE FROM refusal`)
			require.NoError(t, err)
		}
		require.Equal(t, 200, s.send(t, "GET", "/v2/promotions/ten-off", "").Code, "nothing was written")
	})
}
