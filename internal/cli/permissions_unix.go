//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwner reports whether a file belongs to the user of this process.
func isOwner(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
