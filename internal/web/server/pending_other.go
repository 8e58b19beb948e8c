//go:build !unix

package server

import "net"

// hasPendingConn reports whether a connection waits to be accepted. That is unknown on this system, so it is false.
func hasPendingConn(net.Listener) bool { return false }
