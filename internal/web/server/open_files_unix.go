//go:build unix

package server

import "syscall"

// openFileLimit returns how many files this process may have open. Without it, the default of --connections could exceed that:
// a flood of connections would then leave no file for the database, nor for health checks.
func openFileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxConnections
	}
	return int(min(uint64(limit.Cur), 1<<20)) // RLIM_INFINITY is larger
}
