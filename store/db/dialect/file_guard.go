package dialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"sync"

	"portico/store"
)

// FileGuard detects that the SQLite file was moved or replaced. The open file stays the
// old one: its data would be stale, and writes to it would be lost. The server then
// stops serving and must be restarted, because rows, statements and keys of the old
// file are still in use. It is nil on PostgreSQL, where Check, IsReplaced and WhenReplaced find nothing.
type FileGuard struct {
	Path     string
	file     os.FileInfo   // nil until opened
	replaced chan struct{} // closed when Path names another file, or none
	once     sync.Once
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

// Check returns store.ErrFileReplaced if Path no longer names the open file.
func (g *FileGuard) Check() error {
	if g == nil || g.file == nil {
		return nil
	}
	if g.IsReplaced() {
		return store.ErrFileReplaced
	}
	file, err := os.Stat(g.Path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(file, g.file) {
		g.once.Do(func() { close(g.replaced) })
		return store.ErrFileReplaced
	}
	return nil // an error of stat is no proof
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
