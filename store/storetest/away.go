package storetest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// ReplaceDatabase puts another database in the place of the test's, under whatever
// servers are connected to it, as one who restores a backup does. Only
// PostgreSQL lets that happen.
func ReplaceDatabase(t *testing.T, e Backend, from string) {
	t.Helper()
	PostgresOnly(t, e)
	address, err := url.Parse(from)
	require.NoError(t, err)
	name, source := DatabaseName(t, e), address.Path[1:]
	AllowConnections(t, name, "FALSE")
	for _, database := range []string{name, source} {
		EndSessions(t, database)
	}
	for _, statement := range []string{`ALTER DATABASE ` + name + ` RENAME TO ` + name + `_gone`, `ALTER DATABASE ` + source + ` RENAME TO ` + name} {
		_, err := sharedPostgres.admin.Exec(statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() { // each under its own name again
		EndSessions(t, name)
		for _, statement := range []string{`ALTER DATABASE ` + name + ` RENAME TO ` + source, `ALTER DATABASE ` + name + `_gone RENAME TO ` + name} {
			_, err := sharedPostgres.admin.Exec(statement)
			require.NoError(t, err)
		}
		AllowConnections(t, name, "TRUE")
	})
}

func PostgresOnly(t *testing.T, e Backend) {
	t.Helper()
	if e.Name != "postgres" {
		t.Skip("a file does not go away")
	}
}

// nameOf is the name of the test's database in its server.
func DatabaseName(t *testing.T, e Backend) string {
	t.Helper()
	address, err := url.Parse(e.URL(t))
	require.NoError(t, err)
	return address.Path[1:]
}

func AllowConnections(t *testing.T, database, allowed string) {
	t.Helper()
	_, err := sharedPostgres.admin.Exec(`ALTER DATABASE ` + database + ` ALLOW_CONNECTIONS ` + allowed)
	require.NoError(t, err)
}

func EndSessions(t *testing.T, database string) {
	t.Helper()
	_, err := sharedPostgres.admin.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, database)
	require.NoError(t, err)
}

// SetReadOnly makes a database refuse writes, "on" or "off", and ends its
// sessions: it behaves as a standby does.
func SetReadOnly(t *testing.T, database, on string) {
	t.Helper()
	_, err := sharedPostgres.admin.Exec(`ALTER DATABASE ` + database + ` SET default_transaction_read_only = ` + on)
	require.NoError(t, err)
	EndSessions(t, database)
}
