package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// processAttributes makes a process run as owner, in a group of its own, and end with the thread that starts it.
func processAttributes(owner *credential) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if owner != nil {
		attributes.Credential = &syscall.Credential{Uid: owner.uid, Gid: owner.gid}
	}
	return attributes
}

// killPostmaster ends the PostgreSQL server of a data directory and its sessions, if it is the
// process of that number.
func killPostmaster(pid int, data string) {
	if !isPostmaster(pid, data) {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no others
	for _, child := range childrenOf(pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// suspendProcess stops a process and its children, without closing their connections.
func suspendProcess(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // first, so that it starts no others
	for _, child := range childrenOf(pid) {
		suspendProcess(child)
	}
}

// isPostmaster reports whether a process is the PostgreSQL server of a data directory.
func isPostmaster(pid int, data string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && slices.Contains(strings.Split(string(line), "\x00"), data)
}

func childrenOf(parent int) (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", parent))
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
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
