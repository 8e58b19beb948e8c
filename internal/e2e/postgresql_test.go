package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

const postgresPage = "docs/postgresql.md"

// page is docs/postgresql.md, with the test's PostgreSQL servers instead of the
// hosts it names.
type page struct {
	*dbtest.Cluster
	standby *dbtest.Cluster
	folder  string
	bouncer string // port of PgBouncer
}

func (p *page) local(text string) string {
	return strings.NewReplacer(
		"db1.example:5432", "127.0.0.1:"+p.Port, "db2.example:5432", "127.0.0.1:"+p.standby.Port,
		"db.example port=5432", "127.0.0.1 port="+p.Port, "db.example:5432", "127.0.0.1:"+p.Port, "db.example", "127.0.0.1", "6432", p.bouncer,
	).Replace(regexp.MustCompile(`(?m)^portico `).ReplaceAllString(text, "./portico "))
}

var pageFences = regexp.MustCompile("(?s)```(sh|ini)\n(.*?)```")

// TestPostgreSQLPage runs every command of docs/postgresql.md in order, and
// checks that exports of the restored databases equal that of the shop.
func TestPostgreSQLPage(t *testing.T) {
	testkit.FullTestsOnly(t, "it starts PostgreSQL, a standby and many servers")
	for _, tool := range []string{"bash", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.SkipMissing(t, tool, "the page's commands need it")
		}
	}
	p := &page{Cluster: dbtest.NewCluster(t)}
	p.standby, p.folder, p.bouncer = p.Standby(t), p.TempDir(t), testkit.FreePort(t)
	t.Setenv("PGPORT", p.Port)
	t.Setenv("PORTICO_LINGER", "0s")
	t.Setenv("PATH", p.Bin+":"+os.Getenv("PATH"))
	require.NoError(t, os.Symlink(program, filepath.Join(p.folder, "portico")))
	text, err := os.ReadFile(postgresPage)
	require.NoError(t, err)
	ran, bouncing := 0, false
	for _, match := range pageFences.FindAllStringSubmatch(string(text), -1) {
		block := p.local(match[2])
		switch {
		case match[1] == "ini":
			p.configureBouncer(t, block)
			continue
		case strings.HasPrefix(block, "pgbouncer "):
			bouncing = p.startBouncer(t)
			continue
		case strings.Contains(block, ":"+p.bouncer+"/shop"):
			if !bouncing {
				continue
			}
			block = p.olderBouncer(t, block)
		}
		if export, rest, ok := strings.Cut(block, "\n"); ok && strings.HasPrefix(export, "export PORTICO_KEY_FILE=") {
			t.Setenv("PORTICO_KEY_FILE", strings.TrimSpace(runCommands(t, p.folder, environment(), export+"\necho $PORTICO_KEY_FILE")))
			block = rest
			mustRun(t, "import", demoShop, "--database-url", p.URL("portico", "shop"))
		}
		runServing(t, p.folder, block)
		ran++
	}
	require.GreaterOrEqual(t, ran, 8)
	for _, restored := range []string{"restored", "former"} {
		require.Equal(t, mustRun(t, "export", "-", "--database-url", p.URL("portico", "shop")),
			mustRun(t, "export", "-", "--database-url", p.URL("portico", restored)), restored)
	}
	p.failOver(t)
}

// failOver stops the first host of a two-host URL and promotes the standby, under a
// running server.
func (p *page) failOver(t *testing.T) {
	t.Helper()
	two := fmt.Sprintf("postgres://portico@127.0.0.1:%s,127.0.0.1:%s/shop?target_session_attrs=read-write", p.Port, p.standby.Port)
	s := startServer(t, "--database-url", two)
	client, token := s.client(t, "--database-url", two)
	require.NotEmpty(t, client)
	write := func() int {
		response, _ := s.send(t, "PUT", "/v2/gateways/card_processor",
			`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"p"}}`, "Authorization", "Bearer "+token)
		return response.StatusCode
	}
	require.Equal(t, http.StatusOK, write())
	testkit.Eventually(t, true, func() bool { return p.CaughtUp(t, p.standby) })
	p.Crash(t)
	require.Equal(t, http.StatusServiceUnavailable, write(), "the standby is still read-only")
	p.standby.Promote(t)
	testkit.Eventually(t, http.StatusOK, write)
	testkit.Eventually(t, http.StatusOK, func() int {
		response, _ := s.send(t, "GET", "/readyz", "")
		return response.StatusCode
	})
	response, body := s.send(t, "GET", "/v2/gateways/card_processor", "", "Authorization", "Bearer "+token)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, body, `"merchant_id":"m"`)
	require.Zero(t, s.stop())
}

var olderThanPrepared = regexp.MustCompile(`PgBouncer 1\.(\d|1\d|20)\.`)

// configureBouncer writes the page's configuration without the settings that an older PgBouncer
// does not know.
func (p *page) configureBouncer(t *testing.T, ini string) {
	t.Helper()
	if version, err := exec.Command("pgbouncer", "--version").Output(); err != nil || olderThanPrepared.Match(version) {
		ini = strings.ReplaceAll(ini, "max_prepared_statements = 200\n", "")
	}
	ini += "unix_socket_dir =\n" // no socket in a shared folder
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, "pgbouncer.ini"), []byte(ini), 0o644))
}

// startBouncer starts PgBouncer if it is installed.
func (p *page) startBouncer(t *testing.T) bool {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Log("PgBouncer is not installed, so that its part of the page is not run")
		return false
	}
	command := exec.Command(program, "pgbouncer.ini")
	p.RunAsOwner(command)
	var log strings.Builder
	command.Dir, command.Stderr = p.folder, &log
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		t.Log(log.String())
	})
	testkit.Eventually(t, true, func() bool { return testkit.IsListening(p.bouncer) })
	return true
}

// olderBouncer adds the URL parameters that the page documents for PgBouncer before 1.21.
func (p *page) olderBouncer(t *testing.T, block string) string {
	t.Helper()
	version, err := exec.Command("pgbouncer", "--version").Output()
	require.NoError(t, err)
	if !olderThanPrepared.Match(version) {
		return block
	}
	return strings.ReplaceAll(block, "/shop'", "/shop?default_query_exec_mode=exec'")
}
