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
	File string `arg:"" type:"path" help:"File to write, with permissions 0600. An existing file is replaced when the copy is complete and verified."`
	Output
	StoreFlags
}

// Help is the long description.
func (*Backup) Help() string {
	return "Servers keep running, and the copy is a consistent snapshot. It has the schema of the database, which is not migrated. Also keep a copy of the key file, in another place: " +
		"a backup cannot be used without it. For PostgreSQL, use pg_dump. " +
		jsonHelp(copiedDatabase{"backed up", "portico.db", "portico-backup.db"})
}

// copiedDatabase is the result of backup and restore.
type copiedDatabase struct {
	verb string // in the past tense
	From string `json:"from"`
	To   string `json:"to"`
}

func (c copiedDatabase) String() string { return fmt.Sprintf("%s %s to %s", c.verb, c.From, c.To) }

// Run copies.
func (c *Backup) Run(ctx context.Context, streams Streams) error {
	path, _ := shop.SQLiteFile(c.DatabaseURL)
	if err := outputPath(c.File).checkBackup(path); err != nil {
		return err
	}
	if err := atomicWrite(outputPath(c.File).resolved(), os.Rename, func(temporary string) error { return shop.Backup(ctx, c.DatabaseURL, temporary) }); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return c.print(streams, copiedDatabase{"backed up", path, c.File})
}

// Restore creates a SQLite database from a backup.
type Restore struct {
	File string `arg:"" type:"path" help:"Backup file."`
	Output
	StoreFlags
}

// Help is the long description.
func (*Restore) Help() string {
	return "The database file must not exist. If it does, stop the servers, and move it away with its -wal and -shm files. " +
		"Restore the key file too. " +
		jsonHelp(copiedDatabase{"restored", "portico-backup.db", "portico.db"})
}

// Run restores.
func (c *Restore) Run(ctx context.Context, streams Streams) error {
	path, isSQLite := shop.SQLiteFile(c.DatabaseURL)
	if !isSQLite {
		return usagef("restore works with SQLite only. For PostgreSQL, use pg_restore")
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return usagef("%s already exists. Move it away first", name)
		}
	}
	if err := atomicWrite(path, os.Rename, func(temporary string) error { return c.copyTo(ctx, streams, temporary) }); err != nil {
		return fmt.Errorf("restore %s: %w", c.File, err)
	}
	return c.print(streams, copiedDatabase{"restored", c.File, path})
}

// copyTo copies the backup and opens the copy, which verifies and migrates it.
func (c *Restore) copyTo(ctx context.Context, streams Streams, path string) error {
	if err := copyFile(c.File, path); err != nil {
		return err
	}
	target := c.StoreFlags
	target.DatabaseURL = "file:" + path
	s, err := target.OpenExisting(ctx, c.Log(streams))
	if openError := new(shop.OpenError); errors.As(err, &openError) {
		openError.Database = c.File // the user knows the backup, not its copy
	}
	if err != nil {
		return err
	}
	if err := errors.Join(s.CheckFile(ctx), s.Close()); err != nil {
		return err
	}
	for _, suffix := range databaseSuffixes {
		_ = os.Remove(path + suffix) // nothing is in them after Close
	}
	return nil
}

// copyFile copies to a new file with permissions 0600.
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
