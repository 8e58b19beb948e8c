//go:build unix

package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasPendingConn tells whether a connection stands before a listener that nobody
// has accepted.
func hasPendingConn(listener net.Listener) bool {
	door, ok := listener.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := door.SyscallConn()
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
