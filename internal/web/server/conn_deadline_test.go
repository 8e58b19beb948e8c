package server

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recordingConn records what is set and written, and reads until it is closed.
type recordingConn struct {
	net.Conn
	reads, writes []time.Time
	written       []string
	reading       chan struct{}
	err           error // of writes
	closed        bool
}

func (c *recordingConn) SetReadDeadline(t time.Time) error {
	c.reads = append(c.reads, t)
	return nil
}

func (c *recordingConn) SetWriteDeadline(t time.Time) error {
	c.writes = append(c.writes, t)
	return nil
}

func (c *recordingConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *recordingConn) Read([]byte) (int, error) {
	<-c.reading
	return 0, io.EOF
}

func (c *recordingConn) Write(p []byte) (int, error) {
	c.written = append(c.written, string(p))
	return len(p), c.err
}

func (c *recordingConn) Close() error {
	c.closed = true
	return nil
}

func (*recordingConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// newRecordingConn returns a connection that a listener has admitted.
func newRecordingConn(t *testing.T) (*limitListener, *limitedConn, *recordingConn) {
	t.Helper()
	l := newLimitListener(nil, 1, 1, nil)
	inner := &recordingConn{reading: make(chan struct{})}
	c, _ := l.admit(inner)
	require.NotNil(t, c)
	return l, c, inner
}

// TestDeadlinesAreSetWhenNear requires that a deadline reaches the socket exactly once, before it is over.
func TestDeadlinesAreSetWhenNear(t *testing.T) {
	t.Parallel()
	l, c, inner := newRecordingConn(t)
	begun := l.begun
	far := begun.Add(10 * time.Second)
	for range 100 { // as for requests that end in time
		require.NoError(t, c.SetReadDeadline(far))
		require.NoError(t, c.SetWriteDeadline(far))
		require.NoError(t, c.SetReadDeadline(time.Time{}))
		require.NoError(t, c.SetWriteDeadline(time.Time{}))
	}
	require.NoError(t, c.SetDeadline(far))
	require.Empty(t, inner.reads)
	require.Empty(t, inner.writes)
	for second := range 10 {
		l.sweep(begun.Add(time.Duration(second) * time.Second))
		if second <= 7 {
			require.Empty(t, inner.reads)
			continue
		}
		require.Equal(t, []time.Time{far}, inner.reads)
		require.Equal(t, []time.Time{far}, inner.writes)
	}

	later := begun.Add(time.Minute) // in place of those that are set
	require.NoError(t, c.SetDeadline(later))
	require.Equal(t, []time.Time{far, {}}, inner.reads)
	require.Equal(t, []time.Time{far, {}}, inner.writes)
	near := begun.Add(11 * time.Second)
	require.NoError(t, c.SetReadDeadline(near))
	require.Equal(t, []time.Time{far, {}, near}, inner.reads)

	require.NoError(t, c.SetWriteDeadline(time.Unix(1, 0))) // over: at once
	require.Equal(t, []time.Time{far, {}, time.Unix(1, 0)}, inner.writes)

	require.NoError(t, c.Close())
	require.Empty(t, l.open)
}

// TestOverdueReadDeadlines requires that a deadline in the past ends a read that waits, and all that begin before the next deadline.
func TestOverdueReadDeadlines(t *testing.T) {
	t.Parallel()
	_, c, inner := newRecordingConn(t)
	past := time.Unix(1, 0)
	require.NoError(t, c.SetReadDeadline(past))
	require.Empty(t, inner.reads, "nothing reads")
	for range 2 {
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
	}
	require.NoError(t, c.SetReadDeadline(time.Time{}))
	ended := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	inner.reading <- struct{}{}
	require.ErrorIs(t, <-ended, io.EOF)

	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	for reads := 0; reads == 0; {
		c.deadlines.mu.Lock()
		reads = c.deadlines.reads
		c.deadlines.mu.Unlock()
	}
	require.NoError(t, c.SetReadDeadline(past))
	require.Equal(t, []time.Time{past}, inner.reads, "the socket ends the read")
	close(inner.reading)
	<-ended
}

// TestReserveConnectionsEndInTime requires that deadlines of a reserve connection are set at once.
func TestReserveConnectionsEndInTime(t *testing.T) {
	t.Parallel()
	l, _, _ := newRecordingConn(t)
	inner := &recordingConn{}
	c, _ := l.admit(inner)
	require.False(t, c.deadline.IsZero())
	soon := c.deadline.Add(-time.Second)
	require.NoError(t, c.SetReadDeadline(soon))
	require.NoError(t, c.SetReadDeadline(time.Time{}))
	require.Equal(t, []time.Time{c.deadline, soon, c.deadline}, inner.reads)
}
