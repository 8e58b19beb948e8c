package drivers_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db/dialect"
	"portico/store/db/drivers"
	"portico/store/storetest/dbtest"
)

// identityPools are pools of a PostgreSQL database whose pg_control_system, which tells the system identifier, returns an error
// with the code in the table refusal, if it has one.
type identityPools struct {
	dialect.Pools
	sql  *sql.DB // without the function
	mu   sync.Mutex
	seen map[string]bool // identities that connections have read
}

func (p *identityPools) run(t *testing.T, statement string) {
	_, err := p.sql.Exec(statement)
	require.NoError(t, err, statement)
}

func openIdentityPools(t *testing.T, backend dbtest.Backend) *identityPools {
	if backend.Name != "postgres" {
		t.Skip("a SQLite file has no system identifier")
	}
	url := backend.BlankURL(t)
	p := &identityPools{sql: backend.SQLAt(t, url), seen: map[string]bool{}}
	p.run(t, `CREATE TABLE refusal (code TEXT)`)
	p.run(t, `CREATE FUNCTION pg_control_system() RETURNS TABLE (system_identifier BIGINT) LANGUAGE plpgsql AS $$
		DECLARE refused TEXT;
		BEGIN
			PERFORM pg_advisory_xact_lock_shared(1);
			SELECT code INTO refused FROM refusal;
			IF FOUND THEN RAISE EXCEPTION 'refused' USING ERRCODE = refused; END IF;
			RETURN QUERY SELECT CAST(42 AS BIGINT);
		END $$`)
	own, err := drivers.Of(url)
	require.NoError(t, err)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	limit := time.Minute
	p.Pools, err = own.Open(t.Context(), dialect.Config{URL: url + separator + "search_path=public,pg_catalog", Readers: 4, TryLock: limit,
		Timeouts: store.Timeouts{Connection: limit, Read: limit, Write: limit, Lock: limit, Idle: limit},
		Identified: func(identity string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.seen[identity] = true
		}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Closer.Close()) })
	return p
}

// TestIdentityKeepsItsFormAfterTransientErrors requires that only an error that lasts takes the system identifier out of the
// identity: otherwise a server takes its database for another, and suspends all requests.
func TestIdentityKeepsItsFormAfterTransientErrors(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		p := openIdentityPools(t, backend)
		form := p.Identity()
		require.Contains(t, form, "pg_control_system")
		for _, code := range []string{"57014", "53200", "57P01", "XX000"} { // a timeout, out of memory, shutdown, a defect
			p.run(t, fmt.Sprintf(`INSERT INTO refusal VALUES ('%s')`, code))
			p.Reset()
			require.ErrorContains(t, p.Read.PingContext(t.Context()), code)
			require.Equal(t, form, p.Identity(), code)
			p.run(t, `DELETE FROM refusal`)
			require.NoError(t, p.Read.PingContext(t.Context()))
			require.Len(t, p.seen, 1, code)
		}
		for _, code := range []string{"42501", "42883", "42P01", "0A000"} { // no right, no function, no table, not supported
			p := openIdentityPools(t, backend)
			p.run(t, fmt.Sprintf(`INSERT INTO refusal VALUES ('%s')`, code))
			p.Reset()
			require.NoError(t, p.Read.PingContext(t.Context()), code)
			require.NotContains(t, p.Identity(), "pg_control_system", code)
		}
	})
}

// TestConnectionsFindTogetherThatIdentityIsRefused opens connections that all ask for the system identifier before the first is
// refused.
func TestConnectionsFindTogetherThatIdentityIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		p := openIdentityPools(t, backend)
		p.run(t, `INSERT INTO refusal VALUES ('42501')`)
		p.Reset()
		holder, err := p.sql.Conn(t.Context())
		require.NoError(t, err)
		defer holder.Close()
		_, err = holder.ExecContext(t.Context(), `SELECT pg_advisory_lock(1)`)
		require.NoError(t, err)
		const connections = 4
		results := make(chan error, connections)
		for range connections {
			go func() {
				conn, err := p.Read.Conn(t.Context())
				if err == nil {
					defer conn.Close()
				}
				results <- err
			}()
		}
		require.Eventually(t, func() bool {
			var waiting int
			err := holder.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting)
			return err == nil && waiting == connections
		}, time.Minute, time.Millisecond)
		_, err = holder.ExecContext(t.Context(), `SELECT pg_advisory_unlock(1)`)
		require.NoError(t, err)
		for range connections {
			require.NoError(t, <-results)
		}
	})
}
