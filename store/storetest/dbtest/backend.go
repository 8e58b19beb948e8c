// Package dbtest runs tests on SQLite and PostgreSQL databases that have the schema and no rows. Its main types are Backend, which
// creates databases, and Cluster, a PostgreSQL server of one test. It must not import a package above store/db. Only tests import it.
package dbtest

import (
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// Main runs a package's tests, then stops the PostgreSQL server that they used:
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
func Main(m *testing.M) {
	defer sharedPostgres.stop()
	testkit.SetFlags()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		fmt.Fprintln(os.Stderr, "dbtest: stopped by", <-interrupted)
		sharedPostgres.stop()
		os.Exit(1)
	}()
	m.Run() // testing exits with its code after Main returns
}

// SQLiteMain is Main for packages whose quick tests run on SQLite only. The full tests run on
// both databases.
func SQLiteMain(m *testing.M) {
	sqliteOnly = true
	Main(m)
}

// sqliteOnly is set by SQLiteMain.
var sqliteOnly bool

// EachBackend runs test on each database in parallel, as the subtests "sqlite" and "postgres".
// It skips "postgres" if this machine has no PostgreSQL (SkipMissing).
func EachBackend(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	eachBackend(t, test, (*testing.T).Parallel, !sqliteOnly)
}

// EachBackendInQuickTests is EachBackend for tests that are about PostgreSQL as much as about SQLite, in a package with SQLiteMain:
// the quick tests run them on both.
func EachBackendInQuickTests(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	eachBackend(t, test, (*testing.T).Parallel, true)
}

// EachBackendSerial is EachBackend for tests that measure the whole process. Nothing else runs
// meanwhile if the test itself is not parallel.
func EachBackendSerial(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	eachBackend(t, test, func(*testing.T) {}, !sqliteOnly)
}

// eachBackend is EachBackend, whose subtests call begin first. If withPostgres is false, only the full tests run on PostgreSQL.
func eachBackend(t *testing.T, test func(t *testing.T, backend Backend), begin func(*testing.T), withPostgres bool) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		begin(t)
		test(t, newBackend("sqlite", sqliteDatabase))
	})
	t.Run("postgres", func(t *testing.T) {
		begin(t)
		if !withPostgres {
			testkit.FullTestsOnly(t, "the quick tests of this package run on SQLite")
		}
		err := sharedPostgres.start()
		if err != nil && os.Getenv("PORTICO_TEST_POSTGRES") != "" {
			t.Fatalf("PORTICO_TEST_POSTGRES: %v", err)
		}
		if err != nil {
			testkit.SkipMissing(t, "postgres", err.Error())
		}
		test(t, newBackend("postgres", sharedPostgres.database))
	})
}

// EachBackendBenchmark is EachBackend for benchmarks.
func EachBackendBenchmark(b *testing.B, bench func(b *testing.B, backend Backend)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, newBackend("sqlite", sqliteDatabase)) })
	b.Run("postgres", func(b *testing.B) {
		if err := sharedPostgres.start(); err != nil {
			testkit.SkipMissing(b, "postgres", err.Error())
		}
		bench(b, newBackend("postgres", sharedPostgres.database))
	})
}

// FullTestsOnlyOnPostgres skips a slow test on PostgreSQL unless the full tests run.
func (backend Backend) FullTestsOnlyOnPostgres(t testing.TB) {
	t.Helper()
	if backend.Name != "sqlite" {
		testkit.FullTestsOnly(t, "the quick tests run it on SQLite")
	}
}

// Backend creates databases of one kind. Each test and subtest has its own database. URL
// creates it on first use and removes it when the test ends.
type Backend struct {
	Name string // "sqlite" or "postgres"

	create      func(t testing.TB, schema bool) (url string) // with or without the schema
	databases   *sync.Map                                    // testing.TB to URL
	connections *sync.Map                                    // databaseKey to *sql.DB
}

func newBackend(name string, create func(testing.TB, bool) string) Backend {
	return Backend{Name: name, create: create, databases: &sync.Map{}, connections: &sync.Map{}}
}

// URL returns the address of the test's database, which has the schema and no rows. Several
// stores can open it.
func (backend Backend) URL(t testing.TB) string {
	t.Helper()
	if url, ok := backend.databases.Load(t); ok {
		return url.(string)
	}
	url := backend.create(t, true)
	backend.databases.Store(t, url)
	t.Cleanup(func() { backend.databases.Delete(t) })
	return url
}

// OtherURL creates another database with the schema and no rows.
func (backend Backend) OtherURL(t testing.TB) string {
	t.Helper()
	return backend.create(t, true)
}

// BlankURL creates a database without a schema.
func (backend Backend) BlankURL(t testing.TB) string {
	t.Helper()
	return backend.create(t, false)
}

// SQL opens the test's database without the store.
func (backend Backend) SQL(t testing.TB) *sql.DB {
	t.Helper()
	return backend.SQLAt(t, backend.URL(t))
}

// databaseKey is a database that a test has opened without the store.
type databaseKey struct {
	t   testing.TB
	url string
}

// SQLAt opens any database of this kind. Calls of one test share a connection pool per URL, so
// that a loop does not use up PostgreSQL's connections.
func (backend Backend) SQLAt(t testing.TB, url string) *sql.DB {
	t.Helper()
	key := databaseKey{t, url}
	if db, ok := backend.connections.Load(key); ok {
		return db.(*sql.DB)
	}
	driver := "pgx"
	if backend.Name == "sqlite" {
		driver, url = "sqlite", url+"?_pragma=busy_timeout(60000)"
	}
	db, err := sql.Open(driver, url)
	require.NoError(t, err)
	backend.connections.Store(key, db)
	t.Cleanup(func() { backend.connections.Delete(key); _ = db.Close() })
	return db
}

// sqliteDatabase creates a database file. One with the schema is a copy of sqliteTemplate,
// because migrating each took most of a quick test's time.
func sqliteDatabase(t testing.TB, schema bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "portico.db")
	if schema {
		migrated, err := sqliteTemplate()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, migrated, 0o600))
	}
	return "file:" + path
}

// sqliteTemplate returns the file of an SQLite database with the schema and no rows.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	directory, err := os.MkdirTemp("", "portico-template-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	path := filepath.Join(directory, "portico.db")
	if err := migrate("sqlite", "file:"+path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
