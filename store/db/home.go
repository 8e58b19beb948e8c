package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"sync"
	"time"

	"portico/store"
)

// home is where a SQLite database was opened: a name, and the file that had
// it. An open file stays what it was when another is put under its name. What
// is read of it then is the former database, and what is written is lost with
// it. So a store whose name was taken answers nothing any more. It is not
// opened anew beneath those who hold rows, statements and keys of the former
// one: a process that starts again holds none. nil for an engine without files.
type home struct {
	path string
	file os.FileInfo   // nil until it is opened
	left chan struct{} // closed when the name is another file's, or nobody's
	once sync.Once
}

func newHome(path string) *home { return &home{path: path, left: make(chan struct{})} }

// remember takes note of the file that has the name now.
func (p *home) remember() (err error) {
	p.file, err = os.Stat(p.path)
	return err
}

// check looks whether the name is still that of the file that is open.
func (p *home) check() error {
	if p == nil || p.file == nil {
		return nil
	}
	if p.isLeft() {
		return store.ErrLeft
	}
	file, err := os.Stat(p.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(file, p.file) {
		p.once.Do(func() { close(p.left) })
		return store.ErrLeft
	}
	return nil // what cannot be looked at was not replaced
}

func (p *home) isLeft() bool { return p != nil && isClosed(p.left) }

// whenLeft is closed as soon as a check has failed.
func (p *home) whenLeft() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.left
}

// here opens connections to the file that the first was opened to, and to no
// other: the log that it is written with has the same name for both, and each
// would take the other's pages for its own.
type here struct {
	driver.Connector
	home *home
}

func (c here) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.home.check(); err != nil {
		return nil, err
	}
	return c.Connector.Connect(ctx)
}

// leave ends what is answered without the database, and all reading of it.
func (s *DB) leave() {
	s.Log.Error("the database's file was moved away or replaced; nothing is served until this server is restarted", "file", s.home.path)
	for _, name := range []Topic{TopicSettings, TopicCatalog} { // without which nothing is shown
		s.topics.version(name).Add(1)
	}
	if s.hooks.Left != nil {
		s.hooks.Left()
	}
	_ = s.read.Close() // what is under way ends
}

// WorkHere is ctx until the home is left.
func (s *DB) WorkHere(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.home.whenLeft():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// leaveTries is how often the log is emptied while it is read.
const leaveTries = 20

// leave brings what is written into the former file, wherever it is now, and
// empties the log, before the connection is closed for good: the log has the
// name of the new file's, which whoever opens it would read along.
func (w *connection) leave() {
	ctx := context.Background()
	conn := w.conn
	var err error
	if conn == nil {
		conn, err = w.store.write.Conn(ctx)
	}
	for range leaveTries {
		if err != nil {
			break
		}
		var busy, pages, moved int
		if err = conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved); busy == 0 {
			break
		}
		time.Sleep(PollEvery)
	}
	if err != nil {
		w.store.Log.Error("could not empty the log of the former database; remove it before the restart", "file", w.store.home.path+"-wal", "error", err)
	}
	if w.conn == nil && conn != nil {
		conn.Close()
	}
	w.close()
	_ = w.store.write.Close()
}
