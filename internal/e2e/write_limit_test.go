package e2e

import (
	"database/sql"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const (
	americanoSold = `{"data":{"type":"stock-transaction","action":"decrement","quantity":1}}`
	americanoSell = `mutation { stockTransact(input: {changes: [{productId: "prod-americano", action: DECREMENT, quantity: 1}]}) { userErrors { message } } }`
)

// blockStockWrites blocks all writes of stock in the database until release.
func blockStockWrites(t *testing.T, e storetest.Backend) (release func()) {
	t.Helper()
	conn, err := e.SQL(t).Conn(t.Context())
	require.NoError(t, err)
	do := func(command string) {
		_, err := conn.ExecContext(t.Context(), command)
		require.NoError(t, err)
	}
	if e.Name == "sqlite" {
		do(`BEGIN IMMEDIATE`)
		return func() {
			do(`ROLLBACK`)
			if err := conn.Close(); err != nil {
				require.ErrorIs(t, err, sql.ErrConnDone)
			}
		}
	}
	// A write that waits for a lock would release its slot, so this one sleeps.
	do(`CREATE TABLE held AS SELECT 1 AS one`)
	do(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN WHILE EXISTS (SELECT 1 FROM held) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END'`)
	do(`CREATE TRIGGER hold BEFORE INSERT ON stock_transaction FOR EACH ROW EXECUTE FUNCTION hold()`)
	return func() {
		do(`DELETE FROM held`)
		require.NoError(t, conn.Close())
	}
}

// TestWritesAboveTheLimitAreRefused blocks writes up to the limit. Both APIs and streams must
// refuse further ones, while reads work.
func TestWritesAboveTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		o := openDemo(t, e.URL(t))
		_, token := o.issue(t, "inventory:read", "inventory:write", "catalog:read")
		s := o.serve(t, "--requests", "1", "--requests-waiting", "1", "--request-wait", "20ms", "--lock-time", "50s", "--write-time", "50s",
			"--idle-write-time", "50s", "--admin-addr", "127.0.0.1:0")
		headers := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
		release := blockStockWrites(t, e)
		first := make(chan int, 1)
		go func() {
			response, _ := s.send(t, "POST", "/v2/inventories/prod-americano/transactions", americanoSold, headers...)
			first <- response.StatusCode
		}()
		testkit.Eventually(t, 1.0, func() float64 { return s.metric(t, `portico_requests_in_work{kind="write"}`) })
		for range 3 {
			response, body := s.send(t, "POST", "/v2/inventories/prod-americano/transactions", americanoSold, headers...)
			begins(t, `{"errors":[{"status":%d,`, http.StatusServiceUnavailable, response, body)
			require.Equal(t, "1", response.Header.Get("Retry-After"))
			require.Contains(t, body, "The server is overloaded")
			response, body = s.graphql(t, token, americanoSell)
			begins(t, `{"errors":[{"message":`, http.StatusServiceUnavailable, response, body)
			require.Equal(t, "1", response.Header.Get("Retry-After"))
			require.Contains(t, body, `"code":"UNAVAILABLE"`)
			response, body = s.graphql(t, token, `{ stock(productId: "prod-americano") { available } }`)
			require.Equal(t, 200, response.StatusCode, body)
			require.Contains(t, body, `"available":400`)
			require.Equal(t, 200, s.reads(t, token))
		}
		socket := s.open(t, bearing(token))
		subscribe(t, socket, "1", americanoSell)
		require.Contains(t, string(hear(t, socket).Payload), `"code":"UNAVAILABLE"`)
		require.Equal(t, "complete", hear(t, socket).Type)
		subscribe(t, socket, "2", `{ __typename }`)
		require.JSONEq(t, `{"data":{"__typename":"Query"}}`, string(hear(t, socket).Payload))
		response, _ := s.send(t, "GET", "/readyz", "")
		require.Equal(t, 200, response.StatusCode)
		require.GreaterOrEqual(t, s.metric(t, `portico_requests_refused_total{kind="write"}`), 7.0)
		require.Zero(t, s.metric(t, `portico_requests_refused_total{kind="read"}`))

		release()
		require.Equal(t, 201, <-first)
		require.Zero(t, s.metric(t, `portico_requests_in_work{kind="write"}`))
		_, body := s.graphql(t, token, `{ stock(productId: "prod-americano") { available } }`)
		require.Contains(t, body, `"available":399`, "what was refused was not done")
	})
}

func TestInvalidConcurrencyFlags(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--requests=-1", "--requests-waiting=-1", "--requests-expensive=-1", "--request-wait=-1s",
		"--subscriptions-address=-1"} {
		code, _, stderr := portico(t, "serve", flag)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "must be 0 or more")
	}
}
