//go:build linux

package main

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"time"
)

// slowLink forwards connections to a PostgreSQL server as if it were far away: what a client sends arrives later. It
// counts what arrives, which is about one for each statement: the client waits for its response.
type slowLink struct {
	address  string // URL of the database through the link
	delay    time.Duration
	sent     atomic.Int64
	listener net.Listener
}

func newSlowLink(address string, delay time.Duration) (*slowLink, error) {
	database, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := database.Host
	if database.Port() == "" {
		server = net.JoinHostPort(server, "5432")
	}
	database.Host = listener.Addr().String()
	l := &slowLink{address: database.String(), delay: delay, listener: listener}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.forward(client, server)
		}
	}()
	return l, nil
}

func (l *slowLink) forward(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	buffer := make([]byte, 1<<20)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		l.sent.Add(1)
		time.Sleep(l.delay)
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (l *slowLink) close() { _ = l.listener.Close() }
