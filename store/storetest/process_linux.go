package storetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func processAttributes(owner *credential) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if owner != nil {
		attributes.Credential = &syscall.Credential{Uid: owner.uid, Gid: owner.gid}
	}
	return attributes
}

// serverBytes is the space that a server may need.
const serverBytes = 3 << 30

// fitsInMemory reports whether a directory in memory has space for a server. It removes what
// dead test processes left there.
func fitsInMemory(directory string) bool {
	left, _ := filepath.Glob(filepath.Join(directory, serverPrefix+"*"))
	for _, path := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), serverPrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && syscall.Kill(n, 0) == syscall.ESRCH {
			_ = os.RemoveAll(path)
		}
	}
	var room syscall.Statfs_t
	return syscall.Statfs(directory, &room) == nil && int64(room.Bavail)*room.Bsize >= serverBytes
}
