// Package storetest is the conformance suite that every engine of the store
// passes, and what tests elsewhere need to run against real databases: the
// engines, a clock, and seeds.
package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"portico/store"
	"portico/store/seal"
	"portico/store/shop"
)

// Main runs a package's tests, then stops the PostgreSQL they used:
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
func Main(m *testing.M) {
	defer sharedPostgres.stop()
	setTestFlags()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		fmt.Fprintln(os.Stderr, "storetest: given up on", <-interrupted)
		sharedPostgres.stop()
		os.Exit(1)
	}()
	m.Run() // testing exits with its code once Main has returned
}

// APIMain is Main for what stands above the store, which tells the engines
// not apart: in the short form its tests run on SQLite alone.
func APIMain(m *testing.M) {
	sqliteOnly = true
	Main(m)
}

var sqliteOnly bool

// EachBackend runs test on every engine, side by side, as the subtests "sqlite" and
// "postgres". The latter is skipped where PostgreSQL cannot be had (Require).
func EachBackend(t *testing.T, test func(t *testing.T, e Backend)) {
	t.Helper()
	eachBackend(t, test, (*testing.T).Parallel)
}

// EachBackendSerial is Each for tests that measure the whole process: nothing else
// runs meanwhile, as long as the test itself is not parallel.
func EachBackendSerial(t *testing.T, test func(t *testing.T, e Backend)) {
	t.Helper()
	eachBackend(t, test, func(*testing.T) {})
}

func eachBackend(t *testing.T, test func(t *testing.T, e Backend), begin func(*testing.T)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		begin(t)
		test(t, newBackend("sqlite", sqliteDatabase))
	})
	t.Run("postgres", func(t *testing.T) {
		begin(t)
		if sqliteOnly {
			FullTestsOnly(t, "it stands above the store, whose own tests run on both engines")
		}
		err := sharedPostgres.start()
		if err != nil && os.Getenv("PORTICO_TEST_POSTGRES") != "" {
			t.Fatalf("PORTICO_TEST_POSTGRES: %v", err)
		}
		if err != nil {
			SkipMissing(t, "postgres", err.Error())
		}
		test(t, newBackend("postgres", sharedPostgres.database))
	})
}

// EachBackendBenchmark is Each for benchmarks; PostgreSQL is passed over where it cannot
// be had.
func EachBackendBenchmark(b *testing.B, bench func(b *testing.B, e Backend)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, newBackend("sqlite", sqliteDatabase)) })
	b.Run("postgres", func(b *testing.B) {
		if err := sharedPostgres.start(); err != nil {
			SkipMissing(b, "postgres", err.Error())
		}
		bench(b, newBackend("postgres", sharedPostgres.database))
	})
}

// SkipMissing gives up a test that needs something this machine has not. It skips
// the test, or fails it when PORTICO_REQUIRE, a list with commas, holds name:
// "postgres", "chromium", "node", "graphiql", "genqlient", "modules", "root".
func SkipMissing(t testing.TB, name, reason string) {
	t.Helper()
	for required := range strings.SplitSeq(os.Getenv("PORTICO_REQUIRE"), ",") {
		if strings.TrimSpace(required) == name {
			t.Fatalf("PORTICO_REQUIRE asks for %s, which cannot be had: %s", name, reason)
		}
	}
	t.Skipf("skipped for want of %s: %s", name, reason)
}

// Backend makes databases. Each test and each subtest has one of its own, made
// when it first asks and gone when it ends; asking again in the same test
// gives the same one.
type Backend struct {
	Name string // "sqlite" or "postgres"

	create      func(t testing.TB, schema bool) (url string)
	databases   *sync.Map // testing.TB to URL
	connections *sync.Map // a test and a URL to *sql.DB
	stockCache  bool      // stores keep stock in memory
}

func newBackend(name string, create func(testing.TB, bool) string) Backend {
	return Backend{Name: name, create: create, databases: &sync.Map{}, connections: &sync.Map{}}
}

// URL is the address of the test's database, which has the schema and no
// rows. A second store can be opened on it.
func (e Backend) URL(t testing.TB) string {
	t.Helper()
	if url, ok := e.databases.Load(t); ok {
		return url.(string)
	}
	url := e.create(t, true)
	e.databases.Store(t, url)
	t.Cleanup(func() { e.databases.Delete(t) })
	return url
}

// OtherURL is the address of one more database with the schema and no rows.
func (e Backend) OtherURL(t testing.TB) string {
	t.Helper()
	return e.create(t, true)
}

// BlankURL is the address of a new database without a schema.
func (e Backend) BlankURL(t testing.TB) string {
	t.Helper()
	return e.create(t, false)
}

// NewSealer seals with a key that is all of one byte.
func NewSealer(t testing.TB, fill byte) *seal.Sealer {
	t.Helper()
	sealer, err := seal.New(bytes.Repeat([]byte{fill}, seal.KeySize))
	require.NoError(t, err)
	return sealer
}

// Open opens a store on the test's database, until the test ends. Writes do
// not wait for the disk unless an option says so.
func (e Backend) Open(t testing.TB, options ...func(*shop.Config)) *shop.Store {
	t.Helper()
	config := shop.Config{URL: e.URL(t), Synchronous: "OFF", Sealer: NewSealer(t, 'k'), Patience: testPatience}
	if e.stockCache {
		config.StockBytes = 1 << 24
	}
	for _, option := range options {
		option(&config)
	}
	s, err := shop.Open(context.Background(), config)
	require.NoError(t, err)
	RefreshStock(t, s)
	t.Cleanup(func() { _ = s.Close() }) // a test that cares has closed it
	return s
}

// testPatience is how long a test's store waits: many tests share the machine, and
// what a server does when it has waited for long has tests of its own.
var testPatience = store.Patience{Connection: time.Minute, Read: time.Minute, Write: 2 * time.Minute, Lock: time.Minute, Idle: 30 * time.Second}

// SQL opens the test's database behind the store's back.
func (e Backend) SQL(t testing.TB) *sql.DB {
	t.Helper()
	return e.SQLAt(t, e.URL(t))
}

// SQLAt opens any database of the engine, once a test: one that asks in a loop
// would else keep a connection of each turn, until PostgreSQL has no more.
func (e Backend) SQLAt(t testing.TB, url string) *sql.DB {
	t.Helper()
	type place struct {
		t   testing.TB
		url string
	}
	key := place{t, url}
	if db, ok := e.connections.Load(key); ok {
		return db.(*sql.DB)
	}
	driver := "pgx"
	if e.Name == "sqlite" {
		driver, url = "sqlite", url+"?_pragma=busy_timeout(60000)"
	}
	db, err := sql.Open(driver, url)
	require.NoError(t, err)
	e.connections.Store(key, db)
	t.Cleanup(func() { e.connections.Delete(key); _ = db.Close() })
	return db
}

// sqliteDatabase is a file of the test's own. One with the schema is a copy of
// a database that is migrated once in a test process: making each anew took
// most of a short test's time.
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

// sqliteTemplate is the file of an SQLite database with the schema and no rows.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	directory, err := os.MkdirTemp("", "portico-template-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	path := filepath.Join(directory, "portico.db")
	if err := migrate("file:" + path); err != nil { // closing it empties the log into the file
		return nil, err
	}
	return os.ReadFile(path)
})

// migrate gives a database its schema.
func migrate(url string) error {
	s, err := shop.Open(context.Background(), shop.Config{URL: url, Synchronous: "OFF"})
	if err != nil {
		return err
	}
	return s.Close()
}
