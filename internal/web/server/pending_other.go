//go:build !unix

package server

import "net"

// hasPendingConn reports whether a connection waits to be accepted. That is unknown on this system, so it is false.
// pending_unix.go says why it is needed.
func hasPendingConn(net.Listener) bool { return false }
