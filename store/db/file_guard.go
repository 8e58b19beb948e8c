package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"sync"

	"portico/store"
)

// fileGuard detects that the SQLite file was moved or replaced. The open file stays the
// old one: its data would be stale, and writes to it would be lost. The server then
// stops serving and must be restarted, because rows, statements and keys of the old
// file are still in use. It is nil on PostgreSQL.
type fileGuard struct {
	path     string
	file     os.FileInfo   // nil until opened
	replaced chan struct{} // closed when path names another file, or none
	once     sync.Once
}

func newFileGuard(path string) *fileGuard {
	return &fileGuard{path: path, replaced: make(chan struct{})}
}

// remember records the file that path names now.
func (p *fileGuard) remember() (err error) {
	p.file, err = os.Stat(p.path)
	return err
}

// check returns store.ErrFileReplaced if path no longer names the open file.
func (p *fileGuard) check() error {
	if p == nil || p.file == nil {
		return nil
	}
	if p.isReplaced() {
		return store.ErrFileReplaced
	}
	file, err := os.Stat(p.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(file, p.file) {
		p.once.Do(func() { close(p.replaced) })
		return store.ErrFileReplaced
	}
	return nil // an error of stat is no proof
}

func (p *fileGuard) isReplaced() bool { return p != nil && isClosed(p.replaced) }

// whenReplaced returns a channel that is closed when a check fails.
func (p *fileGuard) whenReplaced() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.replaced
}

// guardedConnector refuses new connections once the file was replaced. The old and the new file
// share the name of the write-ahead log, so mixing them would corrupt both.
type guardedConnector struct {
	driver.Connector
	guard *fileGuard
}

func (c guardedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.guard.check(); err != nil {
		return nil, err
	}
	return c.Connector.Connect(ctx)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
