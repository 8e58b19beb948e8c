//go:build !unix

package server

import "net"

// hasPendingConn is unknown on this system.
func hasPendingConn(net.Listener) bool { return false }
