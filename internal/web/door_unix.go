//go:build unix

package web

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// closeTaking closes a listener the moment nobody waits before it, and returns
// those who did: the system has shaken hands with them, and cuts off whoever
// waits when a listener closes.
func closeTaking(listener net.Listener) (waited []net.Conn, err error) {
	door, ok := listener.(syscall.Conn)
	if !ok {
		return nil, listener.Close()
	}
	raw, err := door.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	var taken []int
	err = raw.Control(func(fd uintptr) {
		for {
			conn, _, err := syscall.Accept(int(fd))
			if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ECONNABORTED) {
				continue
			}
			if err != nil { // nobody waits
				break
			}
			taken = append(taken, conn)
		}
	})
	err = errors.Join(err, listener.Close())
	for _, fd := range taken {
		syscall.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), "connection")
		conn, failed := net.FileConn(file) // a copy
		_ = file.Close()
		if failed == nil {
			waited = append(waited, conn)
		}
	}
	return waited, err
}
