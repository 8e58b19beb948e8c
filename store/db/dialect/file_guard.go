package dialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"portico/store"
)

// FileGuard detects that the SQLite file was moved, replaced or overwritten. The open file is no longer
// the database: its data would be stale, and writes to it would be lost. The server then
// stops serving and must be restarted, because rows, statements and keys of the old
// file are still in use. It is nil on PostgreSQL, where Check, IsReplaced and WhenReplaced find nothing.
type FileGuard struct {
	Path     string
	file     os.FileInfo   // nil until opened
	replaced chan struct{} // closed when Path names another file, or none, or the file was overwritten
	once     sync.Once

	database, logIndex *os.File // nil unless watched
	mu                 sync.Mutex
	last               fileState // when no process copied the log
}

// fileState is the header of the file, and how much of the write-ahead log was copied into it. SQLite changes the file only by such a copy.
type fileState struct {
	header [100]byte
	copied [16]byte // parts of the log's index: its format, the salts of the log, and the number of copied frames
}

func newFileGuard(path string) *FileGuard {
	return &FileGuard{Path: path, replaced: make(chan struct{})}
}

// remember records the file that Path names now.
func (g *FileGuard) remember() (err error) {
	g.file, err = os.Stat(g.Path)
	return err
}

// watch makes Check notice that the file of pool was overwritten. Call Close after the connections of this process are closed: SQLite
// loses its locks when the process closes any descriptor of the file.
func (g *FileGuard) watch(ctx context.Context, pool *sql.DB) (err error) {
	if runtime.GOOS == "windows" { // SQLite could not delete the index
		return nil
	}
	if _, err = pool.ExecContext(ctx, `PRAGMA wal_checkpoint(NOOP)`); err != nil { // creates the index of the log
		return err
	}
	if g.database, err = os.Open(g.Path); err == nil {
		g.logIndex, err = os.Open(g.Path + "-shm")
	}
	if _, settled := g.copiedLog(); err == nil && !settled { // after a crash, until the log is copied
		_, _ = pool.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	}
	return errors.Join(err, g.Check())
}

// Close ends watch.
func (g *FileGuard) Close() error {
	_, _ = g.database.Close(), g.logIndex.Close()
	return nil
}

// Check returns store.ErrFileReplaced if Path no longer names the open file, or if something other than SQLite wrote to the file.
func (g *FileGuard) Check() error {
	if g == nil || g.file == nil {
		return nil
	}
	if g.IsReplaced() {
		return store.ErrFileReplaced
	}
	file, err := os.Stat(g.Path)
	if errors.Is(err, os.ErrNotExist) || err == nil && (!os.SameFile(file, g.file) || g.isOverwritten()) {
		g.once.Do(func() { close(g.replaced) })
		return store.ErrFileReplaced
	}
	return nil // an error of stat is no proof
}

// isOverwritten reports whether the header changed although no process copied the log. It is false while a process copies.
func (g *FileGuard) isOverwritten() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, _ := g.copiedLog()
	var now fileState
	_, err := g.database.ReadAt(now.header[:], 0)
	var settled bool
	if now.copied, settled = g.copiedLog(); !settled || now.copied != before || err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	overwritten := g.last.copied == now.copied && g.last != now
	g.last = now
	return overwritten
}

// copiedLog reads the index of the log (https://sqlite.org/walformat.html). settled is false while a process copies the log, after it
// was killed meanwhile, and without watch.
func (g *FileGuard) copiedLog() (copied [16]byte, settled bool) {
	var index [132]byte
	_, err := g.logIndex.ReadAt(index[:], 0)
	frames, attempted := index[96:100], index[128:]
	return [16]byte(slices.Concat(index[12:16], index[32:40], frames)), err == nil && index[12] == 1 && slices.Equal(frames, attempted)
}

// DropLog empties the log of an overwritten file, and keeps a copy in PATH-wal.old. dropped is false if another file has the name.
func (g *FileGuard) DropLog() (dropped bool, err error) {
	if file, err := os.Stat(g.Path); err != nil || !os.SameFile(file, g.file) {
		return false, nil
	}
	log, err := os.ReadFile(g.Path + "-wal")
	if err == nil {
		err = os.WriteFile(g.Path+"-wal.old", log, 0o600)
	}
	if err == nil {
		err = os.Truncate(g.Path+"-wal", 0)
	}
	return true, err
}

// IsReplaced reports whether a check has failed. It does not look at the file.
func (g *FileGuard) IsReplaced() bool {
	if g == nil {
		return false
	}
	select {
	case <-g.replaced:
		return true
	default:
		return false
	}
}

// WhenReplaced returns a channel that is closed when a check fails.
func (g *FileGuard) WhenReplaced() <-chan struct{} {
	if g == nil {
		return nil
	}
	return g.replaced
}

// guardedConnector refuses new connections once the file was replaced. The old and the new file
// share the name of the write-ahead log, so mixing them would corrupt both.
type guardedConnector struct {
	driver.Connector
	guard *FileGuard
}

func (c guardedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.guard.Check(); err != nil {
		return nil, err
	}
	return c.Connector.Connect(ctx)
}
