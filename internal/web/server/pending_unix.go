//go:build unix

package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasPendingConn reports whether the kernel has established a connection that was not accepted yet. Closing the listener resets
// these, and Accept returns none after its deadline. So without it, clients on a busy machine lose requests at shutdown
// (TestPendingConnectionsAreAccepted).
func hasPendingConn(listener net.Listener) bool {
	conn, ok := listener.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	ready := 0
	if err := raw.Control(func(fd uintptr) {
		ready, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	}); err != nil {
		return false
	}
	return ready > 0
}
