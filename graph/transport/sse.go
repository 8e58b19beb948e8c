package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/executor"
	"portico/internal/auth"
)

// events serves an operation as server-sent events, by the library's transport. The request was parsed
// before: the transport gets an empty one in its place.
func (s *streamServer) events(w http.ResponseWriter, req *executor.Request) {
	r := req.HTTP
	conn := s.open(r.Context(), req.Known)
	defer conn.close()
	var token *auth.TokenWatch
	if s.resolver.Tokens != nil {
		token = s.resolver.Tokens.Watch(r)
	}
	conn.setToken(r.Context(), token)
	out := &eventWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.WriteTimeout, conn: conn}
	defer out.finish()
	out.setDeadline(0)
	w.Header().Set("X-Accel-Buffering", "no") // proxies do not buffer then
	r = r.WithContext(conn.ctx)
	r.Body = io.NopCloser(strings.NewReader("{}"))
	transport.SSE{KeepAlivePingInterval: s.PingInterval}.Do(out, r, eventsExecutor{s, out, req})
}

// eventsExecutor is the streamServer of one stream of events. Errors of HTTP (Response.Plain), such as 405 and 429, change the
// status of the response, before the stream begins.
type eventsExecutor struct {
	*streamServer
	out *eventWriter
	req *executor.Request
}

// CreateOperationContext implements graphql.GraphExecutor.
func (e eventsExecutor) CreateOperationContext(ctx context.Context, _ *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	opCtx, errs := e.createOperation(ctx, e.req)
	if resp := responseOf(opCtx); resp.Plain {
		e.out.reject(resp)
	}
	return opCtx, errs
}

// eventWriter writes events. The library's transport pings from another goroutine, which may do so after
// the end: the writer ignores that.
type eventWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // of a write; 0 for none
	conn    *connection

	mu    sync.Mutex
	ended bool // writes are dropped
}

// reject writes an error in place of the stream, and drops what the library's transport writes after it.
func (w *eventWriter) reject(resp *executor.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	writeResult(w.ResponseWriter, resp)
}

// completeEvent is the start of the event that ends a stream.
var completeEvent = []byte("event: complete")

// Write implements http.ResponseWriter. It ends the stream if the client is gone or too slow.
func (w *eventWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, http.ErrHandlerTimeout
	}
	if reason := closeReasonOf(w.conn.ctx); reason != nil && reason.err == nil && bytes.HasPrefix(p, completeEvent) {
		return len(p), nil // no error to tell: the stream is cut without its end, so that the client reconnects
	}
	w.setDeadline(w.timeout)
	n, err := w.ResponseWriter.Write(p)
	if err != nil {
		w.conn.end(err)
	}
	return n, err
}

// Flush implements http.Flusher.
func (w *eventWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if err := w.control.Flush(); err != nil {
		w.conn.end(err)
	}
	w.setDeadline(0) // over HTTP/2 a deadline ends the stream even if nothing is written
}

// setDeadline sets the deadline of the next write, or removes it if timeout is 0. Without one the server
// does not limit the time of the stream.
func (w *eventWriter) setDeadline(timeout time.Duration) {
	var deadline time.Time
	if timeout > 0 {
		deadline = time.Now().Add(timeout)
	}
	_ = w.control.SetWriteDeadline(deadline) // a recorder in tests has none
}

// finish drops what the library's transport writes from now on: the handler returns.
func (w *eventWriter) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}
