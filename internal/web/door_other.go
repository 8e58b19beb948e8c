//go:build !unix

package web

import "net"

func closeTaking(listener net.Listener) ([]net.Conn, error) { return nil, listener.Close() }
