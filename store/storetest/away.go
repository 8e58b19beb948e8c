package storetest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// databaseAway ends every session of the database while it is read and
// written. Only PostgreSQL has any.
func databaseAway(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		s, name := stocked(t, e, 0, "a"), nameOf(t, e)
		made, tried := 0, 0
		for range 20 {
			endSessions(t, name)
			for done := 0; done < 5; {
				tried++
				if err := increment(t.Context(), s, "a"); err != nil {
					requireFault(t, err, store.Unavailable, "")
					continue
				}
				made, done = made+1, done+1
				if _, err := s.Stocks(t.Context(), store.ListQuery{}); err != nil {
					requireFault(t, err, store.Unavailable, "")
				}
			}
		}
		require.GreaterOrEqual(t, available(t, s, "a"), made, "what was answered is written")
		require.LessOrEqual(t, available(t, s, "a"), tried, "and nothing twice")
		requireLedger(t, e.SQL(t))
	}
}

// databaseBarred lets nobody in for a while.
func databaseBarred(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		s, name := stocked(t, e, 0, "a"), nameOf(t, e)
		admit(t, name, "FALSE")
		endSessions(t, name)
		for range 10 {
			requireFault(t, increment(t.Context(), s, "a"), store.Unavailable, "", "try again")
			_, err := s.Stocks(t.Context(), store.ListQuery{})
			requireFault(t, err, store.Unavailable, "", "try again")
			require.True(t, store.HasCode(s.Ping(t.Context()), store.Unavailable))
		}
		admit(t, name, "TRUE")
		require.NoError(t, increment(t.Context(), s, "a"))
		require.Equal(t, 1, available(t, s, "a"))
	}
}

// Restore puts another database in the place of the test's, under whatever
// servers are connected to it, as one who restores a backup does. Only
// PostgreSQL lets that happen.
func Restore(t *testing.T, e Engine, from string) {
	t.Helper()
	onlyPostgres(t, e)
	address, err := url.Parse(from)
	require.NoError(t, err)
	name, source := nameOf(t, e), address.Path[1:]
	admit(t, name, "FALSE")
	for _, database := range []string{name, source} {
		endSessions(t, database)
	}
	for _, statement := range []string{`ALTER DATABASE ` + name + ` RENAME TO ` + name + `_gone`, `ALTER DATABASE ` + source + ` RENAME TO ` + name} {
		_, err := shared.admin.Exec(statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() { // each under its own name again
		endSessions(t, name)
		for _, statement := range []string{`ALTER DATABASE ` + name + ` RENAME TO ` + source, `ALTER DATABASE ` + name + `_gone RENAME TO ` + name} {
			_, err := shared.admin.Exec(statement)
			require.NoError(t, err)
		}
		admit(t, name, "TRUE")
	})
}

func onlyPostgres(t *testing.T, e Engine) {
	t.Helper()
	if e.Name != "postgres" {
		t.Skip("a file does not go away")
	}
}

// nameOf is the name of the test's database in its server.
func nameOf(t *testing.T, e Engine) string {
	t.Helper()
	address, err := url.Parse(e.URL(t))
	require.NoError(t, err)
	return address.Path[1:]
}

func admit(t *testing.T, database, allowed string) {
	t.Helper()
	_, err := shared.admin.Exec(`ALTER DATABASE ` + database + ` ALLOW_CONNECTIONS ` + allowed)
	require.NoError(t, err)
}

func endSessions(t *testing.T, database string) {
	t.Helper()
	_, err := shared.admin.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, database)
	require.NoError(t, err)
}

// SetReadOnly makes a database refuse writes, "on" or "off", and ends its
// sessions: it behaves as a standby does.
func SetReadOnly(t *testing.T, database, on string) {
	t.Helper()
	_, err := shared.admin.Exec(`ALTER DATABASE ` + database + ` SET default_transaction_read_only = ` + on)
	require.NoError(t, err)
	endSessions(t, database)
}
