package remote

import "fmt"

// lockName is the file of a folder that its import locks.
const lockName = ".lock"

// lockedError is the error of a folder that another import uses. holder is what the file of the lock says; it may be empty.
func lockedError(path, holder string) error {
	if holder != "" {
		holder = " (" + abbreviate(holder) + ")"
	}
	return fmt.Errorf("another import%s is using the folder %s. Wait until it has ended, or use another folder with --from-folder", holder, path)
}
