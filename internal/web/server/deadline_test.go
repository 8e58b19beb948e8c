package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/web/server"
)

// ever is longer than any test.
const ever = time.Hour

func dial(t *testing.T, s *running, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	return conn
}

const ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// large exceeds the buffers of a connection.
var large = make([]byte, 32<<20)

// TestSlowReadersAreDisconnected requires that the memory of their responses is released.
func TestSlowReadersAreDisconnected(t *testing.T) {
	t.Parallel()
	const readers = 10
	ended := make(chan error, readers)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(large[:8<<20])
		ended <- err
	}), server.WithLimits(server.Limits{ResponseTime: time.Nanosecond})) // plus one second per 32 KiB
	for range readers {
		dial(t, s, ask)
	}
	status, body, err := get(t, s.url) // reads fast
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Len(t, body, 8<<20)
	require.NoError(t, <-ended)

	small := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 1 << 10 { // one response of many writes
			if _, err := w.Write(large[:1<<14]); err != nil {
				ended <- err
				return
			}
		}
	}), server.WithLimits(server.Limits{ResponseTime: -ever})) // already exceeded
	for range readers {
		dial(t, small, ask)
	}
	for range readers {
		require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
	}
}

// TestPendingResponsesAreBounded tests the limit of memory for responses that wait for their
// readers.
func TestPendingResponsesAreBounded(t *testing.T) {
	t.Parallel()
	const readers = 6
	var held, cut atomic.Int64
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		held.Add(1)
		defer held.Add(-1)
		if _, err := w.Write(large); err != nil {
			cut.Add(1)
		}
	}), server.WithLimits(server.Limits{ResponseTime: ever, ResponseMemory: 100})) // memory for three
	for range readers {
		dial(t, s, ask)
	}
	require.Eventually(t, func() bool { return held.Load() == 3 && cut.Load() == readers-3 }, time.Minute, 10*time.Millisecond)
}

// TestRequestContextEnds requires that the context ends after its time or with its client, also
// after the body was read.
func TestRequestContextEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		bounds  server.Limits
		request string
		leaves  bool
	}{
		{"after its time", server.Limits{RequestTime: 10 * time.Millisecond, BodyTime: ever}, ask, false},
		{"after its time, with a body", server.Limits{RequestTime: 10 * time.Millisecond, BodyTime: ever},
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", false},
		{"with its client", server.Limits{RequestTime: ever, BodyTime: ever, ResponseTime: ever}, ask, true},
		{"with its client, with a body", server.Limits{RequestTime: ever, BodyTime: ever, ResponseTime: ever},
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			entered, ended := make(chan struct{}), make(chan error)
			s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				close(entered)
				<-r.Context().Done()
				ended <- r.Context().Err()
			}), server.WithLimits(test.bounds))
			conn := dial(t, s, test.request)
			<-entered
			if test.leaves {
				conn.Close()
			}
			require.ErrorIs(t, <-ended, context.Canceled)
		})
	}
}

// TestBodyDeadlineEndsWithBody requires that a handler can run longer than the time limit of the
// body.
func TestBodyDeadlineEndsWithBody(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		select {
		case <-r.Context().Done():
			t.Error("the work was ended")
		case <-time.After(300 * time.Millisecond):
		}
		_, _ = io.WriteString(w, "done")
	}), server.WithLimits(server.Limits{BodyTime: 100 * time.Millisecond}))
	response, err := http.Post(s.url, "text/plain", strings.NewReader("quick"))
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, "done", string(body))
}

// TestHandlerCanRemoveDeadlines requires that a streaming handler has no time limits.
func TestHandlerCanRemoveDeadlines(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		require.NoError(t, control.SetWriteDeadline(time.Time{}))
		select {
		case <-r.Context().Done():
			t.Error("the work was ended")
		case <-time.After(200 * time.Millisecond):
		}
		for range 3 {
			_, err := io.WriteString(w, "event\n")
			require.NoError(t, err)
			require.NoError(t, control.Flush())
		}
	}), server.WithLimits(server.Limits{RequestTime: 50 * time.Millisecond, ResponseTime: time.Nanosecond}))
	_, body, err := get(t, s.url)
	require.NoError(t, err)
	require.Equal(t, "event\nevent\nevent\n", body)
}

// TestDeadlinesArePerRequest requires that an exceeded deadline does not affect the next request of
// the connection.
func TestDeadlinesArePerRequest(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }),
		server.WithLimits(server.Limits{HeaderTime: ever, BodyTime: 200 * time.Millisecond, ResponseTime: 200 * time.Millisecond,
			RequestTime: ever, IdleTime: ever}))
	for range 2 {
		response, err := http.Post(s.url, "text/plain", strings.NewReader("echo"))
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "echo", string(body))
		time.Sleep(300 * time.Millisecond) // the connection stays open
	}
}
