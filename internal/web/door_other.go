//go:build !unix

package web

import "net"

// somebodyWaits cannot be found out here.
func somebodyWaits(net.Listener) bool { return false }
