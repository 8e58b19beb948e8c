package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"

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
	if path == "" && len(keys) == 1 {
		return usage("%s", errOneKey)
	}
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	present, err := seal.New(keys...)
	if err != nil {
		return err
	}
	if err := s.CheckKeys(ctx, present); err != nil {
		return wrongPresent(err)
	}
	if len(keys) == 1 { // a file of our own: both keys stand in it before anything is sealed with the new one
		keys = append([][]byte{newKey()}, keys...)
		if err := writeKeys(path, os.Rename, keys...); err != nil {
			return fmt.Errorf("write the key file: %w", err)
		}
	}
	sealer, err := seal.New(keys...)
	if err != nil {
		return err
	}
	done, err := s.Rekey(ctx, "command:rekey", sealer)
	if err != nil {
		return wrongPresent(err)
	}
	fmt.Fprintf(streams.Out, "sealed %s and %s with key %s\n", count(done.SigningKeys, "signing key"), count(done.Passwords, "password"), done.Key)
	if path == "" {
		fmt.Fprintln(streams.Err, "The former key can be taken from the servers now. Keep a copy as long as you keep backups that were made before.")
		return nil
	}
	former := path + ".former"
	all, err := formerKeys(former, log)
	if err != nil {
		return fmt.Errorf("add the former key to those before it; both are in %s still, and the command can be run again: %w", path, err)
	}
	all = slices.CompactFunc(append(slices.Clone(keys[1:]), all...), bytes.Equal)
	if err := writeKeys(former, os.Rename, all...); err != nil {
		return fmt.Errorf("write the former key to a file of its own: %w", err)
	}
	if err := writeKeys(path, os.Rename, keys[0]); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	fmt.Fprintf(streams.Err, "The former key is in %s, the first of %s. Keep it as long as you keep backups that were made before, then delete it.\n", former, count(len(all), "key"))
	return nil
}

// formerKeys are those of earlier changes, the latest first; none where there is no file.
func formerKeys(path string, log *slog.Logger) ([][]byte, error) {
	keys, err := readKeys(path, log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return keys, err
}

// wrongPresent says what to do about seal.ErrKey.
func wrongPresent(err error) error {
	if !errors.Is(err, seal.ErrKey) {
		return err
	}
	return &explainedError{fmt.Sprintf("%v; nothing was changed: give the key that this database was used with, as the second one or in the key file", err), err}
}

// first makes the key's file beside a database that has nothing sealed yet, as
// the first start of a server would.
func (c *Rekey) first(ctx context.Context, log *slog.Logger, streams Streams, path string) error {
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := makeKey(ctx, path, c.DatabaseURL, log); err != nil {
		return fmt.Errorf("make the key file: %w", err)
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
