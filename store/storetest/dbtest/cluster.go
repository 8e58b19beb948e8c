package dbtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// Cluster is a PostgreSQL server of one test. It listens on TCP on this machine, trusts
// everyone and can have standbys.
type Cluster struct {
	Port string
	Bin  string // directory of PostgreSQL's programs

	dir     string
	owner   *credential
	process *exec.Cmd
}

// NewCluster starts a server and stops it when the test ends. It skips the test if this machine
// has no PostgreSQL (SkipMissing).
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	initdb, server, err := findPostgres()
	if err != nil {
		testkit.SkipMissing(t, "postgres", err.Error())
	}
	server, err = filepath.EvalSymlinks(server) // the directory of its other programs
	require.NoError(t, err)
	c := newCluster(t, filepath.Dir(server))
	require.NoError(t, makeCluster(initdb, c.dir, c.owner))
	c.Start(t)
	return c
}

// newCluster returns a cluster with an empty directory.
func newCluster(t testing.TB, bin string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp(serverRoot(), fmt.Sprintf("%s%d-", serverPrefix, os.Getpid()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	owner, err := unprivileged(dir)
	require.NoError(t, err)
	return &Cluster{Port: testkit.FreePort(t), Bin: bin, dir: dir, owner: owner}
}

// Start starts the server, for the first time or again.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	require.NoError(t, err)
	defer log.Close()
	c.process = c.Command("postgres", "-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-p", c.Port, "-c", "listen_addresses=127.0.0.1",
		"-c", "fsync=off", "-c", "wal_level=replica", "-c", "shared_buffers=32MB")
	c.process.Stdout, c.process.Stderr = log, log
	require.NoError(t, c.process.Start())
	ended, running := make(chan struct{}), c.process
	go func() { _ = running.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = running.Process.Signal(syscall.SIGQUIT)
		<-ended
	})
	require.NoError(t, awaitServer(c.URL("postgres", "postgres"), ended), "%s", serverLog(c.dir))
}

// Command prepares one of PostgreSQL's programs to run as the server's user.
func (c *Cluster) Command(program string, args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(c.Bin, program), args...)
	command.Dir = c.dir
	c.RunAsOwner(command)
	return command
}

// RunAsOwner makes a command run as the server's user, who is never root.
func (c *Cluster) RunAsOwner(command *exec.Cmd) { command.SysProcAttr = processAttributes(c.owner) }

// TempDir creates an empty directory that the server's user can read.
func (c *Cluster) TempDir(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp(c.dir, "test-*")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(folder, 0o755))
	return folder
}

// URL returns the address of a database for a user.
func (c *Cluster) URL(user, database string) string {
	return "postgres://" + user + "@127.0.0.1:" + c.Port + "/" + database
}

// Standby starts a server that replicates this one.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	s := newCluster(t, c.Bin)
	out, err := s.Command("pg_basebackup", "--pgdata="+filepath.Join(s.dir, "data"), "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"--dbname="+c.URL("postgres", "postgres")).CombinedOutput()
	require.NoError(t, err, string(out))
	s.Start(t)
	return s
}

// Promote makes a standby a primary and waits until it accepts writes.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	out, err := c.Command("pg_ctl", "promote", "--wait", "--pgdata="+filepath.Join(c.dir, "data")).CombinedOutput()
	require.NoError(t, err, string(out))
}

// Crash ends the server at once, without a checkpoint.
func (c *Cluster) Crash(t testing.TB) {
	t.Helper()
	require.NoError(t, c.process.Process.Signal(syscall.SIGQUIT))
	deadline := time.Now().Add(testkit.WaitTimeout)
	for testkit.IsListening(c.Port) {
		require.True(t, time.Now().Before(deadline), "the server is still running")
		time.Sleep(10 * time.Millisecond)
	}
}

// CaughtUp reports whether a standby has replayed all that the server has written.
func (c *Cluster) CaughtUp(t testing.TB, standby *Cluster) bool {
	t.Helper()
	at := c.Query(t, `SELECT pg_current_wal_lsn()`)
	return standby.Query(t, `SELECT pg_last_wal_replay_lsn() >= '`+at+`'::pg_lsn`) == "t"
}

// Query runs a statement in the database postgres and returns its rows as text.
func (c *Cluster) Query(t testing.TB, statement string) string {
	t.Helper()
	out, err := c.Command("psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command="+statement, c.URL("postgres", "postgres")).Output()
	require.NoError(t, err, statement)
	return strings.TrimSpace(string(out))
}
