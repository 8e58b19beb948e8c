package storetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// processAttributes run a process as its owner, out of the terminal's reach,
// and end it when this process dies.
func processAttributes(owner *credential) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if owner != nil {
		attributes.Credential = &syscall.Credential{Uid: owner.uid, Gid: owner.gid}
	}
	return attributes
}

// serverBytes is what a server of the tests may come to need, in bytes.
const serverBytes = 3 << 30

// fitsInMemory tells whether a directory of files in memory has room for a
// server, which it takes only as it is used. What test processes left there
// that ended without a chance to clear up is taken away.
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
