package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// mountSmall mounts a tmpfs of a size in MiB on a folder, which needs root.
func mountSmall(t *testing.T, folder string, size int) {
	t.Helper()
	if os.Getuid() != 0 {
		testkit.SkipMissing(t, "root", "only root can mount a small disk")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=755", size), "portico-test",
		folder).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %s", out)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", "--lazy", folder).Run()) })
}

// TestCommandsNameTheFullDisk: a backup to a full disk names its target, and doctor finds the full disk of a database, as /readyz does.
func TestCommandsNameTheFullDisk(t *testing.T) {
	t.Parallel()
	target, disk := t.TempDir(), t.TempDir()
	mountSmall(t, target, 1)
	mountSmall(t, disk, 16)
	flags := []string{"--database-url", "file:" + filepath.Join(disk, "portico.db")}
	mustRun(t, append([]string{"import", demoShop}, flags...)...)
	require.NoError(t, os.WriteFile(filepath.Join(target, "filler"), make([]byte, 512<<10), 0o600))
	file := filepath.Join(target, "shop.backup")
	code, _, stderr := portico(t, append([]string{"backup", file}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "the disk of "+file+" is full. Free some space, then run the command again")
	left, err := os.ReadDir(target)
	require.NoError(t, err)
	require.Len(t, left, 1, "the filler")

	s := startServer(t, append(flags, "--admin-addr", "127.0.0.1:0")...)
	ready := func() string {
		_, body := (&serverProcess{url: s.admin}).send(t, "GET", "/readyz", "")
		return body
	}
	require.Contains(t, mustRun(t, append([]string{"doctor"}, flags...)...), "0 errors")
	require.NotContains(t, ready(), "writes fail")
	filler, err := os.Create(filepath.Join(disk, "filler"))
	require.NoError(t, err)
	t.Cleanup(func() { filler.Close() })
	_, err = filler.Write(make([]byte, 16<<20))
	require.ErrorIs(t, err, syscall.ENOSPC)
	code, stdout, _ := portico(t, append([]string{"doctor"}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "error: The disk of the database has space. Not for 1, for example writes fail.\n    Free space on the disk")
	require.Contains(t, ready(), "writes fail: the database's disk is full")
	require.NoError(t, filler.Truncate(0))
	require.NotContains(t, ready(), "writes fail", "there is room again")
}

// TestFullDisk fills the disk: writes get an error that says so, reads work, acknowledged writes
// stay, and writes work again once there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestFailedWrites counts writes that fail")
	const filler = 4 << 20
	survives := func(t *testing.T, disk, url string, db func() *sql.DB) {
		t.Helper()
		o := openDemo(t, url)
		o.importLines(t, springPromotion)
		_, token := o.issue(t)
		s := o.serve(t, "--admin-addr", "127.0.0.1:0")
		admin := &serverProcess{url: s.admin}
		full := filepath.Join(disk, "filler")
		require.NoError(t, os.WriteFile(full, make([]byte, filler), 0o600))
		headers := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
		written := 0
		write := func(n int) (*http.Response, string) {
			var codes []string
			for i := range 1000 {
				codes = append(codes, fmt.Sprintf(`{"code":"%s-%d-%d"}`, strings.Repeat("X", 48), n, i))
			}
			return s.send(t, "POST", "/v2/promotions/spring/codes", `{"data":{"type":"promotion_codes","codes":[`+strings.Join(codes, ",")+`]}}`,
				headers...)
		}
		count := func() (n int) {
			require.NoError(t, db().QueryRow(`SELECT COUNT(*) FROM promotion_code WHERE code LIKE 'X%'`).Scan(&n))
			return n
		}
		try := 0
		for ; try < 1000; try++ {
			response, body := write(try)
			if response.StatusCode < 300 {
				written++
				continue
			}
			begins(t, `{"errors":[{"status":%d,`, http.StatusServiceUnavailable, response, body)
			require.NotEmpty(t, response.Header.Get("Retry-After"))
			break
		}
		require.Positive(t, written)
		for range 5 {
			response, body := write(try)
			require.Equal(t, http.StatusServiceUnavailable, response.StatusCode, body)
			require.Equal(t, 200, s.reads(t, token))
			response, body = s.graphql(t, token, `{ product(by: {sku: "COF-AME"}) { stock { available } } }`)
			require.Equal(t, 200, response.StatusCode, body)
			require.Contains(t, body, `"available":400`)
		}
		require.Equal(t, written*1000, count(), "acknowledged writes only")
		testkit.Eventually(t, true, func() bool { return s.logs(store.ErrDiskFull.Error()) }, "the log says why")
		reports := func(metric string) bool {
			_, body := admin.send(t, "GET", "/metrics", "")
			return strings.Contains(body, metric)
		}
		require.False(t, reports(`portico_database_failed_writes_total{cause="full"} 0`))
		require.True(t, reports(`portico_database_failed_writes_total{cause="read_only"} 0`))
		_, body := admin.send(t, "GET", "/status", "")
		require.Contains(t, body, "writes failed since the start: the disk of the database is full.")
		response, body := admin.send(t, "GET", "/readyz", "")
		require.Equal(t, 200, response.StatusCode, "reads work")
		require.Contains(t, body, "writes fail: the database's disk is full")
		require.NoError(t, os.Remove(full))
		testkit.Eventually(t, true, func() bool {
			response, body := write(try)
			if response.StatusCode != http.StatusServiceUnavailable {
				require.Less(t, response.StatusCode, 300, body)
				return true
			}
			return false
		}, "there is room again")
		require.Equal(t, (written+1)*1000, count())
		require.Zero(t, s.stop())
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		disk := t.TempDir()
		mountSmall(t, disk, 16)
		url := "file:" + filepath.Join(disk, "portico.db")
		survives(t, disk, url, func() *sql.DB {
			db, err := sql.Open("sqlite", url+"?mode=ro")
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			return db
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		testkit.FullTestsOnly(t, "it starts PostgreSQL")
		c := dbtest.NewCluster(t)
		disk := c.TempDir(t)
		mountSmall(t, disk, 48)
		admin, err := sql.Open("pgx", c.URL("postgres", "postgres"))
		require.NoError(t, err)
		t.Cleanup(func() { admin.Close() })
		var data string
		require.NoError(t, admin.QueryRow(`SHOW data_directory`).Scan(&data))
		owner, err := os.Stat(data)
		require.NoError(t, err)
		tables := filepath.Join(disk, "tables")
		require.NoError(t, os.Mkdir(tables, 0o700))
		of := owner.Sys().(*syscall.Stat_t)
		require.NoError(t, os.Chown(tables, int(of.Uid), int(of.Gid)))
		for _, command := range []string{`CREATE TABLESPACE small LOCATION '` + tables + `'`, `CREATE DATABASE shop TABLESPACE small`} {
			_, err = admin.Exec(command)
			require.NoError(t, err)
		}
		url := c.URL("postgres", "shop")
		survives(t, disk, url, func() *sql.DB {
			db, err := sql.Open("pgx", url)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			return db
		})
	})
}
