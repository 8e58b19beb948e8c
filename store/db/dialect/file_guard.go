package dialect

import (
	"bytes"
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
	last               fileState
}

// fileState is the header of the file, and how far SQLite has copied the write-ahead log into the file, which it changes only so.
type fileState struct {
	header [100]byte
	copied [16]byte // zero while a process copies
}

// NewFileGuard returns a guard that finds nothing until Remember.
func NewFileGuard(path string) *FileGuard {
	return &FileGuard{Path: path, replaced: make(chan struct{})}
}

// Remember records the file that Path names now.
func (g *FileGuard) Remember() (err error) {
	g.file, err = os.Stat(g.Path)
	return err
}

// Watch makes Check notice that the file of pool was overwritten. Close files after the connections of this process: SQLite loses its
// locks when the process closes any descriptor of the file. It copies the log, which has an index then, and none that a crash left.
func (g *FileGuard) Watch(ctx context.Context, pool *sql.DB) (files []io.Closer, err error) {
	if runtime.GOOS == "windows" { // SQLite could not delete the index
		return nil, nil
	}
	_, _ = pool.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	if g.database, err = os.Open(g.Path); err == nil {
		g.logIndex, err = os.Open(g.Path + "-shm")
	}
	return []io.Closer{g.database, g.logIndex}, errors.Join(err, g.Check())
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

// isOverwritten reports whether the header changed although no process copied the log. While a process copies, only a header that
// SQLite cannot have written there counts: not of a file with a write-ahead log (2 at offset 18), or with a lower change counter.
func (g *FileGuard) isOverwritten() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, last := fileState{copied: g.copiedLog()}, g.last
	_, err := g.database.ReadAt(now.header[:], 0)
	switch {
	case g.logIndex == nil || err != nil && !errors.Is(err, io.EOF):
		return false
	case now.header[18] != 2 || bytes.Compare(now.header[24:28], last.header[24:28]) < 0:
		return true
	case now.copied == [16]byte{} || now.copied != g.copiedLog():
		return false
	}
	g.last = now
	return last.copied == now.copied && last != now
}

// copiedLog returns what identifies the log and its copied part, from the index of the log (https://sqlite.org/walformat.html): the
// format, the salts and the number of copied frames. It is zero if a process copies, or was killed meanwhile, and without Watch.
func (g *FileGuard) copiedLog() (copied [16]byte) {
	var index [132]byte
	if _, err := g.logIndex.ReadAt(index[:], 0); err == nil && [4]byte(index[96:]) == [4]byte(index[128:]) {
		copied = [16]byte(slices.Concat(index[12:16], index[32:40], index[96:100]))
	}
	return copied
}

// DropLog empties the log of an overwritten file, and keeps a copy in PATH-wal.old. dropped is false if another file has the name.
func (g *FileGuard) DropLog() (dropped bool, err error) {
	if file, err := os.Stat(g.Path); err != nil || !os.SameFile(file, g.file) {
		return false, nil
	}
	log, err := os.ReadFile(g.Path + "-wal")
	if err == nil && len(log) > 0 { // else another process was first
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

// Connector returns a connector that refuses new connections once the file was replaced.
func (g *FileGuard) Connector(connector driver.Connector) driver.Connector {
	return guardedConnector{connector, g}
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
