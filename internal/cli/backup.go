package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"portico/store/shop"
)

// Backup copies a SQLite database.
type Backup struct {
	File string `arg:"" type:"path" help:"The file to write, readable by its owner only. It is replaced once the copy is whole and checked."`
	Common
}

// Help is the long description.
func (*Backup) Help() string {
	return "Servers go on meanwhile, and the copy is of one moment. Keep it apart from the key that seals secrets, and both safe: they are good together only. PostgreSQL has its own tools: pg_dump."
}

// Run copies.
func (c *Backup) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	if err := beside(c.File, os.Rename, func(temporary string) error { return s.Backup(ctx, temporary) }); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	fmt.Fprintf(streams.Out, "backed up %s to %s\n", s.Describe(), c.File)
	return nil
}

// Restore puts a backup in the place of a SQLite database that is not there.
type Restore struct {
	File string `arg:"" type:"path" help:"The backup."`
	Common
}

// Help is the long description.
func (*Restore) Help() string {
	return "The database must not be there: move an old one away, with its -wal and -shm files, when no server uses it. Put the key that seals secrets back too."
}

// Run restores.
func (c *Restore) Run(ctx context.Context, streams Streams) error {
	path, embedded := shop.SQLiteFile(c.DatabaseURL)
	if !embedded {
		return usage("PostgreSQL has its own backup tools: pg_restore")
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return usage("%s is there; move it away first", name)
		}
	}
	if err := beside(path, os.Rename, func(temporary string) error { return c.copyTo(ctx, streams, temporary) }); err != nil {
		return fmt.Errorf("restore %s: %w", c.File, err)
	}
	fmt.Fprintf(streams.Out, "restored %s from %s\n", path, c.File)
	return nil
}

// copyTo copies the backup, and opens the copy, which refuses what is no store
// and brings an older one up to date.
func (c *Restore) copyTo(ctx context.Context, streams Streams, path string) error {
	if err := copyFile(c.File, path); err != nil {
		return err
	}
	there := *c
	there.DatabaseURL = "file:" + path
	s, err := there.OpenExisting(ctx, c.Log(streams))
	if opening := new(shop.OpenError); errors.As(err, &opening) {
		opening.Database = c.File // of which this is the copy
	}
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	for _, rest := range []string{"-wal", "-shm", ".lock"} {
		_ = os.Remove(path + rest) // closing has emptied them
	}
	return nil
}

// copyFile copies to a new file that its owner only can read.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}
