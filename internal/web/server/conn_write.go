package server

import (
	"net"
	"net/http"
	"sync"
)

// heldWrite is a write that waits for the next one. A sync.Pool keeps it, with all that joining the two needs. net/http makes
// two system calls for a response above 4 KiB. Without joining them and the sweep in conn_deadline.go, a cached page takes 1.2 to 1.3
// times the CPU (2026-11-23).
type heldWrite struct {
	bytes   []byte      // of the first write
	parts   [2][]byte   // both writes
	buffers net.Buffers // of parts, which WriteTo consumes
}

// maxHeldBytes is the size up to which a write is held. net/http writes the header with the begin of the body in 4 KiB.
const maxHeldBytes = 4 << 10

var heldWrites = sync.Pool{New: func() any { return &heldWrite{bytes: make([]byte, 0, maxHeldBytes)} }}

// JoinedWrite is the time during which the first write of a connection is joined with the second one. Its zero value does nothing.
type JoinedWrite struct{ conn *limitedConn }

// JoinWrites begins to join the first write of a response with the second one, in one system call. The caller calls End before the
// handler ends. It does nothing for TLS and HTTP/2, which write in records and frames.
func JoinWrites(r *http.Request) JoinedWrite {
	if r.TLS != nil || r.ProtoMajor != 1 {
		return JoinedWrite{}
	}
	c, _ := r.Context().Value(connKey{}).(*limitedConn)
	if c != nil {
		c.held = heldWrites.Get().(*heldWrite)
	}
	return JoinedWrite{c}
}

// End writes what was not joined. If that fails, it closes the connection, whose response is incomplete.
func (j JoinedWrite) End() {
	if j.conn == nil {
		return
	}
	held := j.conn.held
	j.conn.held = nil
	if held == nil { // Write has joined
		return
	}
	if len(held.bytes) > 0 {
		if _, err := j.conn.Conn.Write(held.bytes); err != nil {
			_ = j.conn.Close()
		}
	}
	held.release()
}

// release makes the buffer available to others.
func (h *heldWrite) release() {
	h.bytes, h.parts, h.buffers = h.bytes[:0], [2][]byte{}, nil
	heldWrites.Put(h)
}

// Write implements net.Conn. Within JoinWrites it holds the first write, unless it is long, and sends it with the second. The
// result counts the bytes of p only.
func (c *limitedConn) Write(p []byte) (int, error) {
	held := c.held
	switch {
	case held == nil:
		return c.Conn.Write(p)
	case len(held.bytes) == 0 && len(p) <= maxHeldBytes:
		held.bytes = append(held.bytes, p...)
		return len(p), nil
	}
	c.held = nil
	defer held.release()
	before := int64(len(held.bytes))
	held.parts = [2][]byte{held.bytes, p}
	held.buffers = held.parts[:]
	n, err := held.buffers.WriteTo(c.Conn)
	return int(max(0, n-before)), err
}
