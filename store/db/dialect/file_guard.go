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
// file are still in use. It is nil on PostgreSQL.
type FileGuard struct {
	Path     string
	file     os.FileInfo   // nil until opened
	replaced chan struct{} // closed when path names another file, or none
	once     sync.Once
}

func newFileGuard(path string) *FileGuard {
	return &FileGuard{Path: path, replaced: make(chan struct{})}
}

// remember records the file that path names now.
func (p *FileGuard) remember() (err error) {
	p.file, err = os.Stat(p.Path)
	return err
}

// Check returns store.ErrFileReplaced if path no longer names the open file.
func (p *FileGuard) Check() error {
	if p == nil || p.file == nil {
		return nil
	}
	if p.IsReplaced() {
		return store.ErrFileReplaced
	}
	file, err := os.Stat(p.Path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(file, p.file) {
		p.once.Do(func() { close(p.replaced) })
		return store.ErrFileReplaced
	}
	return nil // an error of stat is no proof
}

func (p *FileGuard) IsReplaced() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.replaced:
		return true
	default:
		return false
	}
}

// WhenReplaced returns a channel that is closed when a check fails.
func (p *FileGuard) WhenReplaced() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.replaced
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
