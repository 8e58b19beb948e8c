//go:build linux || darwin

package dialect

import "syscall"

// minFree is the free space, in bytes, below which a disk is full: a write needs as much for the write-ahead log.
const minFree = 1 << 20

// IsDiskFull reports whether the disk of the file is full for this user.
func (g *FileGuard) IsDiskFull() bool {
	var disk syscall.Statfs_t
	return g != nil && syscall.Statfs(g.Path, &disk) == nil && disk.Bavail*uint64(disk.Bsize) < minFree
}
