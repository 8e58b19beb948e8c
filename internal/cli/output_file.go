package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"portico/store/seal"
)

// outputPath is where a command writes a file. Every command opens its files through it, so that none writes over a
// database, what belongs to one, or a key.
type outputPath string

// databaseSuffixes end the names of files that belong to a SQLite database.
var databaseSuffixes = []string{"-wal", "-shm", "-journal", ".lock"}

// resolved returns the path with its links resolved, also if the file does not exist yet.
func (p outputPath) resolved() string {
	if path, err := filepath.EvalSymlinks(string(p)); err == nil {
		return path
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(string(p))); err == nil {
		return filepath.Join(folder, filepath.Base(string(p)))
	}
	return string(p)
}

// check returns a usage error if writing the file would destroy a shop.
func (p outputPath) check() error {
	if isDatabase(p.resolved()) {
		return usagef("%s is a SQLite database. Name another file", p)
	}
	return p.checkCompanion()
}

// checkBackup is check for a backup, which may replace an earlier one: a database whose server is stopped, but not that
// of the command.
func (p outputPath) checkBackup(database string) error {
	if sameFile(database, string(p)) {
		return usagef("%s is the database itself. Name another file", p)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} { // a lock file stays behind
		if _, err := os.Lstat(p.resolved() + suffix); err == nil && isDatabase(p.resolved()) {
			return usagef("%s is a database that a server may use, since %s%s exists. Name another file", p, p.resolved(), suffix)
		}
	}
	return p.checkCompanion()
}

// checkCompanion returns a usage error for a file that belongs to a database.
func (p outputPath) checkCompanion() error {
	path := p.resolved()
	for _, suffix := range databaseSuffixes {
		if database, belongs := strings.CutSuffix(path, suffix); belongs && isDatabase(database) {
			return usagef("%s belongs to the SQLite database %s. Name another file", p, database)
		}
	}
	if isKeyFile(path) {
		return usagef("%s is a key file, without which the secrets in a database are lost. Name another file", p)
	}
	return nil
}

// replace checks the path and replaces the file atomically. It writes directly to a device or a pipe.
func (p outputPath) replace(fill func(io.Writer) error) error {
	path := p.resolved()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeFile(path, os.O_WRONLY, fill)
	}
	if err := p.check(); err != nil {
		return err
	}
	return atomicWrite(path, os.Rename, func(temporary string) error {
		return writeFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fill)
	})
}

// create checks the path and creates the file, which must not exist.
func (p outputPath) create() (*os.File, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return os.OpenFile(p.resolved(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // promotion codes are worth money
}

// writeFile opens a file, fills it, and syncs it if it is new.
func writeFile(path string, flags int, fill func(io.Writer) error) error {
	file, err := os.OpenFile(path, flags, 0o600) // promotion codes are worth money
	if err != nil {
		return err
	}
	err = fill(file)
	if err == nil && flags&os.O_CREATE != 0 {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// isDatabase reports whether a file begins as SQLite databases do.
func isDatabase(path string) bool {
	const begins = "SQLite format 3\x00"
	return string(beginning(path, len(begins))) == begins
}

// isKeyFile reports whether a file has keys that encrypt secrets, and nothing else.
func isKeyFile(path string) bool {
	const most = 16 * 2 * seal.KeySize // more than any key file has: two keys in base64 are 90 bytes
	text := beginning(path, most)
	if len(text) == 0 || len(text) == most {
		return false
	}
	_, err := parseKeys(path, string(text))
	return err == nil
}

// beginning returns at most most bytes of the begin of a regular file; none if it cannot be read.
func beginning(path string, most int) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(most)))
	if err != nil {
		return nil
	}
	return text
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
