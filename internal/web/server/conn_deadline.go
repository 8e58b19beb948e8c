package server

import (
	"context"
	"os"
	"sync"
	"time"
)

// connDeadlines are the deadlines of a connection. net/http sets eight for each request and replaces most of them long before
// their time, and setting one on a socket costs as much as a timer. So a deadline that is not near is only kept here. A sweep sets it
// on the socket when it comes near, so that it is as exact as any other.
// Without this, a repeated request takes 1.05 to 1.09 times the CPU (2026-11-23).
type connDeadlines struct {
	mu          sync.Mutex
	read, write connDeadline
	reads       int  // calls of Read under way
	expired     bool // the read deadline is over, but not set on the socket, because nothing is reading
}

const (
	// sweepInterval is how often the deadlines of all connections are swept.
	sweepInterval = time.Second

	// sweepAhead is how long before their time deadlines are set on the socket.
	sweepAhead = 3 * sweepInterval
)

// connDeadline is the deadline of reads, or of writes.
type connDeadline struct {
	due      time.Time // zero for none
	onSocket bool      // the socket has it
}

// change replaces a deadline. It returns what to set on the socket: a deadline before near, or none in place of the former one. ok is
// false if the socket stays as it is.
func (d *connDeadline) change(due, near time.Time) (socket time.Time, ok bool) {
	had := d.onSocket // the former deadline
	d.due, d.onSocket = due, !due.IsZero() && due.Before(near)
	if d.onSocket {
		return due, true
	}
	return time.Time{}, had
}

// comesNear reports whether the socket must get the deadline now, and records that it has it.
func (d *connDeadline) comesNear(near time.Time) bool {
	if d.onSocket || d.due.IsZero() || !d.due.Before(near) {
		return false
	}
	d.onSocket = true
	return true
}

// SetDeadline implements net.Conn. On a reserve connection it never exceeds the end of its life.
func (c *limitedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. A deadline in the past that nothing waits for is not set on the socket: beginRead checks
// it. net/http sets one to end its background read.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	t = c.clampDeadline(t)
	d := &c.deadlines
	d.mu.Lock()
	defer d.mu.Unlock()
	swept := c.listener.lastSweep()
	d.expired = d.reads == 0 && !t.IsZero() && t.Before(swept)
	if d.expired {
		return nil
	}
	if due, ok := d.read.change(t, c.nearTime(swept)); ok {
		return c.Conn.SetReadDeadline(due)
	}
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	t = c.clampDeadline(t)
	d := &c.deadlines
	d.mu.Lock()
	defer d.mu.Unlock()
	if due, ok := d.write.change(t, c.nearTime(c.listener.lastSweep())); ok {
		return c.Conn.SetWriteDeadline(due)
	}
	return nil
}

// nearTime returns the time before which a deadline is set on the socket at once. Reserve connections are not swept, so that all
// their deadlines are: none is later than the end of their life.
func (c *limitedConn) nearTime(swept time.Time) time.Time {
	if !c.deadline.IsZero() {
		return c.deadline.Add(1)
	}
	return swept.Add(sweepAhead)
}

// clampDeadline returns a deadline within the life of a reserve connection.
func (c *limitedConn) clampDeadline(t time.Time) time.Time {
	if !c.deadline.IsZero() && (t.IsZero() || t.After(c.deadline)) {
		return c.deadline
	}
	return t
}

// Read implements net.Conn.
func (c *limitedConn) Read(p []byte) (int, error) {
	if !c.deadlines.beginRead() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Read(p)
	c.deadlines.endRead()
	return n, err
}

// beginRead returns false if the read deadline is over.
func (d *connDeadlines) beginRead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.expired {
		return false
	}
	d.reads++
	return true
}

// endRead ends what beginRead began.
func (d *connDeadlines) endRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads--
}

// sweepDeadlines sweeps until ctx ends.
func (l *limitListener) sweepDeadlines(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.sweep(time.Now())
		}
	}
}

// sweep sets the deadlines that are near at a time on their sockets.
func (l *limitListener) sweep(now time.Time) {
	l.swept.Store(int64(now.Sub(l.begun))) // before it looks at a connection: deadlines set after that are compared with it
	near := now.Add(sweepAhead)
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.setNearDeadlines(near)
	}
}

// lastSweep returns the time of the last sweep.
func (l *limitListener) lastSweep() time.Time { return l.begun.Add(time.Duration(l.swept.Load())) }

// setNearDeadlines sets the deadlines before near on the socket. If that fails, the connection is closed already.
func (c *limitedConn) setNearDeadlines(near time.Time) {
	d := &c.deadlines
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read.comesNear(near) {
		_ = c.Conn.SetReadDeadline(d.read.due)
	}
	if d.write.comesNear(near) {
		_ = c.Conn.SetWriteDeadline(d.write.due)
	}
}
