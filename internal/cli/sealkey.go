package cli

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"portico/store"
)

// Sealing says where the key is that seals the secrets in the database.
type Sealing struct {
	SealKey string `placeholder:"KEY" help:"The key that seals the secrets in the database: 32 bytes in base64, as openssl rand -base64 32 makes it. Better given by the environment, since others see a command line. Default: the one in --key-file."`
	KeyFile string `type:"path" placeholder:"FILE" help:"The file that holds the key in base64. Default: beside the SQLite database (portico.db has portico.key), made on the first start; PostgreSQL needs a key to be given."`
}

// errNoKey is what a server on PostgreSQL says without a key: one that it made
// for itself would lock out the other servers.
const errNoKey = "a server on PostgreSQL needs the key that seals secrets, the same on all servers: " +
	"make one with `openssl rand -base64 32`, and give it by PORTICO_SEAL_KEY or --key-file"

// Sealer is the key's. The file of a SQLite database is made on the first
// start, readable by its owner only.
func (k *Sealing) Sealer(databaseURL string, log *slog.Logger) (*store.Sealer, error) {
	if k.SealKey != "" {
		return parseKey("--seal-key", k.SealKey)
	}
	path := k.KeyFile
	database, embedded := store.SQLiteFile(databaseURL)
	switch {
	case path == "" && !embedded:
		return nil, usage("%s", errNoKey)
	case path == "":
		path = strings.TrimSuffix(database, filepath.Ext(database)) + ".key"
	}
	if embedded {
		if err := makeKey(path, log); err != nil {
			return nil, fmt.Errorf("make the key file: %w", err)
		}
	}
	return readKey(path, log)
}

// makeKey makes the file unless it is there. It appears whole, so that of two
// servers that start at once both have the same key.
func makeKey(path string, log *slog.Logger) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, store.SealingKeySize)
	rand.Read(key) // never fails
	_, err = fmt.Fprintln(file, base64.StdEncoding.EncodeToString(key))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	err = os.Link(file.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		log.Info("made the key that seals secrets; keep a copy of it in a safe place", "file", path)
	}
	return err
}

func readKey(path string, log *slog.Logger) (*store.Sealer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key that seals secrets: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("others can read the key that seals secrets; take the right from them", "file", path, "mode", info.Mode().Perm().String())
	}
	return parseKey(path, string(text))
}

// parseKey reads base64, padded or not, of either alphabet. No error holds
// anything of the key.
func parseKey(from, text string) (*store.Sealer, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	key, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		key, err = base64.RawURLEncoding.DecodeString(text)
	}
	if err != nil || len(key) != store.SealingKeySize {
		return nil, usage("%s must hold %d bytes in base64, as openssl rand -base64 %[2]d makes them", from, store.SealingKeySize)
	}
	return store.NewSealer(key)
}
