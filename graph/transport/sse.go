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
	"portico/internal/reqctx"
	"portico/store"
)

const eventsType = "text/event-stream"

// acceptsEvents tells whether an answer may be a stream of events, and whether
// it must be: some clients send one Accept for whatever they ask.
func acceptsEvents(r *http.Request) (may, must bool) {
	accepted := strings.Join(r.Header["Accept"], ",")
	may = strings.Contains(accepted, eventsType)
	return may, may && !strings.Contains(accepted, "json") && !strings.Contains(accepted, "*/*")
}

// events answers an operation as a stream of events, by the library's
// transport: what was sent is read and checked by then, so that it finds no
// fault to quote.
func (l *streamServer) events(w http.ResponseWriter, r *http.Request, sent *clientRequest) {
	var body bytes.Buffer
	appendJSON(&body, sent)
	line := l.open(r.Context())
	defer line.close()
	line.readOnly = r.Method != http.MethodPost
	var held *auth.TokenWatch
	if l.resolver.Tokens != nil {
		held = l.resolver.Tokens.Watch(r)
	}
	line.setToken(r.Context(), held)
	if known := reqctx.From(r.Context()); known != nil {
		known.Streaming = true
	}
	out := &eventWriter{ResponseWriter: w, control: http.NewResponseController(w), within: l.Within, line: line}
	defer out.finish()
	out.limit(0)
	w.Header().Set("X-Accel-Buffering", "no") // which proxies heed
	r = r.WithContext(line.ctx)
	r.Body = io.NopCloser(&body)
	transport.SSE{KeepAlivePingInterval: l.Ping}.Do(out, r, eventsExecutor{l, out})
}

// eventsExecutor is live for one stream of events. What is no fault of a
// document is refused by its status, before the stream begins.
type eventsExecutor struct {
	*streamServer
	out *eventWriter
}

// CreateOperationContext implements graphql.GraphExecutor.
func (e eventsExecutor) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	operation, faults := e.streamServer.CreateOperationContext(ctx, params)
	if asked, is := operation.Stats.GetExtension(streamOperationKey).(*streamOperation); is {
		executor.NameOperation(ctx, asked.Operation)
	}
	switch {
	case faults == nil:
	case faults[0].Message == mutationByGet().message:
		e.out.refuse(mutationByGet())
	case faults[0].Extensions["code"] == store.RateLimited:
		e.out.Header().Set("Retry-After", "1")
		e.out.refuse(&httpError{http.StatusTooManyRequests, "", store.RateLimited, faults[0].Message})
	}
	return operation, faults
}

// refuse answers in place of the stream.
func (w *eventWriter) refuse(f *httpError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	f.write(w.ResponseWriter)
}

// eventWriter sends events. The library's transport pings from a goroutine of
// its own, which may be late: nothing is written after the end.
type eventWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	line    *connection

	mu    sync.Mutex
	ended bool
}

// completeEvent begins the event that ends a stream.
var completeEvent = []byte("event: complete")

// Write implements http.ResponseWriter. A client that is gone, or too slow,
// ends the stream.
func (w *eventWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, http.ErrHandlerTimeout
	}
	if reason := closeReasonOf(w.line.ctx); reason != nil && reason.err == nil && bytes.HasPrefix(p, completeEvent) {
		return len(p), nil // it is cut off in the middle, for its client to come again
	}
	w.limit(w.within)
	n, err := w.ResponseWriter.Write(p)
	if err != nil {
		w.line.end(err)
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
		w.line.end(err)
	}
	w.limit(0) // until the next event; over HTTP/2 a deadline ends the stream whether anything is written or not
}

// limit sets the deadline of what is written next; 0 is none. The stream itself
// has none; who serves it is told so by that.
func (w *eventWriter) limit(within time.Duration) {
	var deadline time.Time
	if within > 0 {
		deadline = time.Now().Add(within)
	}
	_ = w.control.SetWriteDeadline(deadline) // a recorder in tests has none
}

func (w *eventWriter) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// mutationByGet refuses a mutation that comes by GET.
func mutationByGet() *httpError {
	return &httpError{http.StatusMethodNotAllowed, http.MethodPost, store.Invalid, "A mutation must be sent by POST; GET only reads."}
}

// streamRequired refuses a subscription that comes where there is one answer.
func streamRequired() *httpError {
	return &httpError{http.StatusNotAcceptable, "", store.Invalid, "A subscription is a stream: send it with the header Accept: text/event-stream, or over a WebSocket (" + socketProtocol + ")."}
}
