//go:build !unix

package remote

import "os"

// lockFolder only creates the folder on systems without flock. There, run one import into a folder at a time.
func lockFolder(path string) (unlock func(), err error) {
	return func() {}, os.MkdirAll(path, 0o700)
}
