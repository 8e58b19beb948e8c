package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"portico/store/seal"
	"portico/store/shop"
)

// Rekey seals the secrets in the database with a new key.
type Rekey struct {
	Sealing
	Common
}

// Help is the long description.
func (*Rekey) Help() string {
	return "Servers go on meanwhile. Beside a SQLite database the new key is made here, and its file changed; servers find it there. " +
		"Keys of your own, and those of PostgreSQL, come first to all servers: the new one, then the present one, in --seal-key or --key-file; " +
		"then this command changes over, with the same two. " +
		"It can be run again after it was interrupted. Backups that were made before open with the former key only."
}

// Run changes the key.
func (c *Rekey) Run(ctx context.Context, streams Streams) error {
	log := c.Log(streams)
	keys, path, err := c.keys(log)
	if path != "" && errors.Is(err, fs.ErrNotExist) {
		return c.first(ctx, log, streams, path)
	}
	if err != nil {
		return err
	}
	if path != "" && len(keys) == 1 { // a file of our own: both keys stand in it before anything is sealed with the new one
		keys = append([][]byte{newKey()}, keys...)
		if err := writeKeys(path, os.Rename, keys...); err != nil {
			return fmt.Errorf("write the key file: %w", err)
		}
	}
	if len(keys) == 1 {
		return usage("%s", errOneKey)
	}
	sealer, err := seal.New(keys...)
	if err != nil {
		return err
	}
	s, err := c.Open(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	done, err := s.Rekey(ctx, "command:rekey", sealer)
	if errors.Is(err, seal.ErrKey) {
		return fmt.Errorf("%w; nothing was changed: give the key that this database was used with as the second one", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "sealed %s and %s with key %s\n", count(done.SigningKeys, "signing key"), count(done.Passwords, "password"), done.Key)
	if path == "" {
		fmt.Fprintln(streams.Err, "The former key can be taken from the servers now. Keep a copy as long as you keep backups that were made before.")
		return nil
	}
	former := path + ".former"
	if err := writeKeys(former, os.Rename, keys[1:]...); err != nil {
		return fmt.Errorf("write the former key to a file of its own: %w", err)
	}
	if err := writeKeys(path, os.Rename, keys[0]); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	fmt.Fprintf(streams.Err, "The former key is in %s. Keep it as long as you keep backups that were made before, then delete it.\n", former)
	return nil
}

// first makes the key's file beside a database that has nothing sealed yet, as
// the first start of a server would. It takes the file away again where
// something is.
func (c *Rekey) first(ctx context.Context, log *slog.Logger, streams Streams, path string) error {
	s, err := c.Open(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	key := newKey()
	sealer, err := seal.New(key)
	if err != nil {
		return err
	}
	if err := writeKeys(path, os.Link, key); err != nil { // a server that starts meanwhile has made its own
		return fmt.Errorf("make the key file: %w", err)
	}
	_, err = s.Rekey(ctx, "command:rekey", sealer)
	if errors.Is(err, seal.ErrKey) {
		return errors.Join(fmt.Errorf("%s is not there, and the database holds secrets that its key opens; nothing was changed: put it back, or give the key by PORTICO_SEAL_KEY", path), os.Remove(path))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "nothing was sealed yet; the key for it is in %s\n", path)
	return nil
}

// errOneKey is what keys that the command does not make itself must be.
const errOneKey = "give two keys, the new one first and the present one after it, which all servers must have by now: " +
	"PORTICO_SEAL_KEY=NEW,PRESENT, or a line each in --key-file"

// keys are those that were given; path is the file beside a SQLite database
// that this command may change, else empty.
func (c *Rekey) keys(log *slog.Logger) (keys [][]byte, path string, err error) {
	if c.SealKey != "" {
		keys, err = parseKeys("--seal-key", c.SealKey)
		return keys, "", err
	}
	file, err := c.path(c.DatabaseURL)
	if err != nil {
		return nil, "", err
	}
	if _, embedded := shop.SQLiteFile(c.DatabaseURL); embedded {
		path = file
	}
	keys, err = readKeys(file, log)
	return keys, path, err
}
