package cli

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// atomicWrite lets fill write a temporary file in the folder of path, and then
// moves it to path with put: os.Rename replaces a file, os.Link does not. So
// readers never see an incomplete file. fill must sync the file. If anything
// fails, the temporary file is removed, and an error of that file names path.
func atomicWrite(path string, put func(from, to string) error, fill func(temporary string) error) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // else the error would name the temporary file
		return &fs.PathError{Op: "write", Path: path, Err: errors.Unwrap(err)}
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8]+".tmp")
	defer func() { _ = os.Remove(temporary) }() // it is gone after a rename
	if err := fill(temporary); err != nil {
		if file := new(fs.PathError); errors.As(err, &file) && file.Path == temporary {
			file.Path = path
		}
		return err
	}
	return put(temporary, path)
}

// fileExists reports whether a file exists. If that is unknown, as without
// permission for its folder, it returns true and the error.
func fileExists(path string) (bool, error) {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist), err
}
