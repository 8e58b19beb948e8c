package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"portico/internal/filelock"
)

// lockName is the file of a folder that its import locks.
const lockName = ".lock"

// lockFolder creates a folder unless it exists, and locks it until unlock is called. It returns an error if another import
// uses it.
func lockFolder(path string) (unlock func(), err error) {
	file := filepath.Join(path, lockName)
	for range 100 { // the import before may remove the folder in between
		if err = os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		lock, err := filelock.Try(file)
		switch {
		case err == nil:
			return lock.Remove, nil
		case errors.Is(err, filelock.ErrHeld):
			return nil, fmt.Errorf("another import (%s) is using the folder %s. Wait until it has ended, or use another folder with --from-folder",
				abbreviate(filelock.Holder(file)), path)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return nil, fmt.Errorf("the folder %s cannot be locked. Use another one with --from-folder", path)
}
