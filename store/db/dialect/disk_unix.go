//go:build linux || darwin

package dialect

import "syscall"

// IsDiskFull reports whether the disk of the file has less than 1 MiB for this user: a write adds as much to the write-ahead log.
func (g *FileGuard) IsDiskFull() bool {
	var disk syscall.Statfs_t
	return g != nil && syscall.Statfs(g.Path, &disk) == nil && disk.Bavail*uint64(disk.Bsize) < 1<<20
}
