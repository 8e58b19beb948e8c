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

// Rekey encrypts the secrets in the database with a new key.
type Rekey struct {
	SealKeyFlags
	Output
	StoreFlags
}

// Help is the long description.
func (*Rekey) Help() string {
	return "Servers keep running. With SQLite, the command creates the new key and writes it to the key file, from which servers load it. " +
		"With PostgreSQL or a key of your own, first give both keys to all servers, in --seal-key or --key-file: the new one, then the current one. " +
		"Then run this command with the same two keys. An interrupted command can be run again. " +
		"Older backups need the former key. " +
		jsonHelp(rekeyResult{SigningKeys: 2, Passwords: 1, Key: "b3f1c2d4"})
}

// rekeyResult is what rekey prints.
type rekeyResult struct {
	SigningKeys int    `json:"signing_keys"`
	Passwords   int    `json:"passwords"`
	Key         string `json:"key"` // fingerprint; empty without secrets
}

func (r rekeyResult) String() string {
	return fmt.Sprintf("encrypted %s and %s with key %s", count(r.SigningKeys, "signing key"), count(r.Passwords, "password"), r.Key)
}

// createdKeyFile is the result of rekey for a database without secrets: in JSON, an empty rekeyResult.
type createdKeyFile struct {
	rekeyResult
	path string
}

func (c createdKeyFile) String() string {
	return "the database has no secrets yet; created the key file " + c.path
}

// Run changes the key. If this command creates it, the key file has both keys until all secrets have the new one. So an interrupted
// run can be repeated, and servers read either. Then the former key moves to another file.
func (c *Rekey) Run(ctx context.Context, streams Streams) error {
	log := c.Log(streams)
	keys, ownFile, err := c.keys(log)
	createsKey := ownFile != "" // else the caller gives the new key
	if createsKey && errors.Is(err, fs.ErrNotExist) {
		return c.createFirstKey(ctx, log, streams, ownFile)
	}
	if err != nil {
		return err
	}
	if !createsKey && len(keys) == 1 {
		return usagef("%s", errOneKey)
	}
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	sealer, err := seal.New(keys...)
	if err != nil {
		return err
	}
	if err := s.CheckKeys(ctx, sealer); err != nil {
		return explainWrongKey(err)
	}
	if len(keys) == 1 { // two keys: an earlier run was interrupted after it wrote the file
		keys = append([][]byte{newKey()}, keys...)
		if err := writeKeys(ownFile, os.Rename, keys...); err != nil {
			return fmt.Errorf("write the key file: %w", err)
		}
		if sealer, err = seal.New(keys...); err != nil {
			return err
		}
	}
	done, err := s.Rekey(ctx, "command:rekey", sealer)
	if err != nil {
		return explainWrongKey(err)
	}
	if err := c.print(streams, rekeyResult{SigningKeys: done.SigningKeys, Passwords: done.Passwords, Key: done.Key}); err != nil {
		return err
	}
	if !createsKey {
		fmt.Fprintln(streams.Err, "You can now remove the former key from the servers. Keep a copy for as long as you keep older backups.")
		return nil
	}
	return moveFormerKeys(streams, log, ownFile, keys)
}

// moveFormerKeys moves all keys but the new one, the first, from the key file to the beginning of the
// file of former keys.
func moveFormerKeys(streams Streams, log *slog.Logger, keyFile string, keys [][]byte) error {
	formerFile := keyFile + ".former"
	former, err := readKeys(formerFile, log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the former keys. Both keys are still in %s; run the command again: %w", keyFile, err)
	}
	former = slices.CompactFunc(append(slices.Clone(keys[1:]), former...), bytes.Equal)
	if err := writeKeys(formerFile, os.Rename, former...); err != nil {
		return fmt.Errorf("write the former keys: %w", err)
	}
	if err := writeKeys(keyFile, os.Rename, keys[0]); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	fmt.Fprintf(streams.Err, "The former key is now in %s, the first of %s. Keep it for as long as you keep older backups, then delete it.\n",
		formerFile, count(len(former), "line"))
	return nil
}

// explainWrongKey says what to do about seal.ErrKey.
func explainWrongKey(err error) error {
	if !errors.Is(err, seal.ErrKey) {
		return err
	}
	return &explainedError{fmt.Sprintf("%v. Nothing was changed. Give the key of this database as the second key, or in the key file", err), err}
}

// createFirstKey creates the key file of a database without secrets, as the first start of a server
// does.
func (c *Rekey) createFirstKey(ctx context.Context, log *slog.Logger, streams Streams, keyFile string) error {
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := createKeyFile(ctx, keyFile, c.DatabaseURL, log); err != nil {
		return fmt.Errorf("create the key file: %w", err)
	}
	return c.print(streams, createdKeyFile{path: keyFile})
}

const errOneKey = "rekey needs two keys, the new one and then the current one, and all servers must already have both: " +
	"set PORTICO_SEAL_KEY=NEW,CURRENT, or put one on each line of --key-file"

// keys returns the keys: of --seal-key or the key file. ownFile is the key file if this command creates
// the new key and writes it there, as with SQLite; else it is empty.
func (c *Rekey) keys(log *slog.Logger) (keys [][]byte, ownFile string, err error) {
	if c.SealKey != "" {
		keys, err = parseKeys("--seal-key", c.SealKey)
		return keys, "", err
	}
	file, err := c.path(c.DatabaseURL)
	if err != nil {
		return nil, "", err
	}
	if _, isSQLite := shop.SQLiteFile(c.DatabaseURL); isSQLite {
		ownFile = file
	}
	keys, err = readKeys(file, log)
	return keys, ownFile, err
}
