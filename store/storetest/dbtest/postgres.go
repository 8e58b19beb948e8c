package dbtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/db"
)

// sharedPostgres is the PostgreSQL server of this test process, which the first test that needs
// it starts: the server of PORTICO_TEST_POSTGRES, or else one from this machine's PostgreSQL
// programs.
var sharedPostgres postgres

// postgres is a server with a template, of which test databases are copies.
type postgres struct {
	once     sync.Once
	err      error    // of start
	address  *url.URL // of a database for administration
	admin    *sql.DB
	template string           // the database to copy
	contents templateContents // of the template
	reusable databasePool     // databases that equal the template
	strategy string           // the STRATEGY clause of CREATE DATABASE: copying files takes a third of the time
	created  atomic.Int64     // names that newName has made
	shutdown func()           // stops the server if start started it
}

// start makes the server ready once. The error says why there is none.
func (p *postgres) start() error {
	p.once.Do(func() {
		if p.err = p.connect(); p.err == nil {
			p.err = p.makeTemplate()
		}
		if p.err != nil {
			p.stop()
		}
	})
	return p.err
}

// connect opens the server of PORTICO_TEST_POSTGRES, or starts one.
func (p *postgres) connect() (err error) {
	address := os.Getenv("PORTICO_TEST_POSTGRES")
	if address == "" {
		if address, p.shutdown, err = startServer(); err != nil {
			return err
		}
	}
	if p.address, err = url.Parse(address); err != nil {
		return fmt.Errorf("PORTICO_TEST_POSTGRES must be a URL such as postgres://user@host/database")
	}
	if p.admin, err = sql.Open("pgx", address); err != nil {
		return err
	}
	var version int
	if err := p.admin.QueryRow(`SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return err
	}
	if version >= 15_00_00 { // older versions always copy files
		p.strategy = ` STRATEGY FILE_COPY`
	}
	return nil
}

// makeTemplate creates the database that all test databases are copies of.
func (p *postgres) makeTemplate() error {
	name := p.newName()
	if _, err := p.admin.Exec(`CREATE DATABASE ` + name); err != nil {
		return err
	}
	p.template = name
	if err := migrate("pgx", p.urlOf(name)); err != nil {
		return err
	}
	return p.recordTemplate()
}

// migrate creates the schema. Closing an SQLite store moves its WAL into the file. Codes match byte by
// byte, unlike in a new shop: many tests create codes that differ in case alone.
// Tests of the setting switch it on, and those of new shops use Backend.BlankURL.
func migrate(driver, address string) error {
	ctx := context.Background()
	s, err := OpenDB(ctx, db.Config{URL: address, Synchronous: "OFF"})
	if err != nil {
		return err
	}
	if err := errors.Join(s.Follow(ctx, db.Hooks{}), s.Close()); err != nil {
		return err
	}
	d, err := sql.Open(driver, address)
	if err != nil {
		return err
	}
	_, err = d.Exec(`UPDATE settings SET codes_ignore_case = FALSE`)
	return errors.Join(err, d.Close())
}

// newName returns a database name that no other test or process uses.
func (p *postgres) newName() string {
	return fmt.Sprintf("portico_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), p.created.Add(1))
}

func (p *postgres) urlOf(database string) string {
	address := *p.address
	address.Path = "/" + database
	return address.String()
}

// database creates a database for a test. One with the schema is a database that another test
// has finished with and that reset has emptied, or a copy of the template.
func (p *postgres) database(t testing.TB, schema bool) string {
	t.Helper()
	if !schema {
		name := p.create(t, "template1")
		t.Cleanup(func() { p.drop(t, name) })
		return p.urlOf(name)
	}
	name, ok := p.reusable.take()
	if !ok {
		name = p.create(t, p.template)
	}
	t.Cleanup(func() {
		if err := p.reset(name); err != nil {
			p.drop(t, name)
			return
		}
		p.reusable.add(name)
	})
	return p.urlOf(name)
}

func (p *postgres) create(t testing.TB, template string) (name string) {
	t.Helper()
	name = p.newName()
	_, err := p.admin.Exec(`CREATE DATABASE ` + name + ` TEMPLATE ` + template + p.strategy)
	require.NoError(t, err)
	return name
}

func (p *postgres) drop(t testing.TB, name string) {
	_, err := p.admin.Exec(`DROP DATABASE ` + name + ` WITH (FORCE)`)
	require.NoError(t, err)
}

// stop drops all databases and stops the server. It does nothing if there is none.
func (p *postgres) stop() {
	if p.template != "" && p.shutdown == nil {
		for name, ok := p.template, true; ok; name, ok = p.reusable.take() {
			_, _ = p.admin.Exec(`DROP DATABASE ` + name + ` WITH (FORCE)`)
		}
	}
	if p.admin != nil {
		_ = p.admin.Close()
	}
	if p.shutdown != nil {
		p.shutdown()
	}
}

// startServer runs a PostgreSQL server in a temporary directory, reachable only by a Unix
// socket. The server ends with this process at the latest.
func startServer() (address string, shutdown func(), err error) {
	initdb, server, err := findPostgres()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(serverRoot(), fmt.Sprintf("%s%d-", serverPrefix, os.Getpid()))
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	owner, err := unprivileged(dir)
	if err != nil {
		return "", nil, err
	}
	if err := copyCluster(initdb, dir, owner); err != nil {
		return "", nil, err
	}
	stop, ended, err := runServer(server, dir, owner)
	if err != nil {
		return "", nil, err
	}
	address = "postgres://postgres@/postgres?host=" + url.QueryEscape(dir)
	if err := awaitServer(address, ended); err != nil {
		stop()
		_ = os.RemoveAll(savedCluster(initdb)) // so that the next test process runs initdb
		return "", nil, fmt.Errorf("%s does not start: %w\n%s", server, err, serverLog(dir))
	}
	return address, func() { stop(); _ = os.RemoveAll(dir) }, nil
}

// findPostgres finds initdb and postgres in PATH, else the newest version in Debian's
// directory.
func findPostgres() (initdb, server string, err error) {
	if initdb, err = exec.LookPath("initdb"); err == nil {
		if server, err = exec.LookPath("postgres"); err == nil {
			return initdb, server, nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", "", errors.New("neither PATH nor /usr/lib/postgresql/*/bin has initdb and postgres (Debian: apt-get install postgresql), and PORTICO_TEST_POSTGRES is not set")
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(debianVersion(a), debianVersion(b)) })
	return newest, filepath.Join(filepath.Dir(newest), "postgres"), nil
}

// debianVersion returns the version in a path such as /usr/lib/postgresql/17/bin/initdb.
func debianVersion(path string) float64 {
	version, _ := strconv.ParseFloat(strings.Split(path, "/")[4], 64)
	return version
}

// serverRoot returns the directory for servers: in memory if there is space, because creating
// and deleting files is most of a server's work here. Else it is the temporary directory, or
// /tmp if that would make the path of a socket too long.
func serverRoot() string {
	if fitsInMemory("/dev/shm") {
		return "/dev/shm"
	}
	if len(os.TempDir()) > 60 {
		return "/tmp"
	}
	return os.TempDir()
}

// runServer starts the server. It closes ended when the server has exited.
func runServer(server, dir string, owner *credential) (stop func(), ended <-chan struct{}, err error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	command := exec.Command(server, "-D", filepath.Join(dir, "data"), "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
		"-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "wal_init_zero=off", "-c", "autovacuum=off",
		"-c", "jit=off", "-c", "max_connections=400", "-c", "shared_buffers=64MB")
	command.Dir, command.SysProcAttr = dir, processAttributes(owner)
	command.Stdout, command.Stderr = log, log
	started, finished := make(chan error), make(chan struct{})
	go func() {
		// Pdeathsig ends the server with the thread that started it, so keep this one.
		runtime.LockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait()
			close(finished)
		}
	}()
	if err := <-started; err != nil {
		return nil, nil, err
	}
	return func() {
		_ = command.Process.Signal(syscall.SIGQUIT) // immediate shutdown
		select {
		case <-finished:
		case <-time.After(20 * time.Second):
			_ = command.Process.Kill()
			<-finished
		}
	}, finished, nil
}

// awaitServer waits up to a minute until a server accepts connections. ended is closed if it exits.
func awaitServer(address string, ended <-chan struct{}) error {
	pool, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := pool.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the server exited")
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// serverLog returns the log of the server in a directory, for the message of a test.
func serverLog(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "log"))
	return string(text)
}
