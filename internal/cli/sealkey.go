package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"portico/store/seal"
	"portico/store/shop"
)

// Sealing says where the key is that seals the secrets in the database.
type Sealing struct {
	SealKey string `secret:"" placeholder:"KEY" help:"The key that seals the secrets in the database: 32 bytes in base64, as openssl rand -base64 32 makes it; while keys are changed, the new one, a comma, and the present one. Better given by the environment, since others see a command line. Default: the one in --key-file."`
	KeyFile string `type:"path" placeholder:"FILE" help:"The file that holds the key in base64; while keys are changed, both, the new one first. Default: beside the SQLite database (portico.db has portico.key), made on the first start; PostgreSQL needs a key to be given."`
}

// errNoKey is what a server on PostgreSQL says without a key: one that it made
// for itself would lock out the other servers.
const errNoKey = "a server on PostgreSQL needs the key that seals secrets, the same on all servers: " +
	"make one with `openssl rand -base64 32`, and give it by PORTICO_SEAL_KEY or --key-file"

// Sealer is the key's. The file of a SQLite database is made on the first
// start, readable by its owner only. A file is read again when a value turns
// up that was sealed with another key. Where the file is gone from beside a
// database that has secrets, no other is made: it would lock them up for good.
func (k *Sealing) Sealer(ctx context.Context, databaseURL string, log *slog.Logger) (*seal.Sealer, error) {
	if k.SealKey != "" {
		keys, err := parseKeys("--seal-key", k.SealKey)
		if err != nil {
			return nil, err
		}
		return seal.New(keys...)
	}
	path, err := k.path(databaseURL)
	if err != nil {
		return nil, err
	}
	if _, embedded := shop.SQLiteFile(databaseURL); embedded {
		if err := makeKey(ctx, path, databaseURL, log); err != nil {
			return nil, fmt.Errorf("make the key file: %w", err)
		}
	}
	return seal.NewOf(func() ([][]byte, error) { return readKeys(path, log) })
}

// path is where the key's file is.
func (k *Sealing) path(databaseURL string) (string, error) {
	database, embedded := shop.SQLiteFile(databaseURL)
	switch {
	case k.KeyFile != "":
		return k.KeyFile, nil
	case embedded:
		return strings.TrimSuffix(database, filepath.Ext(database)) + ".key", nil
	}
	return "", usage("%s", errNoKey)
}

// makeKey makes the file unless it is there. It appears whole, so that of two
// servers that start at once both have the same key.
func makeKey(ctx context.Context, path, databaseURL string, log *slog.Logger) error {
	isThere := func() (bool, error) {
		_, err := os.Stat(path)
		return err == nil || !errors.Is(err, fs.ErrNotExist), err
	}
	if there, err := isThere(); there {
		return err
	}
	sealed, err := shop.HasSecrets(ctx, databaseURL)
	if err != nil {
		return err
	}
	if sealed { // unless another server has made both by now
		if there, err := isThere(); there {
			return err
		}
		return fmt.Errorf("%s is gone, and the database has secrets that only the key in it opens; no other was made. "+
			"Put the file back from where you keep a copy, or give the key by PORTICO_SEAL_KEY or --key-file. "+
			"If it is lost for good, portico export and portico import bring the shop to a new database, without gateway passwords and with new signing keys", path)
	}
	err = writeKeys(path, os.Link, newKey())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		log.Info("made the key that seals secrets; keep a copy of it in a safe place", "file", path)
	}
	return err
}

func newKey() []byte {
	key := make([]byte, seal.KeySize)
	rand.Read(key) // never fails
	return key
}

// writeKeys writes a file of keys, readable by its owner only, and puts it in
// its place at once.
func writeKeys(path string, put func(from, to string) error, keys ...[]byte) error {
	return beside(path, put, func(temporary string) error {
		file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		for _, key := range keys {
			_, writing := fmt.Fprintln(file, base64.StdEncoding.EncodeToString(key))
			err = errors.Join(err, writing)
		}
		return errors.Join(err, file.Sync(), file.Close())
	})
}

func readKeys(path string, log *slog.Logger) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key that seals secrets: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 && !isCredential(path) {
		log.Warn("others can read the key that seals secrets; take the right from them", "file", path, "mode", info.Mode().Perm().String())
	}
	return parseKeys(path, string(text))
}

// isCredential tells whether systemd keeps a file for this service alone. It
// says so in an access control list, whose mode looks as if the group could
// read it.
func isCredential(path string) bool {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	return folder != "" && filepath.Dir(path) == filepath.Clean(folder)
}

// parseKeys reads keys in base64, padded or not, of either alphabet, between
// commas or spaces; at least one. No error holds anything of them.
func parseKeys(from, text string) (keys [][]byte, err error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(fields) == 0 {
		fields = []string{""}
	}
	for _, field := range fields {
		field = strings.TrimRight(field, "=")
		key, err := base64.RawStdEncoding.DecodeString(field)
		if err != nil {
			key, err = base64.RawURLEncoding.DecodeString(field)
		}
		if err != nil || len(key) != seal.KeySize {
			return nil, usage("%s must hold %d bytes in base64, as openssl rand -base64 %[2]d makes them", from, seal.KeySize)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// WrongKey says what to do about seal.ErrKey.
func WrongKey(err error) error {
	return fmt.Errorf("%w; give the key that this database was used with before, by PORTICO_SEAL_KEY or --key-file", err)
}
