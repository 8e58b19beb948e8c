//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// loadGenerator sends requests to one server, over connections that stay open between slices.
type loadGenerator struct {
	server *process
	order  []int
	status int // of every response
	conns  []*connection
}

// connection is a connection with its copy of the requests.
type connection struct {
	conn      net.Conn
	wires     []wireRequest
	at        int // in the order
	counter   uint32
	buffer    []byte
	latencies []time.Duration
	err       error // of the first unexpected response
}

// newLoad opens the connections of a load generator.
func newLoad(server *process, m mix, connections, status int) (*loadGenerator, error) {
	l := &loadGenerator{server: server, order: m.order, status: status}
	shared := make([]wireRequest, len(m.requests))
	for i, q := range m.requests {
		shared[i] = q.encode(i)
	}
	for i := range connections {
		conn, err := net.Dial("tcp", server.addr)
		if err != nil {
			l.close()
			return nil, err
		}
		lane := &connection{conn: conn, wires: shared, at: i * len(m.order) / connections, counter: uint32(i) << 26, buffer: make([]byte, 128<<10)}
		if slices.ContainsFunc(shared, func(w wireRequest) bool { return w.stamps != nil }) {
			lane.wires = slices.Clone(shared)
			for i := range lane.wires {
				lane.wires[i].bytes = bytes.Clone(shared[i].bytes)
			}
		}
		l.conns = append(l.conns, lane)
	}
	return l, nil
}

func (l *loadGenerator) close() {
	for _, lane := range l.conns {
		lane.conn.Close()
	}
}

// run sends requests for a duration, and waits for the last responses.
func (l *loadGenerator) run(ctx context.Context, d time.Duration) (t loadStats, err error) {
	begin, spent := time.Now(), cpu(l.server.pid())
	var group sync.WaitGroup
	for _, lane := range l.conns {
		group.Go(func() { lane.run(ctx, l, begin.Add(d)) })
	}
	group.Wait()
	t.elapsed, t.cpu = time.Since(begin), cpu(l.server.pid())-spent
	for _, lane := range l.conns {
		err = errors.Join(err, lane.err)
		t.requests += len(lane.latencies)
		t.latencies = append(t.latencies, lane.latencies...)
		lane.latencies = lane.latencies[:0]
	}
	return t, errors.Join(err, ctx.Err())
}

func (l *connection) run(ctx context.Context, load *loadGenerator, until time.Time) {
	for now := time.Now(); now.Before(until) && l.err == nil && ctx.Err() == nil; {
		w := l.wires[load.order[l.at]]
		l.at = (l.at + 1) % len(load.order)
		w.fillStamps(&l.counter)
		status, err := l.exchange(w.bytes)
		if err == nil && status != load.status {
			err = fmt.Errorf("%.80q: status %d, expected %d", w.bytes, status, load.status)
		}
		l.err = err
		then := time.Now()
		l.latencies = append(l.latencies, then.Sub(now))
		now = then
	}
}

var (
	endOfHeader   = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	chunked       = []byte("\r\nTransfer-Encoding: chunked\r\n")
	lastChunk     = []byte("\r\n0\r\n\r\n")
)

// exchange sends a request and reads its response. It parses only the status and the length.
func (l *connection) exchange(request []byte) (status int, err error) {
	if err := l.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, err
	}
	if _, err := l.conn.Write(request); err != nil {
		return 0, err
	}
	n, head := 0, -1
	for head < 0 {
		if n == len(l.buffer) {
			return 0, errors.New("a response header is too long")
		}
		read, err := l.conn.Read(l.buffer[n:])
		if err != nil {
			return 0, fmt.Errorf("read a response header: %w", err)
		}
		n += read
		head = bytes.Index(l.buffer[:n], endOfHeader)
	}
	header, n := l.buffer[:head+2], n-head-len(endOfHeader)
	if status, err = strconv.Atoi(string(header[9:12])); err != nil {
		return 0, fmt.Errorf("not an HTTP response: %.40q", header)
	}
	if at := bytes.Index(header, contentLength); at >= 0 {
		text := header[at+len(contentLength):]
		length, err := strconv.Atoi(string(text[:bytes.IndexByte(text, '\r')]))
		if err != nil {
			return 0, err
		}
		return status, l.skip(length - n)
	}
	if bytes.Contains(header, chunked) {
		return status, l.skipChunks(head+len(endOfHeader), n)
	}
	return status, nil
}

// skip reads and discards bytes of the body.
func (l *connection) skip(left int) error {
	for left > 0 {
		read, err := l.conn.Read(l.buffer[:min(left, len(l.buffer))])
		if err != nil {
			return fmt.Errorf("read a response body: %w", err)
		}
		left -= read
	}
	return nil
}

// skipChunks reads to the end of a chunked body. JSON cannot contain the last chunk.
func (l *connection) skipChunks(from, n int) error {
	tail := append([]byte{}, l.buffer[from:from+n]...)
	for !bytes.HasSuffix(tail, lastChunk) {
		read, err := l.conn.Read(l.buffer)
		if err != nil {
			return fmt.Errorf("read a chunked response body: %w", unexpectedEOF(err))
		}
		tail = append(tail[max(0, len(tail)-len(lastChunk)):], l.buffer[:read]...)
	}
	return nil
}

// unexpectedEOF converts io.EOF to io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
