// Package filelock locks files between processes, and names the process that holds a lock. Try takes a Lock unless ErrHeld.
// It must not import other packages of this module.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gofrs/flock"
)

// Lock is a locked file, until the process ends at the latest.
type Lock struct{ file *flock.Flock }

// ErrHeld is the error of a file that is locked already, by another process or by this one.
var ErrHeld = errors.New("the file is locked by another process")

// Try locks a file and writes the id of the process into it. It creates the file, but not its folder.
func Try(path string) (*Lock, error) {
	for {
		lock := &Lock{flock.New(path, flock.SetPermissions(0o600))}
		switch locked, err := lock.file.TryLock(); {
		case err != nil:
			return nil, err
		case !locked:
			return nil, ErrHeld
		case lock.isAtPath():
			_ = os.WriteFile(path, fmt.Appendf(nil, "process %d\n", os.Getpid()), 0o600) // the lock holds even without
			return lock, nil
		}
		lock.Unlock() // its holder removed the file after it was opened
	}
}

// Holder returns who locked a file, such as "process 123"; empty if unknown.
func Holder(path string) string {
	text, _ := os.ReadFile(path) // some systems do not let others read a locked file
	return strings.TrimSpace(string(text[:min(len(text), 64)]))
}

// Unlock frees the lock. It may be called again.
func (l *Lock) Unlock() { _ = l.file.Close() }

// Remove removes the file and frees the lock. It may be called again.
func (l *Lock) Remove() {
	if l.file.Locked() && l.isAtPath() {
		_ = os.Remove(l.file.Path()) // an unlocked file does no harm
	}
	l.Unlock()
}

// isAtPath reports whether the locked file is still the one at its path.
func (l *Lock) isAtPath() bool {
	opened, err := l.file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(l.file.Path())
	return err == nil && os.SameFile(opened, found)
}
