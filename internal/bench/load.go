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

// loader is one of two sides that are measured in turns.
type loader interface {
	run(ctx context.Context, d time.Duration) (tally, error)
}

// load asks one server, over connections that stay open from slice to slice.
type load struct {
	server *process
	order  []int
	status int // what every answer must have
	lanes  []*lane
}

// lane is a connection and its own copy of the requests.
type lane struct {
	conn    net.Conn
	wires   []wire
	at      int // in the order
	counter uint32
	buffer  []byte
	took    []time.Duration
	wrong   error // an answer that was not as it must be
}

// tally is what came of a time under load.
type tally struct {
	requests int
	elapsed  time.Duration
	cpu      time.Duration // of the server
	took     []time.Duration
}

func (t *tally) add(other tally) {
	t.requests += other.requests
	t.elapsed += other.elapsed
	t.cpu += other.cpu
	t.took = append(t.took, other.took...)
}

// rate is requests a second.
func (t tally) rate() float64 { return float64(t.requests) / t.elapsed.Seconds() }

// cost is the server's CPU per request, in microseconds.
func (t tally) cost() float64 {
	return float64(t.cpu.Nanoseconds()) / 1000 / float64(max(1, t.requests))
}

// p99 is the time within which 99 of 100 requests are answered.
func (t tally) p99() time.Duration {
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[len(t.took)*99/100]
}

// newLoad opens the connections.
func newLoad(server *process, m mix, connections, status int) (*load, error) {
	l := &load{server: server, order: m.order, status: status}
	shared := make([]wire, len(m.requests))
	for i, q := range m.requests {
		shared[i] = q.wire(i)
	}
	for i := range connections {
		conn, err := net.Dial("tcp", server.addr)
		if err != nil {
			l.close()
			return nil, err
		}
		lane := &lane{conn: conn, wires: shared, at: i * len(m.order) / connections, counter: uint32(i) << 26, buffer: make([]byte, 128<<10)}
		if slices.ContainsFunc(shared, func(w wire) bool { return w.stamps != nil }) {
			lane.wires = slices.Clone(shared)
			for i := range lane.wires {
				lane.wires[i].bytes = bytes.Clone(shared[i].bytes)
			}
		}
		l.lanes = append(l.lanes, lane)
	}
	return l, nil
}

func (l *load) close() {
	for _, lane := range l.lanes {
		lane.conn.Close()
	}
}

// run asks for so long, and waits for the answers that are under way.
func (l *load) run(ctx context.Context, d time.Duration) (t tally, err error) {
	begin, spent := time.Now(), cpu(l.server.pid())
	var group sync.WaitGroup
	for _, lane := range l.lanes {
		group.Go(func() { lane.run(ctx, l, begin.Add(d)) })
	}
	group.Wait()
	t.elapsed, t.cpu = time.Since(begin), cpu(l.server.pid())-spent
	for _, lane := range l.lanes {
		err = errors.Join(err, lane.wrong)
		t.requests += len(lane.took)
		t.took = append(t.took, lane.took...)
		lane.took = lane.took[:0]
	}
	return t, errors.Join(err, ctx.Err())
}

func (l *lane) run(ctx context.Context, load *load, until time.Time) {
	for now := time.Now(); now.Before(until) && l.wrong == nil && ctx.Err() == nil; {
		w := l.wires[load.order[l.at]]
		l.at = (l.at + 1) % len(load.order)
		w.number(&l.counter)
		status, err := l.exchange(w.bytes)
		if err == nil && status != load.status {
			err = fmt.Errorf("%.80q was answered %d, not %d", w.bytes, status, load.status)
		}
		l.wrong = err
		then := time.Now()
		l.took = append(l.took, then.Sub(now))
		now = then
	}
}

var (
	headEnd  = []byte("\r\n\r\n")
	lengthIs = []byte("\r\nContent-Length: ")
	chunked  = []byte("\r\nTransfer-Encoding: chunked\r\n")
	lastPart = []byte("\r\n0\r\n\r\n")
)

// exchange sends a request and reads its answer, of which it looks at no more
// than it must.
func (l *lane) exchange(request []byte) (status int, err error) {
	if err := l.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, err
	}
	if _, err := l.conn.Write(request); err != nil {
		return 0, err
	}
	n, head := 0, -1
	for head < 0 {
		if n == len(l.buffer) {
			return 0, errors.New("the head of an answer does not end")
		}
		read, err := l.conn.Read(l.buffer[n:])
		if err != nil {
			return 0, fmt.Errorf("read the head of an answer: %w", err)
		}
		n += read
		head = bytes.Index(l.buffer[:n], headEnd)
	}
	header, n := l.buffer[:head+2], n-head-len(headEnd)
	if status, err = strconv.Atoi(string(header[9:12])); err != nil {
		return 0, fmt.Errorf("no HTTP: %.40q", header)
	}
	if at := bytes.Index(header, lengthIs); at >= 0 {
		text := header[at+len(lengthIs):]
		length, err := strconv.Atoi(string(text[:bytes.IndexByte(text, '\r')]))
		if err != nil {
			return 0, err
		}
		return status, l.skip(length - n)
	}
	if bytes.Contains(header, chunked) {
		return status, l.skipParts(head+len(headEnd), n)
	}
	return status, nil
}

// skip reads so many bytes more.
func (l *lane) skip(left int) error {
	for left > 0 {
		read, err := l.conn.Read(l.buffer[:min(left, len(l.buffer))])
		if err != nil {
			return fmt.Errorf("read an answer: %w", err)
		}
		left -= read
	}
	return nil
}

// skipParts reads to the end of an answer in parts. No JSON holds what ends it.
func (l *lane) skipParts(from, n int) error {
	tail := append([]byte{}, l.buffer[from:from+n]...)
	for !bytes.HasSuffix(tail, lastPart) {
		read, err := l.conn.Read(l.buffer)
		if err != nil {
			return fmt.Errorf("read an answer in parts: %w", noEnd(err))
		}
		tail = append(tail[max(0, len(tail)-len(lastPart)):], l.buffer[:read]...)
	}
	return nil
}

// noEnd is an error that is not the good end of a file.
func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
