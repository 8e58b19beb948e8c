//go:build unix

package remote

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder keeps other processes from fetching into a folder, which exists, until unlock is called or the process ends.
func lockFolder(path string) (unlock func(), err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("the folder %s is used by another import. Wait until it has ended, or use another folder with --from-folder", path)
	}
	if err == nil {
		err = stillThere(dir, path)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return func() { dir.Close() }, nil
}

// stillThere returns an error if another import removed the folder before it was locked.
func stillThere(dir *os.File, path string) error {
	locked, err := dir.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(locked, now) {
		return fmt.Errorf("the folder %s was removed by another import, which has just ended. Run the command again", path)
	}
	return nil
}
