package dbtest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// PostgresOnly skips a test that applies only to PostgreSQL.
func (backend Backend) PostgresOnly(t *testing.T) {
	t.Helper()
	if backend.Name != "postgres" {
		t.Skip("applies only to PostgreSQL")
	}
}

// DatabaseName returns the name of the test's PostgreSQL database.
func (backend Backend) DatabaseName(t *testing.T) string {
	t.Helper()
	address, err := url.Parse(backend.URL(t))
	require.NoError(t, err)
	return address.Path[1:]
}

// ReplaceDatabase puts another database in the place of the test's, while servers are connected
// to it, as restoring a backup does. It skips the test on SQLite.
func (backend Backend) ReplaceDatabase(t *testing.T, from string) {
	t.Helper()
	backend.PostgresOnly(t)
	address, err := url.Parse(from)
	require.NoError(t, err)
	name, source := backend.DatabaseName(t), address.Path[1:]
	AllowConnections(t, name, "FALSE")
	for _, database := range []string{name, source} {
		EndSessions(t, database)
	}
	for _, statement := range []string{`ALTER DATABASE ` + name + ` RENAME TO ` + name + `_gone`, `ALTER DATABASE ` + source + ` RENAME TO ` + name} {
		_, err := sharedPostgres.admin.Exec(statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() { // restores the names; the servers that are still open must not connect meanwhile
		AllowConnections(t, name, "FALSE")
		EndSessions(t, name)
		for _, statement := range []string{`ALTER DATABASE ` + name + ` RENAME TO ` + source, `ALTER DATABASE ` + name + `_gone RENAME TO ` + name} {
			_, err := sharedPostgres.admin.Exec(statement)
			require.NoError(t, err)
		}
		AllowConnections(t, name, "TRUE")
		AllowConnections(t, source, "TRUE")
	})
}

// AllowConnections makes a PostgreSQL database accept connections ("TRUE") or refuse them
// ("FALSE").
func AllowConnections(t *testing.T, database, allowed string) {
	t.Helper()
	_, err := sharedPostgres.admin.Exec(`ALTER DATABASE ` + database + ` ALLOW_CONNECTIONS ` + allowed)
	require.NoError(t, err)
}

// EndSessions ends all sessions of a PostgreSQL database.
func EndSessions(t *testing.T, database string) {
	t.Helper()
	_, err := sharedPostgres.admin.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, database)
	require.NoError(t, err)
}

// SetReadOnly makes a PostgreSQL database refuse writes ("on") or accept them ("off"), and ends
// its sessions. Refusing, it behaves like a standby.
func SetReadOnly(t *testing.T, database, on string) {
	t.Helper()
	_, err := sharedPostgres.admin.Exec(`ALTER DATABASE ` + database + ` SET default_transaction_read_only = ` + on)
	require.NoError(t, err)
	EndSessions(t, database)
}
