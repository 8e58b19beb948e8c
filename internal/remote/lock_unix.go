//go:build unix

package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFolder creates a folder unless it exists, and locks it until unlock is called, or the process ends. It returns an
// error if another process, or another fetch of this one, has locked it.
func lockFolder(path string) (unlock func(), err error) {
	for range 100 { // others may remove the file, or the folder, before it is locked
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			holder, _ := io.ReadAll(io.LimitReader(file, 64))
			file.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, lockedError(path, strings.TrimSpace(string(holder)))
			}
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if !isAt(file) {
			file.Close()
			continue
		}
		if err := file.Truncate(0); err == nil { // the lock holds even if the id cannot be written
			_, _ = fmt.Fprintf(file, "process %d\n", os.Getpid())
		}
		return func() {
			if isAt(file) {
				_ = os.Remove(file.Name()) // an unlocked file does no harm
			}
			file.Close()
		}, nil
	}
	return nil, lockedError(path, "")
}

// isAt reports whether an open file is still the one at its path.
func isAt(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, found)
}
