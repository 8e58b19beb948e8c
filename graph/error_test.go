package graph_test

import (
	"database/sql"
	"encoding/binary"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/release/segment"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const internal = "An internal error has occurred."

// requireRedacted requires that an internal error reveals nothing of the server.
func requireRedacted(t *testing.T, a *graphtest.Response, query string) {
	t.Helper()
	requireFailure(t, a, query, store.Internal, internal)
}

func requireFailure(t *testing.T, a *graphtest.Response, query string, code store.Code, message string) {
	t.Helper()
	require.NotEmpty(t, a.Errors, "%s answers %s", query, a.Body)
	for _, e := range a.Errors {
		require.Equal(t, code, e.Extensions.Code, "%s answers %s", query, a.Body)
		require.Equal(t, message, e.Message)
	}
	for _, secret := range []string{"SELECT", "select", "release_", "no such column", "does not exist", "panic", "goroutine", ".go", "nil pointer", "damaged", "document"} {
		require.NotContains(t, a.Body.String(), secret, query)
	}
}

func TestDamagedDatabaseIsAnInternalError(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for table, column := range map[string]string{"release_list": "total", "release_file": "body", "stock_transaction": "action", "stock": "available", "release_block": "body"} {
			_, err := e.SQL(t).Exec("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO damaged")
			require.NoError(t, err)
		}
		for _, query := range []string{
			`{ products { totalCount } }`,
			`{ product(by: {id: "anvil"}) { name } }`,
			`{ node(id: ` + global("File", "photo-1") + `) { id } }`,
			`{ stock(productId: "anvil") { total } }`,
			`{ stocks { totalCount } }`,
			`mutation { stockTransact(input: {changes: [{productId: "anvil", action: SET, quantity: 1}]}) { userErrors { message } } }`,
		} {
			if e.Name == "postgres" { // where a restore may be under way
				requireFailure(t, s.Post(t, query, nil), query, store.Unavailable, "The database is being replaced or restored. Retry in a moment.")
				continue
			}
			requireRedacted(t, s.Post(t, query, nil), query)
		}
		if e.Name == "postgres" {
			return
		}
		require.Contains(t, s.Log.String(), "a resolver failed")
		require.Equal(t, 6, strings.Count(s.Log.String(), "level=ERROR"), "each is logged once:\n%s", s.Log)
	})
}

// A stored document that does not decode panics in a field, and in a batch for all siblings.
func TestPanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	elsewhere := &testkit.LogBuffer{}
	log.SetOutput(elsewhere)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		for _, query := range []string{
			`{ products { nodes { name } } }`,
			`{ products { nodes { children { uuid } } } }`,
			`{ products { nodes { files { file { uuid } } } } }`,
			`{ products { nodes { catalogNodes { uuid } } } }`,
			`{ stocks { nodes { product { componentProducts { uuid } } } } }`,
		} {
			t.Run(query, func(t *testing.T) {
				graphtest.Open(t, e, graphtest.Shop())
				damageDocuments(t, e.SQL(t))
				s := graphtest.Serve(e.Open(t)) // the other server may have read blocks before
				requireRedacted(t, s.Post(t, query, nil), query)
				require.Contains(t, s.Log.String(), "is damaged", "the log holds the cause")
				requireRedacted(t, s.Post(t, query, nil), query+" again")
			})
		}
	})
	require.Empty(t, strings.Split(elsewhere.String(), "\n")[0], "there is one log, and it knows the request")
}

// damageDocuments writes documents that do not decode into all blocks.
func damageDocuments(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("SELECT id, body FROM release_block")
	require.NoError(t, err)
	defer rows.Close()
	bodies := map[int64][]byte{}
	for rows.Next() {
		var id int64
		var body []byte
		require.NoError(t, rows.Scan(&id, &body))
		bodies[id] = body
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, bodies)
	var damaged []byte
	for range segment.BlockProducts {
		damaged = segment.AppendText(damaged, "{damaged\n,")
	}
	for id, body := range bodies {
		length, at := binary.Uvarint(body) // of what all languages share
		body = segment.AppendText(segment.AppendText(body[:at+int(length)], ""), string(s2.Encode(nil, damaged)))
		_, err := db.Exec("UPDATE release_block SET body = $1 WHERE id = $2", body, id)
		require.NoError(t, err)
	}
}

// Without a store every resolver panics.
func TestEveryRootFieldSurvivesAPanic(t *testing.T) {
	t.Parallel()
	for name, query := range rootFields() {
		if name == "Query.stockLocations" {
			continue // it reads nothing that could be missing
		}
		t.Run(name, func(t *testing.T) {
			s := graphtest.Serve(nil)
			requireRedacted(t, s.Post(t, query, nil), query)
			require.Contains(t, s.Log.String(), "panic in a resolver")
		})
	}
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		require.NoError(t, s.Store.Close())
		for range 20 { // it may be a matter of luck
			for _, query := range []string{
				`{ stocks { totalCount } }`,
				`mutation { settingsUpdate(input: {pageLength: 3}) { userErrors { message } } }`,
			} {
				a := postInTime(t, s, query)
				require.Equal(t, http.StatusOK, a.Code)
				require.Equal(t, []store.Code{store.Unavailable}, a.Codes(), "%s answers %s", query, a.Body)
				require.Contains(t, a.Errors[0].Message, "Retry in a moment")
			}
		}
	})
}

// postInTime sends a query and fails the test if no response comes in time.
func postInTime(t *testing.T, s *graphtest.Service, query string) *graphtest.Response {
	t.Helper()
	done := make(chan *graphtest.Response, 1)
	go func() { done <- s.Post(t, query, nil) }()
	select {
	case a := <-done:
		return a
	case <-time.After(20 * time.Second):
		require.FailNow(t, "there is no answer", query)
		return nil
	}
}

func TestFieldErrorsHaveAPath(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		a := s.Post(t, `{ one: stock(productId: "anvil") { total } two: catalogNode(by: {id: "tools"}) { name children { nodes { deep: products(first: 0) { totalCount } } } } }`, nil)
		require.Equal(t, unprocessable, a.Codes())
		require.Equal(t, []any{"two", "children", "nodes", 0.0, "deep"}, a.Errors[0].Path)
		require.JSONEq(t, `{"one":{"total":9},"two":null}`, string(a.Data), "null as far up as the schema demands")
	})
}
