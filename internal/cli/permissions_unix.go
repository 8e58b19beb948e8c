//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMayRead reports whether the permissions of a file let others read or
// write it. Read access of the group does not count if the file belongs to
// another user, because this process may need it, as for a Kubernetes Secret.
func othersMayRead(info fs.FileInfo) bool {
	others := fs.FileMode(0o077)
	if !isOwner(info) {
		others = 0o037
	}
	return info.Mode().Perm()&others != 0
}

// isOwner reports whether a file belongs to the user of this process.
func isOwner(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
