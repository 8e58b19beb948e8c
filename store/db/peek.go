package db

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Peek lets fn read the SQLite database at a file: URL before it is opened, as
// it is: it may lack any table. fn is not called where there is no file, or an
// empty one.
func Peek(ctx context.Context, databaseURL string, fn func(Session) error) error {
	path, _ := SQLiteFile(databaseURL)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Size() == 0:
		return nil
	}
	pool, err := openAt(newHome(path), sqliteDSN(Config{URL: databaseURL}, "query_only(1)"))
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := patiently(ctx, pool.PingContext); err != nil {
		return newOpenError(path, err)
	}
	if err := fn(Session{on: pool, explain: func(err error) error { return err }}); err != nil {
		return newOpenError(path, err)
	}
	return nil
}
