package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"portico/store/seal"
	"portico/store/shop"
)

// SealKeyFlags set the key that encrypts the secrets in the database.
type SealKeyFlags struct {
	SealKey string `group:"auth" secret:"" placeholder:"KEY" help:"Key that encrypts the secrets in the database: 32 bytes in base64, from openssl rand -base64 32. During a rekey: NEW,CURRENT. Prefer the environment variable, since other users can see command lines. Overrides --key-file."`
	KeyFile string `group:"auth" type:"path" placeholder:"FILE" help:"File with the key in base64. During a rekey it has both, the new one first. SQLite: next to the database (portico.db has portico.key), created on the first start. PostgreSQL: must be set, unless --seal-key is."`
}

// errNoKey: a server on PostgreSQL does not create a key, which would lock out
// the other servers.
const errNoKey = "PostgreSQL needs a key that encrypts secrets, the same on all servers. " +
	"Create one with `openssl rand -base64 32`, and set PORTICO_SEAL_KEY or --key-file"

// Sealer returns the sealer for the key. For SQLite, it creates the key file on
// the first start. It never replaces a lost key file while the database has
// secrets. The sealer reads a file again when it meets a value that was sealed
// with another key.
func (k *SealKeyFlags) Sealer(ctx context.Context, databaseURL string, log *slog.Logger) (*seal.Sealer, error) {
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
	if _, isSQLite := shop.SQLiteFile(databaseURL); isSQLite {
		if err := createKeyFile(ctx, path, databaseURL, log); err != nil {
			return nil, fmt.Errorf("create the key file: %w", err)
		}
	}
	return seal.NewReloading(func() ([][]byte, error) { return readKeys(path, log) })
}

// path returns the path of the key file.
func (k *SealKeyFlags) path(databaseURL string) (string, error) {
	database, isSQLite := shop.SQLiteFile(databaseURL)
	switch {
	case k.KeyFile != "":
		return k.KeyFile, nil
	case isSQLite:
		return strings.TrimSuffix(database, filepath.Ext(database)) + ".key", nil
	}
	return "", usagef("%s", errNoKey)
}

// createKeyFile creates the key file if it does not exist, unless the database has
// secrets already: then the file was lost. If two servers start at once, both end
// up with the same key.
func createKeyFile(ctx context.Context, path, databaseURL string, log *slog.Logger) error {
	if found, err := fileExists(path); found {
		return err
	}
	sealed, err := shop.HasSecrets(ctx, databaseURL)
	if err != nil {
		return err
	}
	if sealed {
		if found, err := fileExists(path); found { // another server has just created it
			return err
		}
		return fmt.Errorf("%s is missing, and the database has secrets that only its key decrypts. "+
			"Restore the file from your copy, or set PORTICO_SEAL_KEY or --key-file. "+
			"If the key is lost, use portico export and portico import to copy the shop to a new database, without gateway passwords and with new signing keys", path)
	}
	err = writeKeys(path, os.Link, newKey())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		log.Info("created the key that encrypts secrets. Keep a copy in a safe place", "file", path)
	}
	return err
}

func newKey() []byte {
	key := make([]byte, seal.KeySize)
	rand.Read(key) // never fails
	return key
}

// writeKeys atomically writes keys to a file with permissions 0600. put is that of
// atomicWrite.
func writeKeys(path string, put func(from, to string) error, keys ...[]byte) error {
	return atomicWrite(path, put, func(temporary string) error {
		return writeFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, func(w io.Writer) error {
			for _, key := range keys {
				if _, err := fmt.Fprintln(w, base64.StdEncoding.EncodeToString(key)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// readKeys reads the keys of a file, and warns if other users can read it.
func readKeys(path string, log *slog.Logger) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if info, err := os.Stat(path); err == nil && othersMayRead(info) && !isCredential(path) {
		log.Warn("other users can read the key file. Restrict its permissions to 0600", "file", path, "mode", info.Mode().Perm().String())
	}
	return parseKeys(path, string(text))
}

// isCredential reports whether systemd passed the file as a credential. It
// restricts such a file with an access control list, whose mode looks as if the
// group could read it.
func isCredential(path string) bool {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	return folder != "" && filepath.Dir(path) == filepath.Clean(folder)
}

// parseKeys parses at least one key in base64, standard or URL-safe, padded or
// not. Commas or spaces separate keys. Errors do not contain the text.
func parseKeys(from, text string) (keys [][]byte, err error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(fields) == 0 {
		fields = []string{""} // fails below
	}
	for _, field := range fields {
		field = strings.TrimRight(field, "=")
		key, err := base64.RawStdEncoding.DecodeString(field)
		if err != nil {
			key, err = base64.RawURLEncoding.DecodeString(field)
		}
		if err != nil || len(key) != seal.KeySize {
			return nil, usagef("%s must be %d bytes in base64, for example from openssl rand -base64 %[2]d", from, seal.KeySize)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
