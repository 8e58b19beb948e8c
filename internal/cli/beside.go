package cli

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// beside has fill write a file beside the one at path, and puts it there by
// os.Rename, which replaces what there is, or by os.Link, which does not. So
// nobody ever sees half of it: fill leaves it whole and on the disk. Where
// anything fails nothing of it stays.
func beside(path string, put func(from, to string) error, fill func(temporary string) error) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: errors.Unwrap(err)}
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8]+".tmp")
	defer func() { _ = os.Remove(temporary) }() // unless it was renamed
	if err := fill(temporary); err != nil {
		return err
	}
	return put(temporary, path)
}
