package drivers_test

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db/dialect"
	"portico/store/db/drivers"
)

// openGuarded opens a file with a table.
func openGuarded(t *testing.T, path string) dialect.Pools {
	t.Helper()
	url := "file:" + path
	engine, err := drivers.Of(url)
	require.NoError(t, err)
	pools, err := engine.Open(t.Context(), dialect.Config{URL: url, Synchronous: "OFF", LogPages: 300,
		Check: func(context.Context, dialect.Reader) error { return nil }})
	require.NoError(t, err)
	t.Cleanup(func() { pools.Closer.Close() })
	run(t, pools.Write, `CREATE TABLE IF NOT EXISTS line (text BLOB)`)
	return pools
}

func run(t *testing.T, pool *sql.DB, statement string) {
	t.Helper()
	_, err := pool.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

// TestFileGuardKnowsCheckpoints: no write and no checkpoint, of either of two processes, is taken for a foreign change of the file.
// The pools of the other process are those of this process, with locks of their own.
func TestFileGuardKnowsCheckpoints(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	pools, other := openGuarded(t, path), openGuarded(t, path)
	var work sync.WaitGroup
	done := make(chan struct{})
	for _, guard := range []*dialect.FileGuard{pools.FileGuard, other.FileGuard} {
		for range 2 {
			work.Go(func() {
				for checks := 0; ; checks++ {
					if err := guard.Check(); err != nil {
						t.Errorf("check %d: %v", checks, err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
	}
	var writers sync.WaitGroup
	for i, p := range []dialect.Pools{pools, other} {
		writers.Go(func() {
			for n := range 400 {
				if _, err := p.Write.Exec(`INSERT INTO line VALUES (randomblob($1))`, 3000*(n%7)); err != nil {
					t.Error(err)
				}
				if n%50 == 49 {
					_, _ = p.Write.Exec(`DELETE FROM line WHERE rowid % 3 = 0`)
				}
				if n%(20+i) == 0 {
					_, _ = p.Checkpoints.Exec(`PRAGMA wal_checkpoint(` + []string{"PASSIVE", "TRUNCATE", "RESTART"}[n%3] + `)`)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	work.Wait()
	run(t, pools.Write, `PRAGMA wal_checkpoint(TRUNCATE)`)
	require.NoError(t, pools.FileGuard.Check())
	require.NoError(t, other.FileGuard.Check())
	require.NoError(t, os.WriteFile(path, []byte("another"), 0o600))
	require.ErrorIs(t, pools.FileGuard.Check(), store.ErrFileReplaced)
	require.ErrorIs(t, other.FileGuard.Check(), store.ErrFileReplaced)
}

// TestFileGuardFindsOverwrite copies an older database over the file, in each state of the log: empty, with frames, copied in part, copied
// whole, being copied, and recovered after a crash.
func TestFileGuardFindsOverwrite(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*testing.T, dialect.Pools){
		"the log is empty":   func(t *testing.T, p dialect.Pools) { run(t, p.Write, `PRAGMA wal_checkpoint(TRUNCATE)`) },
		"the log has frames": func(*testing.T, dialect.Pools) {},
		"the log is copied":  func(t *testing.T, p dialect.Pools) { run(t, p.Write, `PRAGMA wal_checkpoint(PASSIVE)`) },
		"a process copies the log": func(t *testing.T, p dialect.Pools) {
			index, err := os.OpenFile(p.FileGuard.Path+"-shm", os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = index.WriteAt([]byte{9, 9, 9, 9}, 128) // the frames that it will have copied
			require.NoError(t, err)
			require.NoError(t, index.Close())
		},
		"the log starts again":   func(t *testing.T, p dialect.Pools) { run(t, p.Write, `PRAGMA wal_checkpoint(RESTART)`); fill(t, p, 1) },
		"the log is copied once": func(t *testing.T, p dialect.Pools) { run(t, p.Write, `PRAGMA wal_checkpoint(PASSIVE)`); fill(t, p, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path, old := filepath.Join(folder, "shop.db"), filepath.Join(folder, "old.db")
			pools := openGuarded(t, path)
			fill(t, pools, 5)
			run(t, pools.Write, `VACUUM INTO '`+old+`'`)
			fill(t, pools, 20)
			prepare(t, pools)
			require.NoError(t, pools.FileGuard.Check())
			content, err := os.ReadFile(old)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, content, 0o600))
			require.ErrorIs(t, pools.FileGuard.Check(), store.ErrFileReplaced)
			require.True(t, pools.FileGuard.IsReplaced())
			dropped, err := pools.FileGuard.DropLog()
			require.NoError(t, err)
			require.True(t, dropped)
			require.NoError(t, pools.Closer.Close())
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(content, now), "the log of the former database is not copied into the file")
		})
	}
	t.Run("a crash", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		path, crashed := filepath.Join(folder, "shop.db"), filepath.Join(folder, "crashed.db")
		pools := openGuarded(t, path)
		fill(t, pools, 20)
		for _, suffix := range []string{"", "-wal"} { // as a crash leaves them
			content, err := os.ReadFile(path + suffix)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(crashed+suffix, content, 0o600))
		}
		again := openGuarded(t, crashed)
		require.NoError(t, os.WriteFile(crashed, []byte("another"), 0o600))
		require.ErrorIs(t, again.FileGuard.Check(), store.ErrFileReplaced)
	})
}

// fill writes rows.
func fill(t *testing.T, pools dialect.Pools, rows int) {
	t.Helper()
	for range rows {
		run(t, pools.Write, `INSERT INTO line VALUES (randomblob(9000))`)
	}
}
