package graph

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql/handler/transport"

	"portico/internal/incoming"
	"portico/store"
)

const eventsType = "text/event-stream"

// takesEvents tells whether an answer may be a stream of events, and whether
// it must be: some clients send one Accept for whatever they ask.
func takesEvents(r *http.Request) (may, must bool) {
	accepted := strings.Join(r.Header["Accept"], ",")
	may = strings.Contains(accepted, eventsType)
	return may, may && !strings.Contains(accepted, "json") && !strings.Contains(accepted, "*/*")
}

// events answers an operation as a stream of events, by the library's
// transport: what was sent is read and checked by then, so that it finds no
// fault to quote.
func (l *live) events(w http.ResponseWriter, r *http.Request, sent *request) {
	var body bytes.Buffer
	encodeInto(&body, sent)
	line := l.begin(r.Context())
	defer line.close()
	if l.resolver.tokens != nil {
		line.hold(r.Context(), l.resolver.tokens.Hold(r))
	}
	if known := incoming.From(r.Context()); known != nil {
		known.Lasting = true
	}
	out := &eventWriter{ResponseWriter: w, control: http.NewResponseController(w), within: l.Within, line: line}
	defer out.finish()
	out.extend()
	w.Header().Set("X-Accel-Buffering", "no") // which proxies heed
	r = r.WithContext(line.ctx)
	r.Body = io.NopCloser(&body)
	transport.SSE{KeepAlivePingInterval: pingEvery}.Do(out, r, l)
}

// eventWriter sends events. The library's transport pings from a goroutine of
// its own, which may be late: nothing is written after the end.
type eventWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	line    *line

	mu    sync.Mutex
	ended bool
}

// completes begins the event that ends a stream.
var completes = []byte("event: complete")

// Write implements http.ResponseWriter. A client that is gone, or too slow,
// ends the stream.
func (w *eventWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, http.ErrHandlerTimeout
	}
	if reason := why(w.line.ctx); reason != nil && reason.fault == nil && bytes.HasPrefix(p, completes) {
		return len(p), nil // it is cut off in the middle, for its client to come again
	}
	w.extend()
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
}

// extend sets the deadline of what is written next. The stream itself has
// none; who serves it is told so by that.
func (w *eventWriter) extend() {
	var deadline time.Time
	if w.within > 0 {
		deadline = time.Now().Add(w.within)
	}
	_ = w.control.SetWriteDeadline(deadline) // a recorder in tests has none
}

func (w *eventWriter) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// noStream refuses a subscription that comes where there is one answer.
func noStream() *fault {
	return &fault{http.StatusNotAcceptable, "", store.Invalid, "A subscription is a stream: send it with the header Accept: text/event-stream, or over a WebSocket (" + socketProtocol + ")."}
}
