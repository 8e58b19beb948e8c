//go:build unix

package drivers_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/db/dialect"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestMigrationWaitIsLogged: a wait for another process's migration is logged with that
// process, and ends when the lock is free or the context ends.
func TestMigrationWaitIsLogged(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		url := backend.BlankURL(t)
		holder := "host-17-0a"
		var release func()
		switch backend.Name {
		case "sqlite":
			path, _ := dialect.SQLiteFile(url)
			file, err := os.Create(path + ".lock")
			require.NoError(t, err)
			defer file.Close()
			_, err = file.WriteString("process 17\n")
			require.NoError(t, err)
			require.NoError(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
			holder, release = "process 17", func() { file.Close() }
		default:
			sql := backend.SQLAt(t, url)
			for _, statement := range []string{
				`CREATE TABLE goose_lock (lock_id bigint PRIMARY KEY, locked boolean NOT NULL, locked_at timestamptz, locked_by text, lease_expires_at timestamptz, updated_at timestamptz)`,
				`INSERT INTO goose_lock VALUES (4097083626, true, now(), 'host-17-0a', now() + interval '1 hour', now())`,
			} {
				_, err := sql.Exec(statement)
				require.NoError(t, err)
			}
			release = func() {
				_, err := sql.Exec(`UPDATE goose_lock SET locked = false`)
				require.NoError(t, err)
			}
		}
		open := func(ctx context.Context) (*testkit.LogBuffer, chan error) {
			log, done := &testkit.LogBuffer{}, make(chan error, 1)
			go func() {
				d, err := dbtest.OpenDB(ctx, db.Config{URL: url, Synchronous: "OFF", Log: slog.New(slog.NewTextHandler(log, nil))})
				if err == nil {
					err = d.Follow(ctx, db.Hooks{})
					_ = d.Close()
				}
				done <- err
			}()
			return log, done
		}
		impatient, stop := context.WithCancel(t.Context())
		log, done := open(t.Context())
		_, given := open(impatient)
		testkit.Eventually(t, true, func() bool {
			return strings.Contains(log.String(), "waiting for another process to migrate the database")
		})
		require.Contains(t, log.String(), holder)
		stop()
		require.ErrorIs(t, <-given, context.Canceled)
		release()
		require.NoError(t, <-done)
	})
}
