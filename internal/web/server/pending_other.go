//go:build !unix

package server

import "net"

// hasPendingConn reports whether a connection waits to be accepted. This system does not tell, so it is false.
func hasPendingConn(net.Listener) bool { return false }
